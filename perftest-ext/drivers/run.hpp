/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Results of a run and the two drivers that produce them. */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/report.hpp"
#include "common/traffic.hpp"
#include "operations/contestant.hpp"

namespace prism::perftest
{

/** Results of one contestant with messages of one size. */
struct Row {
	std::size_t size = 0;
	std::string name;
	std::string label;
	unsigned round_trips = 1;
	std::uint64_t empty_list = 0; /**< jobs repeated because the free list was empty */
	std::variant<LatencyResult, BandwidthResult> result;
	std::vector<std::uint64_t> samples{}; /**< latencies in ns, in order of time */
	Traffic traffic{};                    /**< of the client's device, for counted_jobs */
	std::uint64_t counted_jobs = 0;

	/** Returns the figure for ratios: the median latency, or the message rate. */
	[[nodiscard]] double figure() const;
};

/** Ratio of another contestant to the first of @p rows: the first one is so many times faster. */
struct Ratio {
	std::string name; /**< of the other */
	double times;
};
[[nodiscard]] std::vector<Ratio> ratios(const std::vector<Row> &rows);

[[nodiscard]] nlohmann::json to_json(const std::vector<Row> &rows);

/** Reads results from the network: nothing if they are not in the form of to_json(). */
[[nodiscard]] std::optional<std::vector<Row>> rows_from_json(const std::string &text);

/** Measures one job at a time, contestants taking turns; the time of a job is from posting to the last completion. */
[[nodiscard]] std::vector<Row> measure_latency(
	Client &client, const Contestants &contestants, Reclaim &reclaim, std::size_t size);

/** Measures with all jobs in flight at once; contestants take turns in slices of the run. */
[[nodiscard]] std::vector<Row> measure_bandwidth(
	Client &client, const Contestants &contestants, Reclaim &reclaim, std::size_t size);

} // namespace prism::perftest
