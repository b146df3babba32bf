/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of an ABDLOCK replica: a record for each block, in place. Its clients change it by WRITEs under the
 * record's lock. A client that dies during a WRITE leaves a torn block, which the checksum reveals. Words are
 * little-endian.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "rs/volume/tag.hpp"

namespace prism::rs
{

/** Header of the bytes of a block, read and written together with them. */
struct Version {
	Tag tag;
	std::uint64_t checksum = 0; /**< 0: never written */
	std::uint64_t reserved = 0;

	/** Returns the correct checksum of @p block under this tag; not 0. */
	[[nodiscard]] std::uint64_t compute(std::span<const std::byte> block) const noexcept;

	/** True if nothing was ever written here: the block then reads as zeros, whatever its bytes are. */
	[[nodiscard]] bool blank() const noexcept { return tag == Tag{} && checksum == 0; }
	[[nodiscard]] bool intact(std::span<const std::byte> block) const noexcept
	{
		return blank() || checksum == compute(block);
	}
};
static_assert(sizeof(Version) == 32 && std::is_trivially_copyable_v<Version>);

/** The beginning of a record; the bytes of the block follow. */
struct RecordHead {
	std::uint64_t lock = 0; /**< 0: free; else the holder's number << 32 | the number of this lock among its own */
	std::uint64_t reserved = 0;
	Version version;
};
static_assert(sizeof(RecordHead) == 48 && offsetof(RecordHead, version) == 16);

/** Bytes of a record for blocks of @p block_size: a multiple of 64. */
constexpr std::size_t record_size(std::size_t block_size) noexcept
{
	return (sizeof(RecordHead) + block_size + 63) / 64 * 64;
}

} // namespace prism::rs
