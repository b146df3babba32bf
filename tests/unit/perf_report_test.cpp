/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "common/report.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

using namespace prism::perftest;

TEST(Report, EverySampleCounts)
{
	LatencySamples samples;
	for (std::uint64_t i = 1000; i > 0; i--)
		samples.add(i * 1000);
	const LatencyResult result = samples.result();
	EXPECT_EQ(result.iterations, 1000U);
	EXPECT_DOUBLE_EQ(result.min, 1);
	EXPECT_DOUBLE_EQ(result.max, 1000);
	EXPECT_DOUBLE_EQ(result.typical, 500.5);
	EXPECT_DOUBLE_EQ(result.avg, 500.5);
	EXPECT_NEAR(result.stdev, 288.819, 0.001);
	EXPECT_DOUBLE_EQ(result.p99, 990);
	EXPECT_DOUBLE_EQ(result.p99_9, 999);
}

TEST(Report, FewSamples)
{
	LatencySamples samples;
	EXPECT_EQ(samples.result().iterations, 0U);
	samples.add(2500);
	const LatencyResult result = samples.result();
	EXPECT_DOUBLE_EQ(result.typical, 2.5);
	EXPECT_DOUBLE_EQ(result.p99_9, 2.5);
	EXPECT_DOUBLE_EQ(result.stdev, 0);
}

TEST(Report, BandwidthCountsMebibytes)
{
	BandwidthMeter meter(1 << 20, 0);
	meter.update(10, 100'000'000);
	meter.update(12, 200'000'000);
	const BandwidthResult result = meter.result();
	EXPECT_EQ(result.iterations, 12U);
	EXPECT_NEAR(result.peak, 100, 1e-6);
	EXPECT_NEAR(result.average, 60, 1e-6);
	EXPECT_NEAR(result.msg_rate, 60e-6, 1e-12);
}

TEST(Report, JsonParses)
{
	const std::string file = testing::TempDir() + "/prism-report-" + std::to_string(::getpid()) + ".json";
	LatencySamples samples;
	samples.add(1234);
	const JsonOutput output{false, file};
	ASSERT_EQ(output.write({{"test", "x"}}, to_json(64, samples.result())), "");
	std::ifstream in(file);
	const auto read = nlohmann::json::parse(in);
	EXPECT_EQ(read["results"]["MsgSize"], 64);
	EXPECT_EQ(read["results"]["n_iterations"], 1);
	EXPECT_DOUBLE_EQ(read["results"]["percentile_99.9"], 1.234);
	::unlink(file.c_str());
}

TEST(Report, UnwritableFileIsAnError)
{
	const JsonOutput output{true, "/nonexistent/report.json"};
	EXPECT_NE(output.write({}, {}), "");
}
