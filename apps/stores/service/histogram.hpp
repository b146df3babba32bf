/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::apps
{

/** Upper limits of a histogram's buckets, inclusive and in ascending order, and the unit in which they are exported. */
struct Buckets {
	std::span<const std::uint64_t> limits; /**< at most Histogram::most_buckets */
	double unit = 1;                       /**< exported value of 1 */
};

namespace buckets
{

/** Nanoseconds: 1, 2 and 5 of each power of ten, from 100 ns to 100 s. */
inline constexpr std::array<std::uint64_t, 28> duration_limits = [] {
	std::array<std::uint64_t, 28> limits{};
	std::uint64_t power = 100;
	for (std::size_t i = 0; i < limits.size(); i++) {
		constexpr std::array<std::uint64_t, 3> digits{1, 2, 5};
		limits[i] = digits[i % 3] * power;
		if (i % 3 == 2)
			power *= 10;
	}
	return limits;
}();
inline constexpr Buckets durations{duration_limits, 1e-9};

/** Limits for counts that are small when all is well, such as round trips. */
inline constexpr std::array<std::uint64_t, 10> small_number_limits{1, 2, 3, 4, 5, 6, 8, 10, 20, 50};
inline constexpr Buckets small_numbers{small_number_limits, 1};

} // namespace buckets

/**
 * Counts values in buckets, for metrics. One thread at a time adds; any thread may copy at the same time: the copy may
 * then have only a part of the value being added. add() neither allocates nor waits.
 */
class Histogram
{
public:
	static constexpr std::size_t most_buckets = 28;

	/** @p buckets: the memory that it refers to is never freed. */
	explicit constexpr Histogram(const Buckets &buckets) noexcept : buckets_(buckets) {}
	Histogram(const Histogram &other) noexcept : buckets_(other.buckets_) { *this += other; }
	Histogram &operator=(const Histogram &other) noexcept
	{
		buckets_ = other.buckets_;
		for (std::size_t i = 0; i < counts_.size(); i++)
			counts_[i].store(other.count_of(i), std::memory_order_relaxed);
		sum_.store(other.sum(), std::memory_order_relaxed);
		return *this;
	}
	~Histogram() = default;

	void add(std::uint64_t value) noexcept
	{
		const auto limit = std::ranges::lower_bound(buckets_.limits, value);
		grow(counts_[static_cast<std::size_t>(limit - buckets_.limits.begin())], 1);
		grow(sum_, value);
	}
	void add(std::chrono::nanoseconds duration) noexcept
	{
		add(static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(duration.count(), 0)));
	}

	/** Adds the counts of @p other, which has the same buckets. */
	Histogram &operator+=(const Histogram &other) noexcept
	{
		for (std::size_t i = 0; i < counts_.size(); i++)
			grow(counts_[i], other.count_of(i));
		grow(sum_, other.sum());
		return *this;
	}

	[[nodiscard]] const Buckets &buckets() const noexcept { return buckets_; }
	/**
	 * Returns the number of values in bucket @p number, without those in smaller ones; the last bucket has those
	 * above all limits.
	 */
	[[nodiscard]] std::uint64_t count_of(std::size_t number) const noexcept
	{
		return counts_[number].load(std::memory_order_relaxed);
	}
	[[nodiscard]] std::uint64_t count() const noexcept
	{
		std::uint64_t all = 0;
		for (std::size_t i = 0; i <= buckets_.limits.size(); i++)
			all += count_of(i);
		return all;
	}
	[[nodiscard]] std::uint64_t sum() const noexcept { return sum_.load(std::memory_order_relaxed); }

private:
	using Count = std::atomic<std::uint64_t>;

	/* Adds without a locked instruction, as there is one writer. */
	static void grow(Count &count, std::uint64_t by) noexcept
	{
		count.store(count.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
	}

	Buckets buckets_;
	std::array<Count, most_buckets + 1> counts_{};
	Count sum_{0};
};

} // namespace prism::apps
