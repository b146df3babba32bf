/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/tx/report.hpp"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/frame/latency_report.hpp"

namespace prism::tx
{

namespace
{

using nlohmann::json;

constexpr std::array<std::string_view, KindResult::outcomes> outcome_names{
	"committed", "rolled_back", "conflict", "failed", "unknown"};

std::string amount_of(const Parameters &parameters)
{
	const std::string_view name = parameters.workload->name();
	if (name == "smallbank")
		return fmt::format("{} customers, {} of them hot ({:.0f}% of the transactions)",
			parameters.smallbank.accounts, parameters.smallbank.hot_accounts,
			parameters.smallbank.hot_share * 100);
	if (name == "tpcc")
		return fmt::format("{} warehouses, {} items, {} customers a district", parameters.tpcc.warehouses,
			parameters.tpcc.items, parameters.tpcc.customers);
	const YcsbTOptions &options = parameters.ycsb_t;
	return fmt::format("{} of {} B, {} a transaction, {}", options.records, options.value_size, options.keys,
		options.theta > 0 ? fmt::format("zipfian {}", options.theta) : "uniform");
}

void print_header(std::FILE *out, const Parameters &parameters)
{
	const RunOptions &run = parameters.run;
	bench::print_line(out);
	fmt::print(
		out, "                    prism-tx-bench {} {} Test\n", parameters.system, parameters.workload->name());
	fmt::print(out, " Objects         : {}\n", amount_of(parameters));
	fmt::print(out, " Clients         : {} ({} threads)\t\tDepth        : {}\t\tShards       : {}\n",
		run.all_clients(), run.threads, run.depth, parameters.connection.shards.size());
	bench::print_line(out);
	bench::print_latency_columns(out, "#transaction");
}

void print_latencies(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	int kinds = 0;
	for (std::size_t i = 0; i < result.kinds.size(); i++) {
		if (result.kinds[i].latency.count() == 0)
			continue;
		bench::print_latency(out, parameters.workload->kinds()[i], result.kinds[i].latency);
		kinds++;
	}
	if (kinds > 1)
		bench::print_latency(out, "all", result.all_latencies());
}

void print_outcomes(std::FILE *out, const RunResult &result)
{
	fmt::print(out, " outcomes:");
	for (std::size_t i = 0; i < outcome_names.size(); i++) {
		if (const std::uint64_t count = result.of(static_cast<Outcome>(i)))
			fmt::print(out, " {} {}", count, outcome_names[i]);
	}
	fmt::print(out, "\n conflicts: {} ({:.4f} for each commit); round trips of a commit: {:.2f}\n",
		result.conflicts, result.abort_rate(), result.mean_round_trips());
}

void print_trouble(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	for (const auto &[error, count] : result.errors.all())
		fmt::print(out, " failed: {} times {}\n", count, bench::name_of_error(error));
	if (result.abandoned)
		fmt::print(out, " given up: {} transactions that did not end within {} s\n", result.abandoned,
			parameters.run.drain);
	if (!result.checked)
		return;
	fmt::print(out, " checked: {} findings\n", result.findings.count());
	for (const std::string &text : result.findings.texts())
		fmt::print(out, "   {}\n", text);
}

json workload_to_json(const Parameters &parameters)
{
	const std::string_view name = parameters.workload->name();
	if (name == "smallbank")
		return {
			{"records", parameters.smallbank.accounts},
			{"hot_records", parameters.smallbank.hot_accounts},
			{"hot_share", parameters.smallbank.hot_share},
			{"numbered", parameters.smallbank.numbered},
		};
	if (name == "tpcc")
		return {
			{"warehouses", parameters.tpcc.warehouses},
			{"items", parameters.tpcc.items},
			{"customers", parameters.tpcc.customers},
			{"remote_items", parameters.tpcc.remote_items},
			{"remote_payments", parameters.tpcc.remote_payments},
		};
	return {
		{"records", parameters.ycsb_t.records},
		{"value_size", parameters.ycsb_t.value_size},
		{"keys", parameters.ycsb_t.keys},
		{"theta", parameters.ycsb_t.theta},
		{"read_only", parameters.ycsb_t.read_only},
		{"numbered", parameters.ycsb_t.numbered},
	};
}

json info_to_json(const Parameters &parameters)
{
	const RunOptions &run = parameters.run;
	return {
		{"system", parameters.system},
		{"shards", parameters.connection.shards.size()},
		{"workload", parameters.workload->name()},
		{"workload_options", workload_to_json(parameters)},
		{"objects", parameters.workload->objects()},
		{"largest_value", parameters.workload->largest_value()},
		{"seed", run.seed},
		{"threads", run.threads},
		{"clients_a_thread", run.clients},
		{"clients", run.all_clients()},
		{"depth", run.depth},
		{"warm_up", run.warm_up},
		{"duration", run.duration},
		{"transactions", run.requests},
	};
}

json kinds_to_json(const Parameters &parameters, const RunResult &result)
{
	json kinds = json::object();
	for (std::size_t i = 0; i < result.kinds.size(); i++) {
		json counts = {{"latency", bench::latency_to_json(result.kinds[i].latency)}};
		for (std::size_t outcome = 0; outcome < outcome_names.size(); outcome++)
			counts[std::string(outcome_names[outcome])] = result.kinds[i].by_outcome[outcome];
		kinds[std::string(parameters.workload->kinds()[i])] = counts;
	}
	return kinds;
}

json results_to_json(const Parameters &parameters, const RunResult &result)
{
	json errors = json::object();
	for (const auto &[error, count] : result.errors.all())
		errors[bench::name_of_error(error)] = count;
	json results = {
		{"throughput", result.throughput()},
		{"seconds", static_cast<double>(result.nanoseconds) / 1e9},
		{"committed_in_time", result.in_time},
		{"latency", bench::latency_to_json(result.all_latencies())},
		{"by_transaction", kinds_to_json(parameters, result)},
		{"conflicts", result.conflicts},
		{"abort_rate", result.abort_rate()},
		{"round_trips", result.round_trips},
		{"mean_round_trips", result.mean_round_trips()},
		{"traffic", bench::traffic_to_json(result.traffic, result.of(Outcome::committed))},
		{"abandoned", result.abandoned},
		{"errors", errors},
		{"checked", result.checked},
		{"findings", result.findings.count()},
		{"clean", result.clean()},
	};
	for (std::size_t outcome = 0; outcome < outcome_names.size(); outcome++)
		results[std::string(outcome_names[outcome])] = result.of(static_cast<Outcome>(outcome));
	return results;
}

} // namespace

void print_report(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	print_header(out, parameters);
	print_latencies(out, parameters, result);
	bench::print_line(out);
	fmt::print(out, " throughput: {:.0f} commits/s ({} in {:.3f} s)\n", result.throughput(), result.in_time,
		static_cast<double>(result.nanoseconds) / 1e9);
	print_outcomes(out, result);
	bench::print_traffic(out, result.traffic, result.of(Outcome::committed), "commit");
	print_trouble(out, parameters, result);
	std::fflush(out);
}

json make_report(const Parameters &parameters, const RunResult &result)
{
	return {{"test_info", info_to_json(parameters)}, {"results", results_to_json(parameters, result)}};
}

} // namespace prism::tx
