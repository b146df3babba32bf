/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Interface of <infiniband/prismdv.h> to a kind of device; prismdv.cpp finds the kind that a call is about. */
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <infiniband/verbs.h>

#include "../prismdv.h"

namespace prism
{

/** Makes a counter; cuts a name that is too long. */
inline prismdv_counter make_counter(std::string_view name, std::uint64_t value)
{
	prismdv_counter counter{};
	name.copy(counter.name, sizeof(counter.name) - 1);
	counter.value = value;
	return counter;
}

/**
 * Direct verbs of one kind of device. Arguments have been checked as far as that needs no device. Results are those of
 * the prismdv_ functions, and objects are of this kind of device.
 */
class DirectVerbs
{
public:
	/** Returns true if @p device is of this kind. */
	virtual bool owns(const ibv_device *device) const = 0;
	virtual ibv_context *open(ibv_device *device, const prismdv_context_attr &attr) const = 0;
	virtual int progress(ibv_context *context) const = 0;
	/** Fills in @p attr, which is zeroed, except for the features that every device has. */
	virtual void query_device(ibv_context *context, prismdv_device_attr &attr) const = 0;
	virtual int query_gid(ibv_context *context, std::uint8_t port, int index, ibv_gid *gid) const = 0;
	virtual ibv_comp_channel *create_comp_channel(ibv_context *context) const = 0;
	[[nodiscard]] virtual std::vector<prismdv_counter> counters(ibv_context *context) const = 0;

	virtual ibv_qp *create_qp(ibv_context *context, ibv_qp_init_attr_ex *attr) const = 0;
	/** Returns true if @p qp came from create_qp(). */
	virtual bool speaks_prism(ibv_qp *qp) const = 0;
	/** Sets the peer's features, as in capability.hpp; @p qp speaks PRISM. */
	virtual void set_peer_features(ibv_qp *qp, std::uint64_t features) const = 0;
	/** Returns nullptr for a queue pair without PRISM or without builders. */
	virtual prismdv_qp_ex *builders(ibv_qp_ex *qp) const = 0;

	virtual ibv_srq *create_srq(ibv_context *context, ibv_srq_init_attr_ex *attr, bool free_list) const = 0;
	virtual bool is_free_list(ibv_srq *srq) const = 0;
	/** Fills in @p attr, which is zeroed; @p srq is a free list. */
	virtual void query_free_list(ibv_srq *srq, prismdv_free_list_attr &attr) const = 0;
	virtual std::size_t poll_rejected(ibv_srq *srq, prismdv_rejected_entry *entries, std::size_t max) const = 0;

protected:
	~DirectVerbs() = default;
};

} // namespace prism
