/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Percentiles compared with sorted samples, merging, conversion to JSON and back. */
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "bench/frame/measure.hpp"
#include "bench/frame/workload.hpp"

namespace
{

using namespace prism;
using namespace prism::bench;

TEST(LatencyHistogram, EmptyIsZero)
{
	const LatencyHistogram histogram;
	EXPECT_EQ(histogram.count(), 0U);
	EXPECT_EQ(histogram.min(), 0);
	EXPECT_EQ(histogram.max(), 0);
	EXPECT_EQ(histogram.mean(), 0);
	EXPECT_EQ(histogram.deviation(), 0);
	EXPECT_EQ(histogram.percentile(50), 0);
}

TEST(LatencyHistogram, OneSampleIsExact)
{
	LatencyHistogram histogram;
	histogram.add(12'345);
	for (const double percent : {0.1, 50.0, 99.9, 100.0})
		EXPECT_DOUBLE_EQ(histogram.percentile(percent), 12.345);
	EXPECT_DOUBLE_EQ(histogram.min(), 12.345);
	EXPECT_DOUBLE_EQ(histogram.mean(), 12.345);
	EXPECT_NEAR(histogram.deviation(), 0, 1e-6);
}

TEST(LatencyHistogram, PercentilesAreThoseOfTheSamples)
{
	LatencyHistogram histogram;
	Random random = make_random(4, 0);
	std::vector<std::uint64_t> samples;
	for (int i = 0; i < 10'000; i++) {
		const auto exponent = static_cast<unsigned>(random() % 20);
		samples.push_back(1000 + random() % (std::uint64_t{1000} << exponent));
	}
	for (const std::uint64_t sample : samples)
		histogram.add(sample);
	std::sort(samples.begin(), samples.end());
	for (const auto &[percent, rank] : {std::pair{50.0, 5000}, {90.0, 9000}, {99.0, 9900}, {99.9, 9990}}) {
		const double exact = static_cast<double>(samples[static_cast<std::size_t>(rank) - 1]) / 1e3;
		EXPECT_NEAR(histogram.percentile(percent) / exact, 1, 0.006) << percent; /* half a bin, and a little */
	}
	EXPECT_DOUBLE_EQ(histogram.percentile(100), static_cast<double>(samples.back()) / 1e3);
	EXPECT_DOUBLE_EQ(histogram.min(), static_cast<double>(samples.front()) / 1e3);
}

TEST(LatencyHistogram, NearestRankDoesNotRoundUp)
{
	LatencyHistogram histogram;
	for (int i = 0; i < 999; i++)
		histogram.add(1000);
	histogram.add(1'000'000);
	EXPECT_NEAR(histogram.percentile(99.9), 1, 0.006) << "999 of 1000 samples are 1 us";
	EXPECT_DOUBLE_EQ(histogram.percentile(99.91), 1000);
}

TEST(LatencyHistogram, DeviationIsThatOfTheSamples)
{
	LatencyHistogram histogram;
	for (const std::uint64_t sample : {2000, 4000, 4000, 4000, 5000, 5000, 7000, 9000})
		histogram.add(sample);
	EXPECT_DOUBLE_EQ(histogram.deviation(), 2);
	EXPECT_DOUBLE_EQ(LatencyHistogram::from_json(histogram.to_json()).deviation(), 2);
}

TEST(LatencyHistogram, OutOfRangeIsCounted)
{
	LatencyHistogram histogram;
	histogram.add(0);
	histogram.add(1);
	histogram.add(3'000'000'000'000);
	EXPECT_EQ(histogram.count(), 3U);
	EXPECT_LE(histogram.percentile(50), 0.01);
	EXPECT_DOUBLE_EQ(histogram.percentile(100), 3e9);
}

TEST(LatencyHistogram, MergingIsAddingAll)
{
	LatencyHistogram all;
	LatencyHistogram first;
	LatencyHistogram second;
	for (std::uint64_t i = 1; i <= 1000; i++) {
		all.add(i * i);
		(i % 3 ? first : second).add(i * i);
	}
	first.merge(second);
	first.merge(LatencyHistogram());
	EXPECT_EQ(first.to_json(), all.to_json());
	EXPECT_DOUBLE_EQ(first.percentile(90), all.percentile(90));
}

TEST(LatencyHistogram, ThroughJsonAndBack)
{
	LatencyHistogram histogram;
	for (std::uint64_t i = 0; i < 1000; i++)
		histogram.add(i * i * i);
	const LatencyHistogram copy = LatencyHistogram::from_json(histogram.to_json());
	EXPECT_EQ(copy.to_json(), histogram.to_json());
	EXPECT_DOUBLE_EQ(copy.percentile(99), histogram.percentile(99));
	EXPECT_EQ(LatencyHistogram::from_json(LatencyHistogram().to_json()).min(), 0);
	EXPECT_THROW((void)LatencyHistogram::from_json({{"samples", 1}}), nlohmann::json::exception);
	nlohmann::json beyond = histogram.to_json();
	beyond["bins"].push_back({1'000'000, 1});
	EXPECT_THROW((void)LatencyHistogram::from_json(beyond), std::out_of_range);
}

TEST(ProgressBar, IsSilentWhereThereIsNoTerminal)
{
	std::FILE *file = std::tmpfile();
	ASSERT_NE(file, nullptr);
	{
		ProgressBar bar(file);
		bar.show("measuring", 0.5, 10);
	}
	EXPECT_EQ(std::ftell(file), 0);
	std::fclose(file);
	ProgressBar none(nullptr);
	none.show("measuring", 0.5, 10);
}

} // namespace
