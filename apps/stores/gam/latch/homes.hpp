/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The one-sided side of a node: the memory of homes, its own among them, which it reaches by chains alone. */
#pragma once

#include <prism/chain.hpp>

#include <cstdint>

#include "gam/latch/layout.hpp"

namespace prism::gam::latch
{

/** The memory of a home, as it has described it. */
struct HomeMemory {
	RemoteRegion region;
	Layout layout;
	std::uint32_t free_list = 0;

	[[nodiscard]] RemoteAddress entry(std::uint64_t block) const noexcept { return region.at(layout.entry(block)); }
	[[nodiscard]] RemoteAddress scratch(NodeId node) const noexcept { return region.at(layout.scratch(node)); }
	/** Whether @p address is one of a buffer. */
	[[nodiscard]] bool has_buffer(std::uint64_t address) const noexcept
	{
		const std::uint64_t first = region.address + layout.buffers();
		return address >= first && (address - first) % block_size == 0 &&
		       (address - first) / block_size < layout.buffer_count();
	}
};

/** How a chain has ended: Completion says the same of its last request. */
struct Outcome {
	bool failed = false;      /**< an error: nothing is known of what was executed */
	bool refused = false;     /**< failed, and the home's device says that it is for what this chain has asked */
	std::uint32_t status = 0; /**< enum prismdv_status */
	std::uint32_t bytes = 0;  /**< that a READ has brought */
};

/**
 * A node has one queue pair to each home, itself included: chains of one home are executed in their order. Latch calls
 * it from inside of its own methods; the completion of each chain that was posted comes by Latch::completed(), later.
 */
class Homes
{
public:
	virtual ~Homes() = default;
	/** Null: it is not there. Stays while something is under way to it. */
	[[nodiscard]] virtual const HomeMemory *find(NodeId home) const noexcept = 0;
	/**
	 * Posts @p chain with one doorbell. 0, EAGAIN (too much is under way, or the queue pair has ended, and there
	 * will be another unless the home is lost; try later), or another errno: it is gone.
	 */
	virtual int post(NodeId home, const Chain &chain, std::uint64_t token) noexcept = 0;
	/** The buffer at @p address is not reachable any more. Reported to the home, in batches (prism/reclaim.hpp). */
	virtual void give_back(NodeId home, std::uint64_t address) noexcept = 0;
};

} // namespace prism::gam::latch
