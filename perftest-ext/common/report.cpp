/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "report.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

namespace prism::perftest
{

namespace
{

constexpr double ns_per_us = 1e3;
constexpr double bytes_per_mb = 1 << 20;

/* Returns the nearest rank in parts per thousand, in integers: 0.999 * 1000 must not round up to the thousand-first
 * sample. */
std::uint64_t nearest_rank(const std::vector<std::uint64_t> &sorted, std::size_t per_mille)
{
	const std::size_t rank = (sorted.size() * per_mille + 999) / 1000;
	return sorted[rank - 1];
}

double median(const std::vector<std::uint64_t> &sorted)
{
	const std::size_t middle = sorted.size() / 2;
	if (sorted.size() % 2)
		return static_cast<double>(sorted[middle]);
	return (static_cast<double>(sorted[middle - 1]) + static_cast<double>(sorted[middle])) / 2;
}

double mean(const std::vector<std::uint64_t> &samples)
{
	return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double sample_deviation(const std::vector<std::uint64_t> &samples, double average)
{
	if (samples.size() < 2)
		return 0;
	double squares = 0;
	for (const std::uint64_t sample : samples) {
		const double distance = static_cast<double>(sample) - average;
		squares += distance * distance;
	}
	return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

} // namespace

LatencyResult LatencySamples::result() const
{
	if (nanoseconds_.empty())
		return {};
	std::vector<std::uint64_t> sorted = nanoseconds_;
	std::sort(sorted.begin(), sorted.end());
	const double average = mean(sorted);
	return {
		.iterations = sorted.size(),
		.min = static_cast<double>(sorted.front()) / ns_per_us,
		.max = static_cast<double>(sorted.back()) / ns_per_us,
		.typical = median(sorted) / ns_per_us,
		.avg = average / ns_per_us,
		.stdev = sample_deviation(sorted, average) / ns_per_us,
		.p99 = static_cast<double>(nearest_rank(sorted, 990)) / ns_per_us,
		.p99_9 = static_cast<double>(nearest_rank(sorted, 999)) / ns_per_us,
	};
}

void BandwidthMeter::close_interval()
{
	const double rate =
		static_cast<double>(completed_ - interval_completed_) / static_cast<double>(last_ - interval_start_);
	best_rate_ = std::max(best_rate_, rate);
	interval_start_ = last_;
	interval_completed_ = completed_;
}

BandwidthResult BandwidthMeter::result() const
{
	if (last_ == start_)
		return {.iterations = completed_};
	const double rate = static_cast<double>(completed_) / static_cast<double>(last_ - start_);
	const double mb_per_message = static_cast<double>(bytes_) / bytes_per_mb;
	return {
		.iterations = completed_,
		.peak = std::max(best_rate_, rate) * 1e9 * mb_per_message,
		.average = rate * 1e9 * mb_per_message,
		.msg_rate = rate * 1e3,
	};
}

void print_line(std::FILE *out)
{
	static const std::string dashes(129, '-');
	std::fprintf(out, "%s\n", dashes.c_str());
}

void print_latency_columns(std::FILE *out)
{
	std::fprintf(out, " %-8s%-15s%-15s%-15s%-17s%-13s%-16s%-23s%s\n", "#bytes", "#iterations", "t_min[usec]",
		"t_max[usec]", "t_typical[usec]", "t_avg[usec]", "t_stdev[usec]", "99% percentile[usec]",
		"99.9% percentile[usec]");
}

void print_latency(std::FILE *out, std::size_t message_size, const LatencyResult &result)
{
	std::fprintf(out, " %-8zu%-15llu%-15.2f%-15.2f%-17.2f%-13.2f%-16.2f%-23.2f%.2f\n", message_size,
		static_cast<unsigned long long>(result.iterations), result.min, result.max, result.typical, result.avg,
		result.stdev, result.p99, result.p99_9);
	std::fflush(out);
}

void print_bandwidth_columns(std::FILE *out)
{
	std::fprintf(out, " %-11s%-15s%-19s%-22s%s\n", "#bytes", "#iterations", "BW peak[MB/sec]", "BW average[MB/sec]",
		"MsgRate[Mpps]");
}

void print_bandwidth(std::FILE *out, std::size_t message_size, const BandwidthResult &result)
{
	std::fprintf(out, " %-11zu%-15llu%-19.2f%-22.2f%.6f\n", message_size,
		static_cast<unsigned long long>(result.iterations), result.peak, result.average, result.msg_rate);
	std::fflush(out);
}

nlohmann::json to_json(std::size_t message_size, const LatencyResult &result)
{
	return {
		{"MsgSize", message_size},
		{"n_iterations", result.iterations},
		{"t_min", result.min},
		{"t_max", result.max},
		{"t_typical", result.typical},
		{"t_avg", result.avg},
		{"t_stdev", result.stdev},
		{"percentile_99", result.p99},
		{"percentile_99.9", result.p99_9},
	};
}

nlohmann::json to_json(std::size_t message_size, const BandwidthResult &result)
{
	return {
		{"MsgSize", message_size},
		{"n_iterations", result.iterations},
		{"BW_peak", result.peak},
		{"BW_average", result.average},
		{"MsgRate", result.msg_rate},
	};
}

std::string JsonOutput::write(const nlohmann::json &info, const nlohmann::json &results) const
{
	if (!enabled && file.empty())
		return {};
	const std::string name = file.empty() ? "perftest_out.json" : file;
	std::ofstream out(name, std::ios::trunc);
	out << nlohmann::json{{"test_info", info}, {"results", results}}.dump(2) << '\n';
	out.close();
	if (!out)
		return "cannot write " + name + ": " + std::strerror(errno);
	return {};
}

} // namespace prism::perftest
