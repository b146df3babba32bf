/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/report.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/frame/latency_report.hpp"
#include "bench/frame/traffic.hpp"

namespace prism::echo
{

namespace
{

using nlohmann::json;

constexpr double kib = 1024;

double each(std::uint64_t amount, std::uint64_t count)
{
	return count ? static_cast<double>(amount) / static_cast<double>(count) : 0;
}

/** Returns the calls that the server executed during the measurement, including those that ask for figures. */
std::uint64_t served(const RunResult &result)
{
	return result.server_after.calls - result.server_before.calls;
}

/** Returns the usec of processor time of a call. */
double client_time(const RunResult &result)
{
	return each(result.client_after.user + result.client_after.system - result.client_before.user -
			       result.client_before.system,
		       result.calls) /
	       ns_per_us;
}

double server_time(const RunResult &result)
{
	return each(result.server_after.user + result.server_after.system - result.server_before.user -
			       result.server_before.system,
		       served(result)) /
	       ns_per_us;
}

bench::Traffic server_traffic(const RunResult &result)
{
	return result.server_after.traffic.since(result.server_before.traffic);
}

std::string busy_text(const RunOptions &run)
{
	std::string text = fmt::format("{} usec", run.time / ns_per_us);
	if (run.slow.share > 0)
		text += fmt::format(
			", {} usec for {:g}% of the calls", run.slow.time / ns_per_us, run.slow.share * 100);
	return text;
}

void print_header(std::FILE *out, const Parameters &parameters)
{
	const RunOptions &run = parameters.run;
	bench::print_line(out);
	fmt::print(out, "                    prism-rpc-bench {} Test\n", rpc::to_string(parameters.server.way));
	fmt::print(out, " Connections     : {} ({} threads)\t\tDepth        : {}\n", run.all_connections(), run.threads,
		run.depth);
	fmt::print(out, " Server time     : {}\t\tRequest      : {} B\n", busy_text(run), run.request_size);
	bench::print_line(out);
}

void print_line_of(std::FILE *out, std::string_view bytes, const bench::LatencyHistogram &latency)
{
	fmt::print(out, " {:<9}{:<12}{:<13.2f}{:<13.2f}{:<17.2f}{:<13.2f}{:<15.2f}{:<11.2f}{:.2f}\n", bytes,
		latency.count(), latency.min(), latency.max(), latency.percentile(50), latency.mean(),
		latency.deviation(), latency.percentile(99), latency.percentile(99.9));
}

void print_latencies(std::FILE *out, const RunOptions &run, const RunResult &result)
{
	fmt::print(out, " {:<9}{:<12}{:<13}{:<13}{:<17}{:<13}{:<15}{:<11}{}\n", "#bytes", "#calls", "t_min[usec]",
		"t_max[usec]", "t_typical[usec]", "t_avg[usec]", "t_stdev[usec]", "99%[usec]", "99.9%[usec]");
	for (std::size_t i = 0; i < result.latency.size(); i++)
		print_line_of(out, std::to_string(run.sizes[i]), result.latency[i]);
	if (result.latency.size() > 1)
		print_line_of(out, "all", result.all_latencies());
	bench::print_line(out);
}

void print_rate(std::FILE *out, const RunOptions &run, const RunResult &result)
{
	const std::string bytes = run.sizes.count() == 1 ? std::to_string(run.sizes[0]) : "all";
	fmt::print(out, " {:<9}{:<12}{:<15}{:<25}{}\n", "#bytes", "#calls", "calls/s[K]", "client's CPU[usec/call]",
		"server's CPU[usec/call]");
	fmt::print(out, " {:<9}{:<12}{:<15.3f}{:<25.3f}{:.3f}\n", bytes, result.calls, result.rate() / 1000,
		client_time(result), server_time(result));
	bench::print_line(out);
}

void print_links(std::FILE *out, const RunResult &result)
{
	const rpc::LinkCounters &links = result.links;
	if (links.fetches)
		fmt::print(out, " fetches: {:.3f} a call; {:.3f} failed, {:.3f} for the rest; {} changes of mode\n",
			each(links.fetches, result.calls), each(links.failed_fetches, result.calls),
			each(links.second_fetches, result.calls), links.switches);
	if (links.refused)
		fmt::print(out, " refused: {} requests for which the server had no buffer, and that were sent again\n",
			links.refused);
	if (links.retransmissions)
		fmt::print(out, " retransmissions: {}\n", links.retransmissions);
}

void print_memory(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	const auto in_kib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / kib; };
	fmt::print(out,
		" memory with {} connections [KiB]: server {:.0f} touched, {:.0f} planned for messages; client "
		"{:.0f}\n",
		parameters.run.all_connections(), in_kib(result.server_after.touched),
		in_kib(result.server_after.planned), in_kib(result.client_after.touched));
}

void print_trouble(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	if (result.wrong)
		fmt::print(out, " wrong: {} responses were not those of their calls, or not whole\n", result.wrong);
	if (result.abandoned)
		fmt::print(out,
			" given up: {} calls that did not end within {} s; see whether the server stands still\n",
			result.abandoned, parameters.run.drain);
}

json info_to_json(const Parameters &parameters)
{
	const RunOptions &run = parameters.run;
	return {
		{"way", rpc::to_string(parameters.server.way)},
		{"threads", run.threads},
		{"connections_a_thread", run.connections},
		{"connections", run.all_connections()},
		{"depth", run.depth},
		{"sizes", run.sizes.text()},
		{"request_size", run.request_size},
		{"server_time", run.time / ns_per_us},
		{"slow_share", run.slow.share},
		{"slow_time", run.slow.time / ns_per_us},
		{"first_read", run.fetch.first_read},
		{"retries", run.fetch.retries},
		{"switch_after", run.fetch.slow_calls},
		{"hybrid", run.fetch.hybrid},
		{"paced", run.fetch.paced},
		{"seed", run.seed},
		{"warm_up", run.warm_up},
		{"duration", run.duration},
		{"calls", run.requests},
	};
}

json latencies_to_json(const RunOptions &run, const RunResult &result)
{
	json by_size = json::object();
	for (std::size_t i = 0; i < result.latency.size(); i++)
		by_size[std::to_string(run.sizes[i])] = bench::latency_to_json(result.latency[i]);
	return by_size;
}

json links_to_json(const rpc::LinkCounters &links)
{
	json object;
	for (const auto &[name, member] : link_counters)
		object[name] = links.*member;
	return object;
}

json usage_to_json(const bench::ProcessUsage &usage)
{
	return {
		{"cpu_user_ns", usage.user},
		{"cpu_system_ns", usage.system},
		{"resident", usage.resident},
		{"peak", usage.peak},
		{"allocated", usage.allocated},
		{"touched", usage.touched},
	};
}

json client_to_json(const RunResult &result)
{
	return {
		{"cpu_usec_a_call", client_time(result)},
		{"traffic", bench::traffic_to_json(result.traffic, result.calls)},
		{"idle", usage_to_json(result.client_idle)},
		{"before", usage_to_json(result.client_before)},
		{"after", usage_to_json(result.client_after)},
	};
}

json server_to_json(const RunResult &result)
{
	return {
		{"cpu_usec_a_call", server_time(result)},
		{"traffic", bench::traffic_to_json(server_traffic(result), served(result))},
		{"first", result.server_first.to_json()},
		{"before", result.server_before.to_json()},
		{"after", result.server_after.to_json()},
	};
}

json results_to_json(const Parameters &parameters, const RunResult &result)
{
	return {
		{"rate", result.rate()},
		{"seconds", static_cast<double>(result.nanoseconds) / 1e9},
		{"calls", result.calls},
		{"calls_in_time", result.in_time},
		{"slow_calls", result.slow},
		{"latency", bench::latency_to_json(result.all_latencies())},
		{"latency_by_size", latencies_to_json(parameters.run, result)},
		{"links", links_to_json(result.links)},
		{"client", client_to_json(result)},
		{"server", server_to_json(result)},
		{"wrong", result.wrong},
		{"abandoned", result.abandoned},
		{"clean", result.clean()},
	};
}

} // namespace

void print_report(std::FILE *out, const Parameters &parameters, const RunResult &result)
{
	print_header(out, parameters);
	print_latencies(out, parameters.run, result);
	print_rate(out, parameters.run, result);
	bench::print_traffic(out, result.traffic, result.calls, "call, at the client");
	bench::print_traffic(out, server_traffic(result), served(result), "call, at the server");
	print_links(out, result);
	print_memory(out, parameters, result);
	print_trouble(out, parameters, result);
	std::fflush(out);
}

json make_report(const Parameters &parameters, const RunResult &result)
{
	return {{"test_info", info_to_json(parameters)}, {"results", results_to_json(parameters, result)}};
}

} // namespace prism::echo
