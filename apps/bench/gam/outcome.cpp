/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/outcome.hpp"

#include <algorithm>

namespace prism::gam::micro
{

using bench::LatencyHistogram;
using nlohmann::json;

CoherenceStats since(const CoherenceStats &before, const CoherenceStats &now) noexcept
{
	CoherenceStats difference;
	for (const auto &[name, member] : coherence_counters)
		difference.*member = now.*member - before.*member;
	return difference;
}

void RunResult::merge(const RunResult &other)
{
	reads.merge(other.reads);
	writes.merge(other.writes);
	errors.merge(other.errors);
	operations += other.operations;
	busy += other.busy;
	rate += other.rate;
	nanoseconds = std::max(nanoseconds, other.nanoseconds);
	stats += other.stats;
}

LatencyHistogram RunResult::all_latencies() const
{
	LatencyHistogram all = reads;
	all.merge(writes);
	return all;
}

double RunResult::hit_ratio() const noexcept
{
	const std::uint64_t all = stats.hits + stats.misses;
	return all ? static_cast<double>(stats.hits) / static_cast<double>(all) : 0;
}

double RunResult::each(std::uint64_t amount) const noexcept
{
	return operations ? static_cast<double>(amount) / static_cast<double>(operations) : 0;
}

json RunResult::to_json() const
{
	json counted;
	for (const auto &[name, member] : coherence_counters)
		counted[name] = stats.*member;
	return {{"reads", reads.to_json()}, {"writes", writes.to_json()}, {"errors", errors.to_json()},
		{"operations", operations}, {"busy", busy}, {"rate", rate}, {"nanoseconds", nanoseconds},
		{"stats", counted}};
}

RunResult RunResult::from_json(const nlohmann::json &from)
{
	RunResult result;
	result.reads = LatencyHistogram::from_json(from.at("reads"));
	result.writes = LatencyHistogram::from_json(from.at("writes"));
	result.errors.assign(from.at("errors"));
	from.at("operations").get_to(result.operations);
	from.at("busy").get_to(result.busy);
	from.at("rate").get_to(result.rate);
	from.at("nanoseconds").get_to(result.nanoseconds);
	for (const auto &[name, member] : coherence_counters)
		from.at("stats").at(name).get_to(result.stats.*member);
	return result;
}

} // namespace prism::gam::micro
