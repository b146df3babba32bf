/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/measure.hpp"

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

LatencyHistogram::LatencyHistogram() : bins(std::make_tuple(Axis(bins_per_decade * decades, lowest, highest))) {}

void LatencyHistogram::add(std::uint64_t nanoseconds) noexcept
{
	bins(static_cast<double>(nanoseconds));
	samples++;
	smallest = std::min(smallest, nanoseconds);
	largest = std::max(largest, nanoseconds);
	sum += static_cast<double>(nanoseconds);
}

void LatencyHistogram::merge(const LatencyHistogram &other)
{
	bins += other.bins;
	samples += other.samples;
	smallest = std::min(smallest, other.smallest);
	largest = std::max(largest, other.largest);
	sum += other.sum;
}

double LatencyHistogram::min() const noexcept
{
	return samples ? static_cast<double>(smallest) / ns_per_us : 0;
}

double LatencyHistogram::max() const noexcept
{
	return static_cast<double>(largest) / ns_per_us;
}

double LatencyHistogram::mean() const noexcept
{
	return samples ? sum / static_cast<double>(samples) / ns_per_us : 0;
}

double LatencyHistogram::percentile(double percent) const
{
	if (!samples)
		return 0;
	/* The small term keeps the rank of 99.9% of 1000 samples at 999, as 0.999 is not exact in binary. */
	const double exact_rank = static_cast<double>(samples) * percent / 100;
	const auto rank = std::clamp<std::uint64_t>(
		static_cast<std::uint64_t>(std::ceil(exact_rank - 1e-9 * exact_rank)), 1, samples);
	if (rank == samples)
		return max();
	std::uint64_t seen = 0;
	for (auto &&bin : boost::histogram::indexed(bins, boost::histogram::coverage::all)) {
		seen += *bin;
		if (seen < rank)
			continue;
		const double middle = std::sqrt(bin.bin().lower() * bin.bin().upper());
		return std::clamp(middle, static_cast<double>(smallest), static_cast<double>(largest)) / ns_per_us;
	}
	return max();
}

nlohmann::json LatencyHistogram::to_json() const
{
	nlohmann::json filled = nlohmann::json::array();
	for (auto &&bin : boost::histogram::indexed(bins, boost::histogram::coverage::all)) {
		if (*bin)
			filled.push_back({bin.index(), *bin});
	}
	return {{"samples", samples}, {"min", smallest}, {"max", largest}, {"sum", sum}, {"bins", filled}};
}

LatencyHistogram LatencyHistogram::from_json(const nlohmann::json &json)
{
	LatencyHistogram histogram;
	histogram.samples = json.at("samples").get<std::uint64_t>();
	histogram.smallest = json.at("min").get<std::uint64_t>();
	histogram.largest = json.at("max").get<std::uint64_t>();
	histogram.sum = json.at("sum").get<double>();
	for (const nlohmann::json &bin : json.at("bins"))
		histogram.bins.at(bin.at(0).get<int>()) = bin.at(1).get<std::uint64_t>();
	return histogram;
}

ProgressBar::ProgressBar(std::FILE *out) noexcept : terminal(out && isatty(fileno(out)) ? out : nullptr) {}

ProgressBar::~ProgressBar()
{
	clear();
}

void ProgressBar::show(std::string_view what, double share, std::uint64_t operations)
{
	if (!terminal)
		return;
	const auto filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * bar_width);
	fmt::print(terminal, "\r\033[K{:<10} [{:<{}}] {:3.0f}% {} operations", what,
		std::string(static_cast<std::size_t>(filled), '#'), bar_width, std::clamp(share, 0.0, 1.0) * 100,
		operations);
	std::fflush(terminal);
	shown = true;
}

void ProgressBar::clear()
{
	if (!shown)
		return;
	std::fputs("\r\033[K", terminal);
	std::fflush(terminal);
	shown = false;
}

} // namespace prism::bench
