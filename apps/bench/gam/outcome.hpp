/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/frame/error_counts.hpp"
#include "bench/frame/measure.hpp"
#include "gam/coherence/coherence.hpp"

namespace prism::gam::micro
{

/** The counters of nodes, by their names in reports. */
inline constexpr std::array<std::pair<const char *, std::uint64_t CoherenceStats::*>, 9> coherence_counters{{
	{"hits", &CoherenceStats::hits},
	{"misses", &CoherenceStats::misses},
	{"messages", &CoherenceStats::messages},
	{"home_events", &CoherenceStats::events},
	{"requests", &CoherenceStats::requests},
	{"evictions_shared", &CoherenceStats::evictions_shared},
	{"evictions_dirty", &CoherenceStats::evictions_dirty},
	{"lost_values", &CoherenceStats::lost_values},
	{"refused", &CoherenceStats::refused},
}};
static_assert(sizeof(CoherenceStats) == coherence_counters.size() * sizeof(std::uint64_t));

/** Returns the increase since @p before. */
[[nodiscard]] CoherenceStats since(const CoherenceStats &before, const CoherenceStats &now) noexcept;

/** The distribution of the work among simulated nodes. Loads are shares of the time. */
struct Spread {
	double slowest_rate = 0; /**< operations a second, of the slowest node */
	double mean_rate = 0;    /**< operations a second, mean of the nodes */
	double busiest_processor = 0;
	double mean_processor = 0;
	double busiest_nic = 0;
	double busiest_link = 0;
	double busiest_home = 0; /**< share of the busiest home in the messages received by all homes */

	/** Returns the fairness; 1: all nodes did the same. */
	[[nodiscard]] double fairness() const noexcept { return mean_rate > 0 ? slowest_rate / mean_rate : 0; }
};

/** The results of a thread, of a node, or of all. */
struct RunResult {
	bench::LatencyHistogram reads; /**< latencies of the timed operations */
	bench::LatencyHistogram writes;
	bench::ErrorCounts errors;
	std::uint64_t operations = 0;
	std::uint64_t busy = 0;        /**< tries that failed because of another thread's lock */
	double rate = 0;               /**< operations a second */
	std::uint64_t nanoseconds = 0; /**< time of the slowest thread */
	CoherenceStats stats;          /**< counters of the nodes in that time */
	std::optional<Spread> spread;  /**< for a simulation: neither merged nor sent through a pipe */

	void merge(const RunResult &other);
	[[nodiscard]] bench::LatencyHistogram all_latencies() const;
	[[nodiscard]] double hit_ratio() const noexcept;
	/** Returns @p amount per operation. */
	[[nodiscard]] double each(std::uint64_t amount) const noexcept;
	/** Returns true if no operation has failed. */
	[[nodiscard]] bool clean() const { return errors.all().empty(); }

	/** Serializes the result, for the pipe between processes. */
	[[nodiscard]] nlohmann::json to_json() const;
	/** The reverse. Throws nlohmann::json::exception or std::out_of_range if @p json did not come from to_json().
	 */
	[[nodiscard]] static RunResult from_json(const nlohmann::json &json);
};

} // namespace prism::gam::micro
