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

/** Receiver of clients' reports of freed buffers: prism::Reclaimer without its queue, an ibv_srq. */
class Inbox
{
public:
	explicit Inbox(test::Node &node);
	~Inbox();
	Inbox(const Inbox &) = delete;
	Inbox &operator=(const Inbox &) = delete;

	/** Receives the SENDs to @p endpoint. */
	void serve(test::Endpoint &endpoint) noexcept;

	/**
	 * Hands some of the messages that have arrived to @p judge, null for one that is no report. Returns how many.
	 */
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
