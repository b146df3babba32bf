/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Results of a run: latencies as a histogram of bounded size, and the bar that shows its progress. */
#pragma once

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string_view>
#include <vector>

#include <boost/histogram.hpp>
#include <nlohmann/json.hpp>

namespace prism::bench
{

/**
 * Latencies in bins that are 1% wide, from 10 ns to 1000 s; smallest, largest, mean and deviation are exact. One thread
 * at a time; each thread fills its own, merge() combines them. add() does not allocate.
 */
class LatencyHistogram
{
public:
	LatencyHistogram();

	void add(std::uint64_t nanoseconds) noexcept;
	void merge(const LatencyHistogram &other);

	[[nodiscard]] std::uint64_t count() const noexcept { return samples_; }

	/* All in microseconds; 0 without samples. */
	[[nodiscard]] double min() const noexcept;
	[[nodiscard]] double max() const noexcept;
	[[nodiscard]] double mean() const noexcept;
	/** The standard deviation of all samples. */
	[[nodiscard]] double deviation() const noexcept;

	/**
	 * Returns the latency that this share of the samples does not exceed, by nearest rank.
	 * @param percent above 0, at most 100, as 99.9.
	 */
	[[nodiscard]] double percentile(double percent) const;

	/** Returns all data that merge() needs on the other side of a pipe. */
	[[nodiscard]] nlohmann::json to_json() const;
	/**
	 * Reverses to_json(). Throws nlohmann::json::exception or std::out_of_range if @p json did not come from
	 * to_json().
	 */
	[[nodiscard]] static LatencyHistogram from_json(const nlohmann::json &json);

private:
	using Axis = boost::histogram::axis::regular<double, boost::histogram::axis::transform::log>;
	using Bins = boost::histogram::histogram<std::tuple<Axis>, boost::histogram::dense_storage<std::uint64_t>>;

	Bins bins_;
	std::uint64_t samples_ = 0;
	std::uint64_t smallest_ = std::numeric_limits<std::uint64_t>::max();
	std::uint64_t largest_ = 0;
	double sum_ = 0;
	double squares_ = 0; /* the sum of them */
};

/** A bar on one line of a terminal; invisible elsewhere. Not for several threads. */
class ProgressBar
{
public:
	/** @param out output; used only if it is a terminal, and not null. Stays the caller's. */
	explicit ProgressBar(std::FILE *out) noexcept;
	ProgressBar(const ProgressBar &) = delete;
	ProgressBar &operator=(const ProgressBar &) = delete;
	~ProgressBar();

	/** @param share 0 to 1. @param what such as "measuring". @param operations done so far. */
	void show(std::string_view what, double share, std::uint64_t operations);

	/** Removes the bar. */
	void clear();

private:
	std::FILE *terminal_; /* not owned; null: not a terminal */
	bool shown_ = false;
};

} // namespace prism::bench
