/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/measure.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

namespace prism::bench
{

namespace
{

constexpr double ns_per_us = 1e3;
constexpr double lowest = 10; /* ns */
constexpr double highest = 1e12;
constexpr unsigned bins_per_decade = 231; /* ln 10 / ln 1.01 */
constexpr unsigned decades = 11;

constexpr int bar_width = 40;

} // namespace

LatencyHistogram::LatencyHistogram() : bins_(std::make_tuple(Axis(bins_per_decade * decades, lowest, highest))) {}

void LatencyHistogram::add(std::uint64_t nanoseconds) noexcept
{
	bins_(static_cast<double>(nanoseconds));
	samples_++;
	smallest_ = std::min(smallest_, nanoseconds);
	largest_ = std::max(largest_, nanoseconds);
	const auto sample = static_cast<double>(nanoseconds);
	sum_ += sample;
	squares_ += sample * sample;
}

void LatencyHistogram::merge(const LatencyHistogram &other)
{
	bins_ += other.bins_;
	samples_ += other.samples_;
	smallest_ = std::min(smallest_, other.smallest_);
	largest_ = std::max(largest_, other.largest_);
	sum_ += other.sum_;
	squares_ += other.squares_;
}

double LatencyHistogram::min() const noexcept
{
	return samples_ ? static_cast<double>(smallest_) / ns_per_us : 0;
}

double LatencyHistogram::max() const noexcept
{
	return static_cast<double>(largest_) / ns_per_us;
}

double LatencyHistogram::mean() const noexcept
{
	return samples_ ? sum_ / static_cast<double>(samples_) / ns_per_us : 0;
}

double LatencyHistogram::deviation() const noexcept
{
	if (!samples_)
		return 0;
	const double average = sum_ / static_cast<double>(samples_);
	const double variance = squares_ / static_cast<double>(samples_) - average * average;
	return std::sqrt(std::max(variance, 0.0)) / ns_per_us;
}

double LatencyHistogram::percentile(double percent) const
{
	if (!samples_)
		return 0;
	/* The small term keeps the rank of 99.9% of 1000 samples at 999, as 0.999 is not exact in binary. */
	const double exact_rank = static_cast<double>(samples_) * percent / 100;
	const auto rank = std::clamp<std::uint64_t>(
		static_cast<std::uint64_t>(std::ceil(exact_rank - 1e-9 * exact_rank)), 1, samples_);
	if (rank == samples_)
		return max();
	std::uint64_t seen = 0;
	for (auto &&bin : boost::histogram::indexed(bins_, boost::histogram::coverage::all)) {
		seen += *bin;
		if (seen < rank)
			continue;
		const double middle = std::sqrt(bin.bin().lower() * bin.bin().upper());
		return std::clamp(middle, static_cast<double>(smallest_), static_cast<double>(largest_)) / ns_per_us;
	}
	return max();
}

nlohmann::json LatencyHistogram::to_json() const
{
	nlohmann::json filled = nlohmann::json::array();
	for (auto &&bin : boost::histogram::indexed(bins_, boost::histogram::coverage::all)) {
		if (*bin)
			filled.push_back({bin.index(), *bin});
	}
	return {{"samples", samples_}, {"min", smallest_}, {"max", largest_}, {"sum", sum_}, {"squares", squares_},
		{"bins", filled}};
}

LatencyHistogram LatencyHistogram::from_json(const nlohmann::json &json)
{
	LatencyHistogram histogram;
	histogram.samples_ = json.at("samples").get<std::uint64_t>();
	histogram.smallest_ = json.at("min").get<std::uint64_t>();
	histogram.largest_ = json.at("max").get<std::uint64_t>();
	histogram.sum_ = json.at("sum").get<double>();
	histogram.squares_ = json.at("squares").get<double>();
	for (const nlohmann::json &bin : json.at("bins"))
		histogram.bins_.at(bin.at(0).get<int>()) = bin.at(1).get<std::uint64_t>();
	return histogram;
}

ProgressBar::ProgressBar(std::FILE *out) noexcept : terminal_(out && isatty(fileno(out)) ? out : nullptr) {}

ProgressBar::~ProgressBar()
{
	clear();
}

void ProgressBar::show(std::string_view what, double share, std::uint64_t operations)
{
	if (!terminal_)
		return;
	const auto filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * bar_width);
	fmt::print(terminal_, "\r\033[K{:<10} [{:<{}}] {:3.0f}% {} operations", what,
		std::string(static_cast<std::size_t>(filled), '#'), bar_width, std::clamp(share, 0.0, 1.0) * 100,
		operations);
	std::fflush(terminal_);
	shown_ = true;
}

void ProgressBar::clear()
{
	if (!shown_)
		return;
	std::fputs("\r\033[K", terminal_);
	std::fflush(terminal_);
	shown_ = false;
}

} // namespace prism::bench
