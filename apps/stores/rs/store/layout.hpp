/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of a PRISM-RS replica, which its clients read and write by PRISM requests alone (docs/prism-rs.md): a slot
 * for each block, then the connections' scratches, then buffers of a tag and a block each. Words are little-endian.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <infiniband/prismdv.h>

#include "rs/volume/tag.hpp"

namespace prism::rs
{

/** A replica's state of a block, which a CAS compares and swaps at once. All zero: never written. */
struct alignas(32) Slot {
	Tag tag;
	prismdv_bounded_ptr block{}; /**< a buffer { tag, bytes } that never changes while this points at it */
};
static_assert(sizeof(Slot) == 32 && offsetof(Slot, block) == 16);
static_assert(std::is_trivially_copyable_v<Slot>);

/** Returns the bytes of a buffer for blocks of @p block_size: a multiple of 64. */
constexpr std::uint32_t buffer_size(std::uint32_t block_size) noexcept
{
	return (static_cast<std::uint32_t>(sizeof(Tag)) + block_size + 63) / 64 * 64;
}

} // namespace prism::rs
