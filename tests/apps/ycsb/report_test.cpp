/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Printed and written reports of a run. */
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "../support/printed.hpp"
#include "bench/ycsb/report.hpp"

namespace
{

using namespace prism;
using namespace prism::bench;
using namespace prism::ycsb;

class ReportTest : public testing::Test
{
protected:
	ReportTest()
	{
		parameters.system = "some-store";
		parameters.run.mix = bench::find_mix('A').value();
		parameters.run.verify = true;
		result.nanoseconds = 2'000'000'000;
		result.requests = 11;
		result.in_time = 10;
		for (std::uint64_t i = 1; i <= 10; i++)
			result.latency[0].add(i * 1000);
		apps::Operation get;
		get.round_trips = 1;
		for (int i = 0; i < 3; i++)
			result.gets.add(get);
		get.round_trips = 12;
		result.gets.add(get);
		get.outcome = apps::Outcome::failed;
		result.gets.add(get);
		result.errors.add(ENOTCONN);
		result.verified = 4;
		result.wrong_values = 1;
		result.first_wrong = 77;
	}

	std::string printed()
	{
		return test::printed_by([this](std::FILE *file) { print_report(file, parameters, result); });
	}

	Parameters parameters;
	RunResult result;
};

TEST_F(ReportTest, Table)
{
	const std::string text = printed();
	for (const char *words : {"some-store YCSB-A", "closed loop", "zipfian 0.99", "throughput: 5 requests/s",
		     "GET: 4 ok 1 failed; round trips: 1 75.00%, 2 0.00%, 3+ 25.00%", "not connected",
		     "verified: 4 values, 1 wrong", "record 77"})
		EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
	EXPECT_EQ(text.find("PUT"), std::string::npos) << "there were none";
	EXPECT_EQ(text.find("overload"), std::string::npos);
}

TEST_F(ReportTest, RoundTripsThatNobodyCountedAreLeftOut)
{
	result.gets = {};
	apps::Operation get;
	get.outcome = apps::Outcome::ok;
	result.gets.add(get);
	const std::string text = printed();
	EXPECT_NE(text.find("GET: 1 ok\n"), std::string::npos) << text;
}

TEST_F(ReportTest, BacklogIsShown)
{
	result.backlog.add(5'000'000);
	const std::string text = printed();
	EXPECT_NE(text.find("overload: 1 requests"), std::string::npos) << text;
	EXPECT_NE(text.find("(not begun)"), std::string::npos) << text;
}

TEST_F(ReportTest, TrafficIsOfARequest)
{
	EXPECT_EQ(printed().find("packets"), std::string::npos) << "a system that counts none";
	EXPECT_TRUE(make_report(parameters, result).at("results").at("traffic").is_null());

	Traffic at_first;
	at_first.tx_packets = 5;
	Traffic at_last{38, 22, 11, 11, 1100, 550};
	result.traffic = at_last.since(at_first);
	RunResult other = RunResult::from_json(result.to_json());
	other.requests = 0;
	result.merge(other);
	const std::string text = printed();
	EXPECT_NE(text.find("a request: 6.00 packets sent in 4.00 trains, 2.00 received in 2.00; bytes: 200 and 100"),
		std::string::npos)
		<< text;
	const nlohmann::json report = make_report(parameters, result);
	EXPECT_EQ(report.at("results").at("traffic").at("tx_trains"), 4.0);
	EXPECT_THROW((void)Traffic::from_json({{"tx_packets", 1}}), nlohmann::json::exception);
}

TEST_F(ReportTest, Json)
{
	const nlohmann::json report = make_report(parameters, result);
	const nlohmann::json &results = report.at("results");
	EXPECT_EQ(report.at("test_info").at("system"), "some-store");
	EXPECT_EQ(report.at("test_info").at("clients"), 1);
	EXPECT_EQ(results.at("throughput"), 5.0);
	EXPECT_EQ(results.at("latency").at("n_iterations"), 10);
	EXPECT_NEAR(results.at("latency").at("t_typical").get<double>(), 5, 0.03);
	EXPECT_EQ(results.at("latency_by_request").size(), 1U);
	EXPECT_EQ(results.at("get").at("ok"), 4);
	EXPECT_EQ(results.at("get").at("round_trips").at(8), 1) << "eight and more";
	EXPECT_EQ(results.at("get").at("share_1_round_trip"), 0.75);
	EXPECT_EQ(results.at("wrong_values"), 1);
	EXPECT_FALSE(results.at("clean").get<bool>());
	EXPECT_EQ(results.at("errors").size(), 1U);
}

TEST_F(ReportTest, FilesThatCannotBeWrittenAreAnError)
{
	parameters.json_file = "/proc/none/report.json";
	EXPECT_FALSE(write_report(parameters, result));
	parameters.json_file.clear();
	EXPECT_TRUE(write_report(parameters, result));
}

} // namespace
