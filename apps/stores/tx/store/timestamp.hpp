/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "tx/transaction/transaction.hpp"

namespace prism::tx
{

/** The writer of a version, and the place of its decision: the lower half of a timestamp. */
struct Writer {
	static constexpr unsigned home_bits = 12;
	static constexpr unsigned place_bits = 20;
	/** No decision exists elsewhere: the transaction writes one cell, whose version is the decision. */
	static constexpr std::uint32_t no_home = (1U << home_bits) - 1;

	std::uint32_t incarnation = 0; /**< of the client: never used by another. Not 0 */
	std::uint32_t home = no_home;  /**< number of the shard that has the decision */
	std::uint32_t place = 0;       /**< of the lane in the logs of all shards */

	[[nodiscard]] std::uint64_t packed() const noexcept
	{
		return std::uint64_t{incarnation} << 32 | std::uint64_t{home} << place_bits | place;
	}
	static Writer of(std::uint64_t packed) noexcept
	{
		return {static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed) >> place_bits,
			static_cast<std::uint32_t>(packed) & ((1U << place_bits) - 1)};
	}
};

/**
 * The position of a transaction in the order of all: unique, and increasing for one client. In memory it is one
 * little-endian integer of 128 bits, which a CAS compares as a whole. All zero: before every transaction.
 */
struct alignas(16) Timestamp {
	std::uint64_t writer = 0; /**< Writer::packed() */
	std::uint64_t clock = 0;  /**< ns, of the client's clock or later */

	friend bool operator==(const Timestamp &, const Timestamp &) = default;
	friend std::strong_ordering operator<=>(const Timestamp &a, const Timestamp &b) noexcept
	{
		return a.clock != b.clock ? a.clock <=> b.clock : a.writer <=> b.writer;
	}

	[[nodiscard]] Stamp stamp() const noexcept { return {clock, writer}; }
};
static_assert(sizeof(Timestamp) == 16);

/** Clock of one client's timestamps: each is greater than all before, and than all that the client has met. */
class LogicalClock
{
public:
	static constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

	/** Makes all further timestamps later than @p timestamp. */
	void observe(const Timestamp &timestamp) noexcept
	{
		if (timestamp.clock > latest_)
			latest_ = timestamp.clock;
	}

	/**
	 * Returns the next clock; @p now is the client's clock, which may jump. 0: none is left above those observed.
	 */
	std::uint64_t next(std::uint64_t now) noexcept
	{
		if (latest_ == last)
			return 0;
		latest_ = now > latest_ ? now : latest_ + 1;
		return latest_;
	}

private:
	std::uint64_t latest_ = 0;
};

} // namespace prism::tx
