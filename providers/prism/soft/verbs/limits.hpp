/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Limits that ibv_query_device announces of a context, and that the create calls enforce. */
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace prism::soft
{

namespace limits
{
constexpr unsigned qpn_bits = 14; /* below the slot */
/** Excludes the lowest numbers, and the highest, which in the last slot means a group. */
constexpr std::uint32_t max_qp = (1 << qpn_bits) - 17;
constexpr std::uint32_t max_qp_wr = 1 << 16;
constexpr std::uint32_t max_sge = 32;
constexpr std::uint32_t max_inline_data = 1024;
constexpr std::uint32_t max_cq = 1 << 16;
constexpr std::uint32_t max_cqe = 1 << 20;
constexpr std::uint32_t max_pd = 1 << 16;
constexpr std::uint32_t max_ah = 1 << 16;
constexpr std::uint32_t max_mr = 1 << 18;
constexpr std::uint32_t max_mw = 1 << 18;
constexpr std::uint32_t max_srq = 1 << 16;
constexpr std::uint32_t max_srq_wr = 1 << 24;
/** Device memory is ordinary memory here, but limited like the scarce kind. */
constexpr std::size_t max_dm_size = 64 << 20;
} // namespace limits

class Quota;

struct GiveBack {
	inline void operator()(Quota *quota) const;
};

/** Place in a quota, held by an object. */
using Place = std::unique_ptr<Quota, GiveBack>;

/** Number of objects of one kind that a context may have. */
class Quota
{
public:
	explicit Quota(std::uint32_t max) : max_(max) {}

	/** Takes a place; empty if all are taken. */
	Place take()
	{
		Place place(this);
		return used_++ < max_ ? std::move(place) : Place();
	}

private:
	friend struct GiveBack;

	std::atomic<std::uint32_t> used_{0};
	const std::uint32_t max_;
};

inline void GiveBack::operator()(Quota *quota) const
{
	quota->used_--;
}

struct Quotas {
	Quota pds{limits::max_pd};
	Quota ahs{limits::max_ah};
	Quota mrs{limits::max_mr};
	Quota mws{limits::max_mw};
	Quota cqs{limits::max_cq};
	Quota srqs{limits::max_srq};
	Quota qps{limits::max_qp}; /* each lane has numbers for as many */
};

} // namespace prism::soft
