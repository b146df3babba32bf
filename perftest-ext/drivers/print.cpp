/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "drivers/print.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace prism::perftest
{

namespace
{

constexpr double gbits_per_mb = 8.0 * (1 << 20) / 1e9;

void print_gbit_columns()
{
	fmt::print(" {:<11}{:<15}{:<19}{:<22}{}\n", "#bytes", "#iterations", "BW peak[Gb/sec]", "BW average[Gb/sec]",
		"MsgRate[Mpps]");
}

void print_result(const Parameters &, const Row &row, const LatencyResult &result)
{
	print_latency(stdout, row.size, result);
}

void print_result(const Parameters &parameters, const Row &row, BandwidthResult result)
{
	if (parameters.report_gbits) {
		result.peak *= gbits_per_mb;
		result.average *= gbits_per_mb;
	}
	print_bandwidth(stdout, row.size, result);
}

void print_samples(const Parameters &parameters, const Row &row)
{
	std::vector<std::uint64_t> samples = row.samples;
	if (!parameters.unsorted)
		std::sort(samples.begin(), samples.end());
	fmt::print("#, usec\n");
	for (std::size_t i = 0; i < samples.size(); i++)
		fmt::print("{}, {:.3f}\n", i + 1, static_cast<double>(samples[i]) / 1e3);
}

void print_row(const Parameters &parameters, const Row &row, bool labelled)
{
	if (labelled)
		fmt::print(" {}: {} ({} round trip{})\n", row.name, row.label, row.round_trips,
			row.round_trips == 1 ? "" : "s");
	std::visit([&](const auto &result) { print_result(parameters, row, result); }, row.result);
	if (row.empty_list)
		fmt::print(" {} jobs were done again because the free list was empty\n", row.empty_list);
	if (const std::string traffic = row.traffic.to_text(row.counted_jobs); !traffic.empty())
		fmt::print(" {}\n", traffic);
	if (parameters.histogram && !row.samples.empty())
		print_samples(parameters, row);
}

void print_ratios(const std::vector<Row> &rows)
{
	const std::string &first = rows.front().name;
	const bool latency = std::holds_alternative<LatencyResult>(rows.front().result);
	for (const Ratio &ratio : ratios(rows)) {
		if (latency)
			fmt::print(" ratio of medians, {} : {} = {:.2f}\n", ratio.name, first, ratio.times);
		else
			fmt::print(" ratio of message rates, {} : {} = {:.2f}\n", first, ratio.name, ratio.times);
	}
}

} // namespace

void print_waiting(const Parameters &parameters)
{
	fmt::print("\n************************************\n"
		   "* Waiting for client to connect... *\n"
		   "************************************\n");
	if (parameters.port != Parameters{}.port)
		fmt::print(" on TCP port {}\n", parameters.port);
	std::fflush(stdout);
}

void print_header(const Parameters &parameters, const Endpoint &end, const Geometry &plan)
{
	const bool latency = parameters.tool.metric == Metric::latency;
	print_line(stdout);
	fmt::print("                    {} {} Test\n", parameters.tool.name(), latency ? "Latency" : "BW");
	fmt::print(" Device          : {}\n", end.device_name());
	fmt::print(" Connection type : RC\t\tMTU             : {}[B]\n", end.mtu());
	fmt::print(" Number of qps   : {}\t\tJobs in flight  : {} a QP\n", plan.qps, plan.depth);
	print_line(stdout);
	if (latency)
		print_latency_columns(stdout);
	else if (parameters.report_gbits)
		print_gbit_columns();
	else
		print_bandwidth_columns(stdout);
	std::fflush(stdout);
}

void print_rows(const Parameters &parameters, const std::vector<Row> &rows)
{
	auto begin = rows.begin();
	while (begin != rows.end()) {
		const auto end =
			std::find_if(begin, rows.end(), [&](const Row &row) { return row.size != begin->size; });
		const std::vector<Row> of_one_size(begin, end);
		for (const Row &row : of_one_size)
			print_row(parameters, row, of_one_size.size() > 1);
		print_ratios(of_one_size);
		begin = end;
	}
	std::fflush(stdout);
}

} // namespace prism::perftest
