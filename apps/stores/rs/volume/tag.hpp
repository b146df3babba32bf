/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace prism::rs
{

/**
 * The version of a block: no two writes have the same. In memory it is one little-endian integer of 128 bits, which a
 * CAS compares as a whole: the counter first, then the client. All zero: the block was never written.
 */
struct alignas(16) Tag {
	std::uint64_t client = 0; /**< number of one incarnation of a client: random, not 0 */
	std::uint64_t counter = 0;

	friend bool operator==(const Tag &, const Tag &) = default;
	friend std::strong_ordering operator<=>(const Tag &a, const Tag &b) noexcept
	{
		return a.counter != b.counter ? a.counter <=> b.counter : a.client <=> b.client;
	}

	/** True if no write can come after it. */
	[[nodiscard]] bool is_last() const noexcept { return counter == std::numeric_limits<std::uint64_t>::max(); }
	/**
	 * Generation of the exclusive writer that may have guessed this tag; 0: no exclusive writer.
	 * Generations are the upper bits of the counter: all writes of an exclusive writer are above everything that
	 * its predecessors have left. Other writers continue from there.
	 */
	static constexpr unsigned generation_shift = 40;
	[[nodiscard]] std::uint64_t generation() const noexcept { return counter >> generation_shift; }
	/** Returns the tag before the first one of a generation. */
	static Tag before(std::uint32_t generation) noexcept
	{
		return {0, std::uint64_t{generation} << generation_shift};
	}

	/** Returns the next tag after this one, for client @p who. This must not be the last. */
	[[nodiscard]] Tag next(std::uint64_t who) const noexcept { return {who, counter + 1}; }
};
static_assert(sizeof(Tag) == 16);

} // namespace prism::rs
