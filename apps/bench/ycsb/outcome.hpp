/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a run gave: filled by each worker, merged over threads and processes. */
#pragma once

#include <array>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "bench/frame/error_counts.hpp"
#include "bench/frame/measure.hpp"
#include "bench/frame/traffic.hpp"
#include "bench/frame/workload.hpp"
#include "common/store_client.hpp"

namespace prism::ycsb
{

/** What became of operations of one kind, and how many round trips they took. */
struct OperationCounts {
	static constexpr std::size_t outcomes = apps::outcome_count;
	static constexpr std::size_t most_round_trips = 8; /**< the last count is of these and more */

	std::array<std::uint64_t, outcomes> by_outcome{}; /**< by apps::Outcome */
	std::array<std::uint64_t, most_round_trips + 1>
		round_trips{}; /**< of those that have ended well; 0: not told */

	void add(const apps::Operation &operation) noexcept;
	void merge(const OperationCounts &other) noexcept;

	[[nodiscard]] std::uint64_t of(apps::Outcome outcome) const noexcept
	{
		return by_outcome[static_cast<std::size_t>(outcome)];
	}
	[[nodiscard]] std::uint64_t total() const noexcept;

	/** The share of operations with exactly @p trips round trips, or at least so many. 0 if there were none. */
	[[nodiscard]] double share_with(std::size_t trips) const noexcept;
	[[nodiscard]] double share_with_at_least(std::size_t trips) const noexcept;
};

struct RunResult {
	std::array<bench::LatencyHistogram, bench::request_kinds> latency; /**< by bench::Request; of what was done */
	/** Of requests that were due but had not begun when the time was over: how late they were by then. */
	bench::LatencyHistogram backlog;
	OperationCounts gets;
	OperationCounts puts;
	bench::ErrorCounts errors;
	std::uint64_t requests = 0;     /**< that ended; a read-modify-write is one */
	std::uint64_t in_time = 0;      /**< requests that were done before the time was over */
	std::uint64_t abandoned = 0;    /**< requests still under way after RunOptions::drain */
	std::uint64_t wrong_values = 0; /**< GETs whose value was not one of that record */
	std::uint64_t verified = 0;     /**< GETs that were checked */
	std::uint64_t first_wrong = 0;  /**< a record whose value was wrong, if any was */
	std::uint64_t nanoseconds = 0;  /**< from the common start to the end */
	bench::Traffic traffic;         /**< of the clients' devices in that time */

	void merge(const RunResult &other);

	/** All latencies, the backlog's lower bounds among them. */
	[[nodiscard]] bench::LatencyHistogram all_latencies() const;

	/** Requests a second that were done in time: neither failed nor answered with "full". */
	[[nodiscard]] double throughput() const noexcept;

	/** Was every operation done, and everything that was to be verified right? */
	[[nodiscard]] bool clean(bool verify) const noexcept;

	/** For the pipe between processes. */
	[[nodiscard]] nlohmann::json to_json() const;
	/** The reverse. Throws nlohmann::json::exception or std::out_of_range if @p json did not come from to_json().
	 */
	[[nodiscard]] static RunResult from_json(const nlohmann::json &json);
};

} // namespace prism::ycsb
