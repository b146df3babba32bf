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
	std::uint64_t client = 0; /**< of one incarnation of a client: random, not 0 */
	std::uint64_t counter = 0;

	friend bool operator==(const Tag &, const Tag &) = default;
	friend std::strong_ordering operator<=>(const Tag &a, const Tag &b) noexcept
	{
		return a.counter != b.counter ? a.counter <=> b.counter : a.client <=> b.client;
	}

	/** No write can come after it. */
	[[nodiscard]] bool is_last() const noexcept { return counter == std::numeric_limits<std::uint64_t>::max(); }
	/**
	 * The exclusive writer that it may be a guess of; 0: of none. Generations have the upper bits of the counter:
	 * what an exclusive writer installs is above everything that its predecessors have left behind. Others go on
	 * from there.
	 */
	static constexpr unsigned generation_shift = 40;
	[[nodiscard]] std::uint64_t generation() const noexcept { return counter >> generation_shift; }
	/** The first tag of a generation is after this one. */
	static Tag before(std::uint32_t generation) noexcept
	{
		return {0, std::uint64_t{generation} << generation_shift};
	}

	/** A tag of @p who after this one, which is not the last. */
	[[nodiscard]] Tag next(std::uint64_t who) const noexcept { return {who, counter + 1}; }
};
static_assert(sizeof(Tag) == 16);

} // namespace prism::rs
