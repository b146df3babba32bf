/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* When the requests of one worker are due, and when there are no more. */
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "bench/frame/measure.hpp"
#include "bench/frame/workload.hpp"

namespace prism::bench
{

/** How requests of an open loop follow each other. */
enum class Arrivals : std::uint8_t {
	even,
	poisson,
};

/** The part of @p total that worker @p index of @p workers does. */
[[nodiscard]] constexpr std::uint64_t share_of(std::uint64_t total, unsigned index, unsigned workers) noexcept
{
	return total / workers + (index < total % workers ? 1 : 0);
}

/** What a worker's share of a phase is. */
struct PaceOptions {
	std::uint64_t start = 0; /**< of the phase, in ns of the clock */
	std::uint64_t count = 0; /**< requests; 0: as many as the time allows */
	std::uint64_t time = 0;  /**< ns; 0: as long as the requests take */
	double interval = 0;     /**< ns between requests of this worker; 0: a closed loop, they are always due */
	double offset = 0;       /**< ns from the start to the first one */
	Arrivals arrivals = Arrivals::even;
};

class Pace
{
public:
	Pace() = default; /**< over */
	Pace(const PaceOptions &options, Random &random);

	/** Takes the next request if it is due at @p now. @return the moment when it was due; @p now in a closed loop.
	 */
	[[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t now, Random &random) noexcept;

	/** Whether take() will give no further request from @p now on. */
	[[nodiscard]] bool over(std::uint64_t now) const noexcept { return left_ == 0 || now >= end_; }

	/**
	 * Adds, for every request that was due before the end and has not been taken, how late it was at the end. This
	 * is a lower bound of its latency. A driver that leaves such requests out reports latencies that are too short.
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
