/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Output of every measuring tool: perftest's columns, and the same figures as JSON.
 *
 * Differences from perftest, on purpose: every sample counts (perftest drops two before it takes percentiles),
 * deviations are not truncated to integers, and the JSON parses.
 *
 * None of this is thread-safe: one thread collects, the same thread reports.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace prism::perftest
{

/** Latencies of one run, in microseconds. All zero if there were no samples. */
struct LatencyResult {
	std::uint64_t iterations = 0;
	double min = 0;
	double max = 0;
	double typical = 0; /**< the median, as in perftest */
	double avg = 0;
	double stdev = 0; /**< of the sample: divided by n - 1 */
	double p99 = 0;
	double p99_9 = 0;
};

/** Collects one latency per iteration. */
class LatencySamples
{
public:
	/** Reserves room for @p iterations samples, so that add() does not allocate during a measurement. */
	void reserve(std::size_t iterations) { nanoseconds_.reserve(iterations); }

	/** Adds an iteration of @p ns nanoseconds. A tool that reports half round trips halves before it adds. */
	void add(std::uint64_t ns) { nanoseconds_.push_back(ns); }

	[[nodiscard]] std::size_t size() const { return nanoseconds_.size(); }

	/** Samples in order of collection, as printed by perftest's --report-unsorted. */
	[[nodiscard]] const std::vector<std::uint64_t> &samples() const { return nanoseconds_; }

	/** Returns the results. Percentiles are by nearest rank: the smallest sample that at least that share of all
	 * does not exceed. */
	[[nodiscard]] LatencyResult result() const;

private:
	std::vector<std::uint64_t> nanoseconds_;
};

/** Throughput of one run. MB is 2^20 bytes and Mpps 10^6 messages, as in perftest. */
struct BandwidthResult {
	std::uint64_t iterations = 0;
	double peak = 0;     /**< MB/s, the best interval of the run */
	double average = 0;  /**< MB/s over the whole run */
	double msg_rate = 0; /**< millions of messages per second over the whole run */
};

/** Turns counts and times into a BandwidthResult. */
class BandwidthMeter
{
public:
	/** Begins a run at @p start_ns; each iteration moves @p message_size bytes. */
	BandwidthMeter(std::size_t message_size, std::uint64_t start_ns)
		: bytes_(message_size), start_(start_ns), last_(start_ns), interval_start_(start_ns)
	{
	}

	/** Notes that @p total iterations have completed by @p now_ns; cheap, call it after each poll that found
	 * something. */
	void update(std::uint64_t total, std::uint64_t now_ns)
	{
		completed_ = total;
		last_ = now_ns;
		if (now_ns - interval_start_ >= interval_ns)
			close_interval();
	}

	[[nodiscard]] BandwidthResult result() const;

private:
	/** Long enough that a late wake-up does not make a peak, short enough that a second has many. */
	static constexpr std::uint64_t interval_ns = 50'000'000;

	void close_interval();

	std::size_t bytes_;
	std::uint64_t start_;
	std::uint64_t last_;
	std::uint64_t completed_ = 0;
	std::uint64_t interval_start_;
	std::uint64_t interval_completed_ = 0;
	double best_rate_ = 0; /* messages per nanosecond */
};

/** Prints the dashes between perftest's sections. */
void print_line(std::FILE *out);

void print_latency_columns(std::FILE *out);
void print_latency(std::FILE *out, std::size_t message_size, const LatencyResult &result);

void print_bandwidth_columns(std::FILE *out);
void print_bandwidth(std::FILE *out, std::size_t message_size, const BandwidthResult &result);

/** Returns an object with perftest's keys: MsgSize, n_iterations, t_min, ... percentile_99.9. */
nlohmann::json to_json(std::size_t message_size, const LatencyResult &result);

/** Returns an object with perftest's keys: MsgSize, n_iterations, BW_peak, BW_average, MsgRate. */
nlohmann::json to_json(std::size_t message_size, const BandwidthResult &result);

/** perftest's --out_json and --out_json_file. */
struct JsonOutput {
	bool enabled = false;
	std::string file; /**< empty: perftest_out.json in the working directory */

	/**
	 * Writes { "test_info": @p info, "results": @p results } if enabled; naming a file enables as well. @p results
	 * is one object, or an array of them when a run measured several sizes.
	 * @return an error text, empty on success.
	 */
	[[nodiscard]] std::string write(const nlohmann::json &info, const nlohmann::json &results) const;
};

} // namespace prism::perftest
