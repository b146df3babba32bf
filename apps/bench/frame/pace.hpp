/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The times at which the requests of one worker are due, and their end. */
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "bench/frame/measure.hpp"
#include "bench/frame/workload.hpp"

namespace prism::bench
{

/** Distribution of the requests of an open loop in time. */
enum class Arrivals : std::uint8_t {
	even,
	poisson,
};

/** Returns the part of @p total that worker @p index of @p workers does. */
[[nodiscard]] constexpr std::uint64_t share_of(std::uint64_t total, unsigned index, unsigned workers) noexcept
{
	return total / workers + (index < total % workers ? 1 : 0);
}

/** A worker's share of a phase. */
struct PaceOptions {
	std::uint64_t start = 0; /**< beginning of the phase, in ns of the clock */
	std::uint64_t count = 0; /**< requests; 0: as many as possible in the time */
	std::uint64_t time = 0;  /**< ns; 0: until the requests are done */
	double interval = 0;     /**< ns between requests of this worker; 0: a closed loop, they are always due */
	double offset = 0;       /**< ns from the start to the first one */
	Arrivals arrivals = Arrivals::even;
};

class Pace
{
public:
	Pace() = default; /**< over */
	Pace(const PaceOptions &options, Random &random);

	/**
	 * Takes the next request if it is due at @p now. @return the time at which it was due; @p now in a closed loop.
	 */
	[[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t now, Random &random) noexcept;

	/** Returns true if take() will return no further request from @p now on. */
	[[nodiscard]] bool over(std::uint64_t now) const noexcept { return left_ == 0 || now >= end_; }

	/**
	 * Adds the lateness, at the end, of every request that was due before the end and has not been taken. This is a
	 * lower bound of its latency. A driver that omits such requests reports latencies that are too short.
	 */
	void add_backlog(LatencyHistogram &backlog, Random &random);

	[[nodiscard]] bool is_open() const noexcept { return plan_.interval > 0; }
	[[nodiscard]] bool is_timed() const noexcept { return plan_.time != 0; }
	[[nodiscard]] std::uint64_t start() const noexcept { return plan_.start; }
	[[nodiscard]] std::uint64_t deadline() const noexcept { return end_; }

private:
	void advance(Random &random) noexcept;
	[[nodiscard]] std::uint64_t due_at() const noexcept { return plan_.start + static_cast<std::uint64_t>(due_); }

	PaceOptions plan_;
	std::uint64_t left_ = 0;
	std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
	double due_ = 0; /* ns from the start */
};

} // namespace prism::bench
