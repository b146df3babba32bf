/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/outcome.hpp"

#include <algorithm>
#include <numeric>

namespace prism::ycsb
{

namespace
{

using nlohmann::json;

template <typename Counts>
void add_each(Counts &sum, const Counts &other) noexcept
{
	for (std::size_t i = 0; i < sum.size(); i++)
		sum[i] += other[i];
}

json counts_to_json(const OperationCounts &counts)
{
	return {{"outcomes", counts.by_outcome}, {"round_trips", counts.round_trips}};
}

OperationCounts counts_from_json(const json &object)
{
	OperationCounts counts;
	object.at("outcomes").get_to(counts.by_outcome);
	object.at("round_trips").get_to(counts.round_trips);
	return counts;
}

} // namespace

void OperationCounts::add(const apps::Operation &operation) noexcept
{
	by_outcome[static_cast<std::size_t>(operation.outcome)]++;
	if (!apps::has_failed(operation.outcome))
		round_trips[std::min<std::size_t>(operation.round_trips, most_round_trips)]++;
}

void OperationCounts::merge(const OperationCounts &other) noexcept
{
	add_each(by_outcome, other.by_outcome);
	add_each(round_trips, other.round_trips);
}

std::uint64_t OperationCounts::total() const noexcept
{
	return std::accumulate(by_outcome.begin(), by_outcome.end(), std::uint64_t{0});
}

double OperationCounts::share_with(std::size_t trips) const noexcept
{
	const std::uint64_t all = std::accumulate(round_trips.begin(), round_trips.end(), std::uint64_t{0});
	return all ? static_cast<double>(round_trips.at(trips)) / static_cast<double>(all) : 0;
}

double OperationCounts::share_with_at_least(std::size_t trips) const noexcept
{
	double share = 0;
	for (std::size_t i = trips; i < round_trips.size(); i++)
		share += share_with(i);
	return share;
}

void RunResult::merge(const RunResult &other)
{
	for (std::size_t i = 0; i < latency.size(); i++)
		latency[i].merge(other.latency[i]);
	backlog.merge(other.backlog);
	gets.merge(other.gets);
	puts.merge(other.puts);
	errors.merge(other.errors);
	requests += other.requests;
	in_time += other.in_time;
	abandoned += other.abandoned;
	if (!wrong_values)
		first_wrong = other.first_wrong;
	wrong_values += other.wrong_values;
	verified += other.verified;
	nanoseconds = std::max(nanoseconds, other.nanoseconds);
	traffic += other.traffic;
}

bench::LatencyHistogram RunResult::all_latencies() const
{
	bench::LatencyHistogram all = backlog;
	for (const bench::LatencyHistogram &one : latency)
		all.merge(one);
	return all;
}

double RunResult::throughput() const noexcept
{
	return nanoseconds ? static_cast<double>(in_time) * 1e9 / static_cast<double>(nanoseconds) : 0;
}

bool RunResult::clean(bool verify) const noexcept
{
	using apps::Outcome;
	const std::uint64_t undone = gets.of(Outcome::failed) + puts.of(Outcome::failed) + puts.of(Outcome::unknown) +
				     puts.of(Outcome::full);
	return undone + abandoned == 0 && (!verify || wrong_values + gets.of(Outcome::not_found) == 0);
}

json RunResult::to_json() const
{
	json latencies = json::array();
	for (const bench::LatencyHistogram &one : latency)
		latencies.push_back(one.to_json());
	return {
		{"latency", latencies},
		{"backlog", backlog.to_json()},
		{"gets", counts_to_json(gets)},
		{"puts", counts_to_json(puts)},
		{"errors", errors.to_json()},
		{"requests", requests},
		{"in_time", in_time},
		{"abandoned", abandoned},
		{"wrong_values", wrong_values},
		{"verified", verified},
		{"first_wrong", first_wrong},
		{"nanoseconds", nanoseconds},
		{"traffic", traffic.to_json()},
	};
}

RunResult RunResult::from_json(const json &object)
{
	RunResult result;
	for (std::size_t i = 0; i < result.latency.size(); i++)
		result.latency[i] = bench::LatencyHistogram::from_json(object.at("latency").at(i));
	result.backlog = bench::LatencyHistogram::from_json(object.at("backlog"));
	result.gets = counts_from_json(object.at("gets"));
	result.puts = counts_from_json(object.at("puts"));
	result.errors.assign(object.at("errors"));
	object.at("requests").get_to(result.requests);
	object.at("in_time").get_to(result.in_time);
	object.at("abandoned").get_to(result.abandoned);
	object.at("wrong_values").get_to(result.wrong_values);
	object.at("verified").get_to(result.verified);
	object.at("first_wrong").get_to(result.first_wrong);
	object.at("nanoseconds").get_to(result.nanoseconds);
	result.traffic = bench::Traffic::from_json(object.at("traffic"));
	return result;
}

} // namespace prism::ycsb
