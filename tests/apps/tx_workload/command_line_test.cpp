/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Command line of prism-tx-bench, and its reports. */
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../support/printed.hpp"
#include "bench/tx/parameters.hpp"
#include "bench/tx/report.hpp"

namespace
{

using namespace prism;
using namespace prism::tx;

Systems one_system()
{
	Systems systems;
	systems.add({"first", "the first one",
		[](const SystemOptions &) -> Result<ClientFactory> { return make_error(ENOTSUP, "none"); }});
	return systems;
}

std::variant<Parameters, cli::EarlyExit> parse(std::vector<const char *> arguments)
{
	arguments.insert(arguments.begin(), "prism-tx-bench");
	return parse_parameters(one_system(), static_cast<int>(arguments.size()), arguments.data());
}

Parameters accept(const std::vector<const char *> &arguments)
{
	const auto parsed = parse(arguments);
	if (const auto *early = std::get_if<cli::EarlyExit>(&parsed)) {
		ADD_FAILURE() << early->text;
		return {};
	}
	return std::get<Parameters>(parsed);
}

void refuse(const std::vector<const char *> &arguments, const std::string &words)
{
	const auto parsed = parse(arguments);
	const auto *early = std::get_if<cli::EarlyExit>(&parsed);
	ASSERT_NE(early, nullptr) << "accepted, expected a refusal with: " << words;
	EXPECT_EQ(early->code, 2);
	EXPECT_NE(early->text.find(words), std::string::npos) << early->text;
}

TEST(TxCommandLine, Defaults)
{
	const Parameters parameters = accept({"--system=first"});
	EXPECT_EQ(parameters.workload->name(), "ycsb-t");
	EXPECT_EQ(parameters.connection.shards.size(), 1U);
	EXPECT_EQ(parameters.connection.value_size, 512U);
	EXPECT_EQ(parameters.connection.key_size, 8U);
	EXPECT_EQ(parameters.ycsb_t.records, 100'000U);
	EXPECT_EQ(parameters.ycsb_t.keys, 1U);
	EXPECT_EQ(parameters.ycsb_t.theta, 0);
	EXPECT_EQ(parameters.run.duration, 5);
	EXPECT_TRUE(parameters.run.load);
	EXPECT_FALSE(parameters.run.check);
}

TEST(TxCommandLine, EverythingArrives)
{
	const Parameters parameters = accept(
		{"--system=first", "--shards=one:1,two:2", "-d", "prism_lo", "--records=77", "--keys=3", "-s", "100",
			"--theta=0.5", "--read-only=0.25", "--numbered", "--threads=2", "--clients=4", "--depth=5",
			"-n", "1000", "--warm-up=0.5", "--no-load", "--check", "--seed=9", "--json=report.json"});
	EXPECT_EQ(parameters.connection.shards.size(), 2U);
	EXPECT_EQ(parameters.connection.device, "prism_lo");
	EXPECT_EQ(parameters.connection.depth, 5U);
	EXPECT_EQ(parameters.connection.seed, 9U);
	EXPECT_TRUE(parameters.connection.numbered);
	EXPECT_EQ(parameters.ycsb_t.records, 77U);
	EXPECT_EQ(parameters.ycsb_t.value_size, 100U);
	EXPECT_EQ(parameters.ycsb_t.theta, 0.5);
	EXPECT_EQ(parameters.ycsb_t.read_only, 0.25);
	EXPECT_TRUE(parameters.ycsb_t.numbered);
	EXPECT_EQ(parameters.run.all_clients(), 8U);
	EXPECT_EQ(parameters.run.requests, 1000U);
	EXPECT_EQ(parameters.run.duration, 0);
	EXPECT_FALSE(parameters.run.load);
	EXPECT_TRUE(parameters.run.check);
	EXPECT_EQ(parameters.json_file, "report.json");
	EXPECT_TRUE(accept({"--system=first", "--load"}).run.load);
}

TEST(TxCommandLine, OtherWorkloads)
{
	const Parameters bank = accept({"--system=first", "--workload=smallbank", "--records=1000", "--hot-share=0.5"});
	EXPECT_EQ(bank.workload->name(), "smallbank");
	EXPECT_EQ(bank.smallbank.hot_accounts, 40U) << "4%";
	EXPECT_EQ(bank.connection.value_size, 8U);
	EXPECT_EQ(bank.workload->objects(), 2000U);
	const Parameters orders = accept({"--system=first", "--workload=tpcc", "--warehouses=3", "--items=50",
		"--customers=20", "--remote-items=0.5", "--remote-payments=0.25"});
	EXPECT_EQ(orders.workload->name(), "tpcc");
	EXPECT_EQ(orders.tpcc.warehouses, 3U);
	EXPECT_EQ(orders.tpcc.remote_items, 0.5);
	EXPECT_EQ(orders.tpcc.remote_payments, 0.25);
	EXPECT_LE(orders.connection.value_size, 704U) << "what tx_figures tells its servers";
	EXPECT_EQ(orders.connection.most_keys, 50U);
}

TEST(TxCommandLine, Refusals)
{
	refuse({}, "--system");
	refuse({"--system=third"}, "third");
	refuse({"--system=first", "--workload=tpce"}, "tpce");
	refuse({"--system=first", "-D", "1", "-n", "5"}, "excludes");
	refuse({"--system=first", "--shards", ""}, "1 to 4095 shards");
	refuse({"--system=first", "--shards=host:0"}, "host:0");
	refuse({"--system=first", "--records=0"}, "0 records");
	refuse({"--system=first", "--nodes=2"}, "first has no --nodes");
	refuse({"--system=first", "--keys=0"}, "transactions of 0 keys");
	refuse({"--system=first", "--keys=40"}, "1 to 32");
	refuse({"--system=first", "-s", "8"}, "values of 8 bytes");
	refuse({"--system=first", "--theta=-1"}, "below 0");
	refuse({"--system=first", "--read-only=2"}, "between 0 and 1");
	refuse({"--system=first", "--warehouses=2"}, "ycsb-t has no --warehouses");
	refuse({"--system=first", "--workload=smallbank", "--theta=0.5"}, "smallbank has no --theta");
	refuse({"--system=first", "--workload=smallbank", "--records=10", "--hot-records=11"}, "11 hot customers");
	refuse({"--system=first", "--workload=tpcc", "--records=10"}, "tpcc has no --records");
	refuse({"--system=first", "--workload=tpcc", "--numbered"}, "tpcc has no --numbered");
	refuse({"--system=first", "--workload=tpcc", "--warehouses=0"}, "0 warehouses");
	refuse({"--system=first", "--threads=0"}, "at least 1");
	refuse({"--system=first", "--timeout=0"}, "timeout");
	refuse({"--system=first", "--rate=5"}, "rate");
}

TEST(TxCommandLine, HelpNamesTheSystems)
{
	const auto parsed = parse({"--help"});
	const auto &early = std::get<cli::EarlyExit>(parsed);
	EXPECT_EQ(early.code, 0);
	EXPECT_NE(early.text.find("the first one"), std::string::npos) << early.text;
}

class TxReport : public testing::Test
{
protected:
	TxReport()
	{
		parameters = accept({"--system=first", "--read-only=0.5", "-n", "10"});
		result.kinds.resize(2);
		const std::unique_ptr<Terminal> terminal = parameters.workload->terminal(1, 0);
		for (unsigned i = 1; i <= 10; i++)
			add(*terminal, i, Outcome::committed, 0, 1 + i % 2);
		add(*terminal, 11, Outcome::rolled_back, own_rollback, 1);
		add(*terminal, 12, Outcome::rolled_back, ENOENT, 1);
		add(*terminal, 13, Outcome::conflict, EAGAIN, 7);
		add(*terminal, 14, Outcome::unknown, ETIMEDOUT, 1);
		result.in_time = 10;
		result.nanoseconds = 2'000'000'000;
	}

	void add(Terminal &terminal, std::uint64_t us, Outcome outcome, int error, unsigned attempts)
	{
		Job job;
		job.outcome = outcome;
		job.error = error;
		job.attempts = attempts;
		job.round_trips = us % 2 ? 2 : 3;
		result.add(*terminal.next(), job, us * 1000);
	}

	std::string printed()
	{
		return test::printed_by([this](std::FILE *file) { print_report(file, parameters, result); });
	}

	Parameters parameters;
	RunResult result;
};

TEST_F(TxReport, Table)
{
	result.checked = true;
	result.findings.add("the money is gone");
	const std::string text = printed();
	for (const char *words : {"first ycsb-t Test", "100000 of 512 B, 1 a transaction, uniform",
		     "throughput: 5 commits/s (10 in 2.000 s)", "10 committed 2 rolled_back 1 conflict 1 unknown",
		     "conflicts: 12 (1.2000 for each commit); round trips of a commit: 2.50", "1 times No such file",
		     "checked: 1 findings", "the money is gone"})
		EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
	EXPECT_EQ(text.find("given up"), std::string::npos);
}

TEST_F(TxReport, TrafficIsOfACommit)
{
	EXPECT_EQ(printed().find("packets"), std::string::npos) << "a system that counts none";
	EXPECT_TRUE(make_report(parameters, result).at("results").at("traffic").is_null());

	result.traffic = {50, 30, 45, 20, 1200, 700};
	const std::string text = printed();
	EXPECT_NE(text.find("a commit: 5.00 packets sent in 3.00 trains, 4.50 received in 2.00; bytes: 120 and 70"),
		std::string::npos)
		<< text;
	const nlohmann::json report = make_report(parameters, result);
	EXPECT_EQ(report.at("results").at("traffic").at("rx_packets"), 4.5);
}

TEST_F(TxReport, Json)
{
	const nlohmann::json report = make_report(parameters, result);
	const nlohmann::json &results = report.at("results");
	EXPECT_EQ(report.at("test_info").at("workload"), "ycsb-t");
	EXPECT_EQ(report.at("test_info").at("workload_options").at("read_only"), 0.5);
	EXPECT_EQ(results.at("throughput"), 5.0);
	EXPECT_EQ(results.at("committed"), 10);
	EXPECT_EQ(results.at("rolled_back"), 2);
	EXPECT_EQ(results.at("conflict"), 1);
	EXPECT_EQ(results.at("unknown"), 1);
	EXPECT_EQ(results.at("failed"), 0);
	EXPECT_EQ(results.at("conflicts"), 12) << "5 of those that committed, and all 7 of the one that did not";
	EXPECT_EQ(results.at("abort_rate"), 1.2);
	EXPECT_EQ(results.at("mean_round_trips"), 2.5);
	EXPECT_EQ(results.at("latency").at("n_iterations"), 10);
	EXPECT_NEAR(results.at("latency").at("t_avg").get<double>(), 5.5, 1e-6);
	EXPECT_EQ(results.at("by_transaction").size(), 2U);
	EXPECT_FALSE(results.at("clean").get<bool>());
}

} // namespace
