/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/report.hpp"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/frame/latency_report.hpp"

namespace prism::ycsb
{

namespace
{

using apps::Outcome;
using nlohmann::json;

constexpr std::array<std::string_view, OperationCounts::outcomes> outcome_names{
	"ok", "not_found", "full", "failed", "unknown"};

std::string loop_of(const RunOptions &run)
{
	if (run.rate <= 0)
		return "closed loop";
	return fmt::format(
		"{:.0f} requests/s, {}", run.rate, run.arrivals == bench::Arrivals::even ? "even" : "poisson");
}

std::string distribution_of(const RunOptions &run)
{
	if (run.distribution == bench::Distribution::uniform)
		return std::string(bench::name_of(run.distribution));
	return fmt::format("{} {}", bench::name_of(run.distribution), run.theta);
}

void print_header(std::FILE *out, const Parameters &parameters)
{
	const RunOptions &run = parameters.run;
	bench::print_line(out);
	fmt::print(out, "                    prism-ycsb {} YCSB-{} Test\n", parameters.system, run.mix.name);
	fmt::print(out, " Records         : {} ({} B keys, {} B values)\t\tDistribution : {}\n", run.records,
		run.key_size, run.value_size, distribution_of(run));
	fmt::print(out, " Clients         : {} ({} processes, {} threads each)\t\tDepth        : {}\n",
		run.all_clients(), run.processes, run.threads, run.depth);
	fmt::print(out, " Load            : {}\n", loop_of(run));
	bench::print_line(out);
	bench::print_latency_columns(out, "#request");
}

void print_latencies(std::FILE *out, const RunResult &result)
{
	int kinds = 0;
	for (std::size_t i = 0; i < bench::request_kinds; i++) {
		if (result.latency[i].count() == 0)
			continue;
		bench::print_latency(out, bench::name_of(static_cast<bench::Request>(i)), result.latency[i]);
		kinds++;
	}
	if (result.backlog.count()) {
		bench::print_latency(out, "(not begun)", result.backlog);
		kinds++;
	}
	if (kinds > 1)
		bench::print_latency(out, "all", result.all_latencies());
}

void print_counts(std::FILE *out, std::string_view name, const OperationCounts &counts)
{
	if (counts.total() == 0)
		return;
	fmt::print(out, " {}:", name);
	for (std::size_t i = 0; i < outcome_names.size(); i++) {
		if (counts.by_outcome[i])
			fmt::print(out, " {} {}", counts.by_outcome[i], outcome_names[i]);
	}
	if (counts.share_with_at_least(1) > 0) /* GAM's accesses count none */
		fmt::print(out, "; round trips: 1 {:.2f}%, 2 {:.2f}%, 3+ {:.2f}%", counts.share_with(1) * 100,
			counts.share_with(2) * 100, counts.share_with_at_least(3) * 100);
	fmt::print(out, "\n");
}

void print_trouble(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	for (const auto &[error, count] : result.errors.all())
		fmt::print(out, " failed: {} times {}\n", count, bench::name_of_error(error));
	if (result.abandoned)
		fmt::print(out, " given up: {} operations that did not end within {} s\n", result.abandoned,
			parameters.run.drain);
	if (result.backlog.count())
		fmt::print(out, " overload: {} requests were due and had not begun when the time was over\n",
			result.backlog.count());
	if (parameters.run.verify)
		fmt::print(out, " verified: {} values, {} wrong\n", result.verified, result.wrong_values);
	if (result.wrong_values)
		fmt::print(out, " the first wrong value was that of record {}\n", result.first_wrong);
}

json counts_with_shares(const OperationCounts &counts)
{
	json object;
	for (std::size_t i = 0; i < outcome_names.size(); i++)
		object[std::string(outcome_names[i])] = counts.by_outcome[i];
	object["round_trips"] = counts.round_trips;
	object["share_1_round_trip"] = counts.share_with(1);
	object["share_2_round_trips"] = counts.share_with(2);
	object["share_3_or_more_round_trips"] = counts.share_with_at_least(3);
	return object;
}

json info_to_json(const Parameters &parameters)
{
	const RunOptions &run = parameters.run;
	return {
		{"system", parameters.system},
		{"mix", std::string(1, run.mix.name)},
		{"distribution", bench::name_of(run.distribution)},
		{"theta", run.theta},
		{"records", run.records},
		{"key_size", run.key_size},
		{"value_size", run.value_size},
		{"seed", run.seed},
		{"processes", run.processes},
		{"threads", run.threads},
		{"clients_a_thread", run.clients},
		{"clients", run.all_clients()},
		{"depth", run.depth},
		{"rate", run.rate},
		{"arrivals", run.arrivals == bench::Arrivals::even ? "even" : "poisson"},
		{"warm_up", run.warm_up},
		{"duration", run.duration},
		{"operations", run.requests},
	};
}

json results_to_json(const Parameters &parameters, const RunResult &result)
{
	json requests = json::object();
	for (std::size_t i = 0; i < bench::request_kinds; i++) {
		if (result.latency[i].count())
			requests[std::string(bench::name_of(static_cast<bench::Request>(i)))] =
				bench::latency_to_json(result.latency[i]);
	}
	json errors = json::object();
	for (const auto &[error, count] : result.errors.all())
		errors[bench::name_of_error(error)] = count;
	return {
		{"throughput", result.throughput()},
		{"seconds", static_cast<double>(result.nanoseconds) / 1e9},
		{"requests", result.requests},
		{"requests_in_time", result.in_time},
		{"latency", bench::latency_to_json(result.all_latencies())},
		{"latency_by_request", requests},
		{"traffic", bench::traffic_to_json(result.traffic, result.requests)},
		{"backlog", result.backlog.count()},
		{"abandoned", result.abandoned},
		{"get", counts_with_shares(result.gets)},
		{"put", counts_with_shares(result.puts)},
		{"errors", errors},
		{"verified", result.verified},
		{"wrong_values", result.wrong_values},
		{"clean", result.clean(parameters.run.verify)},
	};
}

} // namespace

void print_report(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	print_header(out, parameters);
	print_latencies(out, result);
	bench::print_line(out);
	fmt::print(out, " throughput: {:.0f} requests/s ({} in {:.3f} s)\n", result.throughput(), result.in_time,
		static_cast<double>(result.nanoseconds) / 1e9);
	print_counts(out, "GET", result.gets);
	print_counts(out, "PUT", result.puts);
	bench::print_traffic(out, result.traffic, result.requests, "request");
	print_trouble(out, parameters, result);
	std::fflush(out);
}

json make_report(const Parameters &parameters, const RunResult &result)
{
	return {{"test_info", info_to_json(parameters)}, {"results", results_to_json(parameters, result)}};
}

Result<void> write_report(const Parameters &parameters, const RunResult &result)
{
	return bench::write_json(parameters.json_file, make_report(parameters, result));
}

} // namespace prism::ycsb
