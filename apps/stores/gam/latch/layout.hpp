/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory that a home lends for the latch protocol. All of it lies under one rkey, as a pointer and what it points
 * at must; the home's processor touches none of it but to lend a block that nobody has had before (Region::lend()).
 *
 *     entries: 32 bytes a block | scratches: 64 bytes a node | buffers: 512 bytes each, in one free list
 *
 * A block is an immutable buffer that its entry points at. Whoever changes a block takes another buffer from the free
 * list, and reports the one that it has replaced. A block that was never written back has none: a null pointer reads as
 * zeros. So there are as many buffers as blocks, and spare ones for what is under way and for reports that come late.
 */
#pragma once

#include <infiniband/prismdv.h>

#include <cstddef>
#include <cstdint>

#include "gam/coherence/address.hpp"

namespace prism::gam::latch
{

/** Who has a block. Words are little-endian, as those of all memory that PRISM requests compare. */
struct Entry {
	std::uint16_t writer = 0;    /**< node + 1: nobody else may read or write. 0: nobody */
	std::uint16_t waiter = 0;    /**< node + 1: it was turned away often, and is next. 0: none */
	std::uint32_t flags = 0;     /**< entry_lent, or 0 */
	std::uint64_t sharers = 0;   /**< a bit for each node that may have a copy */
	prismdv_bounded_ptr value{}; /**< the buffer; the tag is the block's version */
};
constexpr std::size_t entry_size = 32;
static_assert(sizeof(Entry) == entry_size);

/**
 * In Entry::flags: something is allocated in the block. Each CAS that asks for a block compares it, which costs
 * nothing: whoever misses finds in the old bytes that there is nothing to ask for.
 */
constexpr std::uint32_t entry_lent = 1;

/**
 * Of each node that is connected, at the home. Its first half stays zero; in the second half ALLOCATE leaves the
 * bounded pointer. Together they are what a CAS with data-indirect stores, as far as its mask goes.
 */
constexpr std::size_t scratch_size = 64;
constexpr std::size_t scratch_pointer = 16; /**< where the pointer of the first 32 bytes is, which a CAS loads */

/** Where what is, in bytes from the beginning of a home's memory. */
struct Layout {
	std::uint64_t blocks = 0; /**< that the home lends */
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
