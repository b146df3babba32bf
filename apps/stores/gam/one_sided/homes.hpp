/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The one-sided side of a node: the memory of all homes, its own included, which it reaches by chains alone. */
#pragma once

#include <prism/chain.hpp>

#include <cstdint>

#include "gam/one_sided/layout.hpp"

namespace prism::gam::latch
{

/** The memory of a home, as described by that home. */
struct HomeMemory {
	RemoteRegion region;
	Layout layout;
	std::uint32_t free_list = 0;

	[[nodiscard]] RemoteAddress entry(std::uint64_t block) const noexcept { return region.at(layout.entry(block)); }
	[[nodiscard]] RemoteAddress scratch(NodeId node) const noexcept { return region.at(layout.scratch(node)); }
	/** Returns true if @p address is that of a buffer. */
	[[nodiscard]] bool has_buffer(std::uint64_t address) const noexcept
	{
		const std::uint64_t first = region.address + layout.buffers();
		return address >= first && (address - first) % block_size == 0 &&
		       (address - first) / block_size < layout.buffer_count();
	}
};

/** The result of a chain, from the Completion of its last request. */
struct Outcome {
	bool failed = false;      /**< an error: it is unknown which requests were executed */
	bool refused = false;     /**< failed, and the home's device blames the requests of this chain */
	std::uint32_t status = 0; /**< enum prismdv_status */
	std::uint32_t bytes = 0;  /**< bytes that a READ has returned */
};

/**
 * The queue pairs of a node: one to each home, itself included, so the chains to one home are executed in order. Latch
 * calls these methods from inside its own; the completion of each posted chain comes later, by Latch::completed().
 */
class Homes
{
public:
	virtual ~Homes() = default;
	/** Returns the memory of @p home, or null if that is not there. Valid while a chain to it is under way. */
	[[nodiscard]] virtual const HomeMemory *find(NodeId home) const noexcept = 0;
	/**
	 * Posts @p chain with one doorbell. Returns 0, EAGAIN (too much is under way, or the queue pair has failed and
	 * will be replaced unless the home is lost; try later), or another errno value: the home is gone.
	 */
	virtual int post(NodeId home, const Chain &chain, std::uint64_t token) noexcept = 0;
	/**
	 * Frees the buffer at @p address, which is no longer reachable. Reported to the home in batches
	 * (prism/reclaim.hpp).
	 */
	virtual void give_back(NodeId home, std::uint64_t address) noexcept = 0;
};

} // namespace prism::gam::latch
