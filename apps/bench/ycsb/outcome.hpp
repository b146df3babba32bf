/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The results of a run: filled by each worker, merged over threads and processes. */
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

/** The outcomes of operations of one kind, and their round trips. */
struct OperationCounts {
	static constexpr std::size_t outcomes = apps::outcome_count;
	static constexpr std::size_t most_round_trips = 8; /**< the last count is for this many and more */

	std::array<std::uint64_t, outcomes> by_outcome{};              /**< by apps::Outcome */
	std::array<std::uint64_t, most_round_trips + 1> round_trips{}; /**< of operations that ended well; 0: unknown */

	void add(const apps::Operation &operation) noexcept;
	void merge(const OperationCounts &other) noexcept;

	[[nodiscard]] std::uint64_t of(apps::Outcome outcome) const noexcept
	{
		return by_outcome[static_cast<std::size_t>(outcome)];
	}
	[[nodiscard]] std::uint64_t total() const noexcept;

	/**
	 * Return the share of operations with exactly @p trips round trips, or at least so many. 0 if there were none.
	 */
	[[nodiscard]] double share_with(std::size_t trips) const noexcept;
	[[nodiscard]] double share_with_at_least(std::size_t trips) const noexcept;
};

struct RunResult {
	std::array<bench::LatencyHistogram, bench::request_kinds> latency; /**< by bench::Request; done ones only */
	/** Lateness, when the time was over, of requests that were due but had not begun. */
	bench::LatencyHistogram backlog;
	OperationCounts gets;
	OperationCounts puts;
	bench::ErrorCounts errors;
	std::uint64_t requests = 0;     /**< ended requests; a read-modify-write is one */
	std::uint64_t in_time = 0;      /**< requests that were done before the time was over */
	std::uint64_t abandoned = 0;    /**< requests still under way after RunOptions::drain */
	std::uint64_t wrong_values = 0; /**< GETs whose value was not one of that record */
	std::uint64_t verified = 0;     /**< GETs that were checked */
	std::uint64_t first_wrong = 0;  /**< a record whose value was wrong, if any was */
	std::uint64_t nanoseconds = 0;  /**< from the common start to the end */
	bench::Traffic traffic;         /**< traffic of the clients' devices in that time */

	void merge(const RunResult &other);

	/** Returns all latencies, including the backlog's lower bounds. */
	[[nodiscard]] bench::LatencyHistogram all_latencies() const;

	/** Returns the requests a second that were done in time: neither failed nor answered with "full". */
	[[nodiscard]] double throughput() const noexcept;

	/** Returns true if every operation was done, and everything verified was right. */
	[[nodiscard]] bool clean(bool verify) const noexcept;

	/** Serializes the result, for the pipe between processes. */
	[[nodiscard]] nlohmann::json to_json() const;
	/** The reverse. Throws nlohmann::json::exception or std::out_of_range if @p json did not come from to_json().
	 */
	[[nodiscard]] static RunResult from_json(const nlohmann::json &json);
};

} // namespace prism::ycsb
