/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/report.hpp"

#include <string_view>

#include <fmt/format.h>

#include "bench/frame/latency_report.hpp"
#include "bench/gam/memory_use.hpp"

namespace prism::gam::micro
{

namespace
{

using nlohmann::json;

void print_header(std::FILE *out, const RunOptions &run)
{
	const ClusterOptions &cluster = run.cluster;
	const Workload &workload = run.workload;
	bench::print_line(out);
	fmt::print(out, "                    prism-gam-bench {} Test\n", name_of(run.single));
	const char *const where = cluster.simulated ? ", simulated" : cluster.in_process ? ", in one process" : "";
	fmt::print(out, " Nodes           : {} ({} threads each{})\t\tProtocol     : {}{}, {}{}\n", cluster.nodes,
		run.threads, where, name_of(cluster.protocol), cluster.forwards ? " that forwards" : "",
		name_of(cluster.consistency), cluster.cached ? "" : ", uncached");
	if (run.single == Case::none)
		fmt::print(out,
			" Operations      : {}, {:g}% reads\t\tBlocks       : {} a thread, {:g}% remote, {:g}% "
			"shared\n Locality        : {:g}% in space, {:g}% in time\t\tCache        : {} lines\n",
			name_of(workload.operation), workload.reads * 100, workload.blocks, workload.remote * 100,
			workload.shared * 100, workload.space * 100, workload.time * 100, lines_of_node(run));
	else
		fmt::print(out, " The home        : {}\n", name_of(run.home));
	bench::print_line(out);
}

void print_latencies(std::FILE *out, const RunResult &result)
{
	bench::print_latency_columns(out, "#operation");
	if (result.reads.count())
		bench::print_latency(out, "read", result.reads);
	if (result.writes.count())
		bench::print_latency(out, "write", result.writes);
	bench::print_line(out);
}

void print_rate(std::FILE *out, const RunResult &result)
{
	fmt::print(out, " {:<15}{:<17}{:<13}{:<15}{:<17}{:<15}{}\n", "#operations", "operations/s[K]", "hits[%]",
		"messages[/op]", "home events[/op]", "requests[/op]", "evictions[/op]");
	const CoherenceStats &stats = result.stats;
	fmt::print(out, " {:<15}{:<17.3f}{:<13.2f}{:<15.3f}{:<17.3f}{:<15.3f}{:.3f}\n", result.operations,
		result.rate / 1000, result.hit_ratio() * 100, result.each(stats.messages), result.each(stats.events),
		result.each(stats.requests), result.each(stats.evictions_shared + stats.evictions_dirty));
	bench::print_line(out);
}

void print_spread(std::FILE *out, const Spread &spread)
{
	constexpr double to_percent = 100;
	fmt::print(out, " {:<22}{:<22}{:<22}{:<14}{:<14}{}\n", "slowest/mean node", "busiest processor[%]",
		"mean processor[%]", "NIC[%]", "link[%]", "home events of the busiest[%]");
	fmt::print(out, " {:<22.3f}{:<22.2f}{:<22.2f}{:<14.2f}{:<14.2f}{:.2f}\n", spread.fairness(),
		spread.busiest_processor * to_percent, spread.mean_processor * to_percent,
		spread.busiest_nic * to_percent, spread.busiest_link * to_percent, spread.busiest_home * to_percent);
	bench::print_line(out);
}

void print_trouble(std::FILE *out, const RunResult &result)
{
	if (result.busy)
		fmt::print(out, " busy: {} tries that another's lock was in the way of\n", result.busy);
	if (result.stats.refused)
		fmt::print(out, " refused: {} messages that no rule allows\n", result.stats.refused);
	for (const auto &[error, count] : result.errors.all())
		fmt::print(out, " failed: {} operations: {}\n", count, bench::name_of_error(error));
}

json hardware_to_json(const simulated::Hardware &hardware)
{
	return {
		{"hop", hardware.hop},
		{"loopback", hardware.loopback},
		{"gigabits", hardware.gigabits},
		{"packet", hardware.packet},
		{"request", hardware.request},
		{"message", hardware.message},
		{"completion", hardware.completion},
		{"post", hardware.post},
		{"hit", hardware.hit},
	};
}

json spread_to_json(const Spread &spread)
{
	return {
		{"slowest_rate", spread.slowest_rate},
		{"mean_rate", spread.mean_rate},
		{"fairness", spread.fairness()},
		{"busiest_processor", spread.busiest_processor},
		{"mean_processor", spread.mean_processor},
		{"busiest_nic", spread.busiest_nic},
		{"busiest_link", spread.busiest_link},
		{"busiest_home", spread.busiest_home},
	};
}

json info_to_json(const RunOptions &run)
{
	const ClusterOptions &cluster = run.cluster;
	const Workload &workload = run.workload;
	return {
		{"nodes", cluster.nodes},
		{"threads", run.threads},
		{"in_process", cluster.in_process},
		{"pinned", cluster.pins},
		{"simulated", cluster.simulated},
		{"forwards", cluster.forwards},
		{"protocol", name_of(cluster.protocol)},
		{"consistency", name_of(cluster.consistency)},
		{"cached", cluster.cached},
		{"lines", lines_of_node(run)},
		{"operation", name_of(workload.operation)},
		{"read_ratio", workload.reads},
		{"remote_ratio", workload.remote},
		{"sharing_ratio", workload.shared},
		{"space_locality", workload.space},
		{"time_locality", workload.time},
		{"blocks", workload.blocks},
		{"seed", workload.seed},
		{"case", name_of(run.single)},
		{"home", name_of(run.home)},
		{"piece", run.piece},
		{"warm_up", run.warm_up},
		{"duration", run.duration},
		{"operations", run.operations},
	};
}

json results_to_json(const RunOptions &run, const RunResult &result)
{
	json counted;
	json each;
	for (const auto &[name, member] : coherence_counters) {
		counted[name] = result.stats.*member;
		each[name] = result.each(result.stats.*member);
	}
	json errors = json::object();
	for (const auto &[error, count] : result.errors.all())
		errors[bench::name_of_error(error)] = count;
	const MemoryUse memory = memory_use(run.cluster.protocol);
	return {
		{"rate", result.rate},
		{"operations", result.operations},
		{"seconds", static_cast<double>(result.nanoseconds) / 1e9},
		{"latency", bench::latency_to_json(result.all_latencies())},
		{"read_latency", bench::latency_to_json(result.reads)},
		{"write_latency", bench::latency_to_json(result.writes)},
		{"hit_ratio", result.hit_ratio()},
		{"stats", counted},
		{"each", each},
		{"entry_bytes", memory.entry},
		{"line_bytes", memory.line},
		{"busy", result.busy},
		{"errors", errors},
		{"clean", result.clean()},
	};
}

} // namespace

void print_report(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	print_header(out, parameters.run);
	print_latencies(out, result);
	print_rate(out, result);
	if (result.spread)
		print_spread(out, *result.spread);
	const MemoryUse memory = memory_use(parameters.run.cluster.protocol);
	fmt::print(out, " memory: {} bytes for an entry of the home, {} for a line, beside the {} of the block\n",
		memory.entry, memory.line, block_size);
	print_trouble(out, result);
	std::fflush(out);
}

json make_report(const Parameters &parameters, const RunResult &result)
{
	json report = {
		{"test_info", info_to_json(parameters.run)}, {"results", results_to_json(parameters.run, result)}};
	if (parameters.run.cluster.simulated)
		report["test_info"]["hardware"] = hardware_to_json(parameters.hardware);
	if (result.spread)
		report["results"]["spread"] = spread_to_json(*result.spread);
	return report;
}

} // namespace prism::gam::micro
