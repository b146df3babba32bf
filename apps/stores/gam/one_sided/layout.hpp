/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory that a home lends for the latch protocol. All of it lies under one rkey, as a pointer and its target must.
 * The home's processor writes to it only to lend a block that nobody has had before (Region::lend()).
 *
 *     entries: 32 bytes a block | scratches: 64 bytes a node | buffers: 512 bytes each, in one free list
 *
 * A block is an immutable buffer that its entry points at. A node that changes a block takes another buffer from the
 * free list, and reports the one that it has replaced. A block that was never written back has no buffer: a null
 * pointer reads as zeros. So there are as many buffers as blocks, and spare ones for writes under way and for late
 * reports. Those that a dead node has taken along are searched for (lost_buffers.hpp).
 */
#pragma once

#include <infiniband/prismdv.h>

#include <cstddef>
#include <cstdint>

#include "gam/coherence/address.hpp"

namespace prism::gam::latch
{

/**
 * The entry of a block: the nodes that have it. Words are little-endian, as in all memory that PRISM requests compare.
 */
struct Entry {
	std::uint16_t writer = 0;    /**< node + 1: no other node may read or write. 0: none */
	std::uint16_t waiter = 0;    /**< node + 1: it was turned away often, and is next. 0: none */
	std::uint32_t flags = 0;     /**< entry_lent, or 0 */
	std::uint64_t sharers = 0;   /**< a bit for each node that may have a copy */
	prismdv_bounded_ptr value{}; /**< the buffer; the tag is the block's version */
};
constexpr std::size_t entry_size = 32;
static_assert(sizeof(Entry) == entry_size);

/**
 * In Entry::flags: something is allocated in the block. Each CAS that asks for a block compares this, at no cost; the
 * old bytes of a miss tell if there is nothing to ask for.
 */
constexpr std::uint32_t entry_lent = 1;

/**
 * Bytes of scratch memory for each node, at the home. The first half stays zero; ALLOCATE puts the bounded pointer into
 * the second half. Together they are the operand that a CAS with data-indirect stores, under its mask.
 */
constexpr std::size_t scratch_size = 64;
constexpr std::size_t scratch_pointer = 16; /**< offset of the pointer in the 32 bytes that a CAS loads */

/** The layout of a home's memory. Positions are in bytes from its beginning. */
struct Layout {
	std::uint64_t blocks = 0; /**< blocks that the home lends */
	std::uint64_t spares = 0; /**< buffers beside one for each block */

	[[nodiscard]] constexpr std::uint64_t entry(std::uint64_t block) const noexcept { return block * entry_size; }
	[[nodiscard]] constexpr std::uint64_t scratch(NodeId node) const noexcept
	{
		return (blocks * entry_size + scratch_size - 1) / scratch_size * scratch_size + node * scratch_size;
	}
	[[nodiscard]] constexpr std::uint64_t buffers() const noexcept
	{
		return (scratch(max_nodes) + block_size - 1) / block_size * block_size;
	}
	[[nodiscard]] constexpr std::uint64_t buffer_count() const noexcept { return blocks + spares; }
	[[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return buffers() + buffer_count() * block_size; }
};

} // namespace prism::gam::latch
