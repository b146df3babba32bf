/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <prism/reclaim.hpp>

#include "pair.hpp"

namespace simulation
{

/** Where clients' reports of freed buffers arrive: prism::Reclaimer, whose queue is an ibv_srq, without that. */
class Inbox
{
public:
	explicit Inbox(test::Node &node);
	~Inbox();
	Inbox(const Inbox &) = delete;
	Inbox &operator=(const Inbox &) = delete;

	/** SENDs to @p endpoint come here. */
	void serve(test::Endpoint &endpoint) noexcept;

	/** Hands a few messages that have arrived to @p judge: null for one that is no report. How many there were. */
	std::size_t take(const std::function<void(const prism::FreeReport *)> &judge);
	[[nodiscard]] bool empty() const noexcept { return arrived_.empty(); }

private:
	void post_slot(std::uint64_t slot);

	test::Node &node_;
	std::vector<prism::FreeReport::Bytes> slots_;
	std::uint32_t key_;
	soft::SharedReceiveQueue queue_;
	soft::CompletionQueue arrived_;
};

} // namespace simulation
