/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The driver over a store in memory: its counts, its checks, its ends. */
#include <gtest/gtest.h>

#include <set>

#include "bench/tx/run.hpp"
#include "bench/tx/workloads/smallbank.hpp"
#include "bench/tx/workloads/ycsb_t.hpp"
#include "support/fake_systems.hpp"

namespace
{

using namespace tx_test;

class TxDriver : public testing::Test
{
protected:
	TxDriver()
	{
		options.requests = 1000;
		options.drain = 0.01;
		options.check = true;
		options.clock = &clock;
		ycsb_t.records = 50;
		ycsb_t.value_size = 32;
	}

	Result<RunResult> run_it(const FakeOptions &store_options = {})
	{
		const std::unique_ptr<Workload> workload = make_ycsb_t(ycsb_t).value();
		FakeStore store(store_options);
		return prism::tx::run(options, *workload, fake_clients(store, options.depth));
	}

	RunResult measure(const FakeOptions &store_options = {})
	{
		Result<RunResult> result = run_it(store_options);
		EXPECT_TRUE(result) << (result ? "" : result.error().message);
		return result ? *std::move(result) : RunResult();
	}

	TickingClock clock;
	RunOptions options;
	YcsbTOptions ycsb_t;
};

TEST_F(TxDriver, LoadsMeasuresAndChecks)
{
	options.clients = 3;
	options.depth = 4;
	const RunResult result = measure();
	EXPECT_EQ(result.of(Outcome::committed), 1000U);
	EXPECT_EQ(result.in_time, 1000U);
	EXPECT_EQ(result.totals.lowest[0], 1000);
	EXPECT_EQ(result.all_latencies().count(), 1000U);
	EXPECT_EQ(result.round_trips[2], 1000U) << "the fake's: one to fetch, one to commit";
	EXPECT_EQ(result.mean_round_trips(), 2);
	EXPECT_TRUE(result.checked);
	EXPECT_EQ(result.findings.texts(), std::vector<std::string>());
	EXPECT_TRUE(result.clean());
	EXPECT_GT(result.throughput(), 0);
}

TEST_F(TxDriver, ConflictsAreCountedButNotFailures)
{
	ycsb_t.theta = 1.2;
	options.clients = 2;
	options.depth = 8;
	const RunResult crowded = measure();
	EXPECT_TRUE(crowded.clean());
	EXPECT_GT(crowded.abort_rate(), 0.2);
	EXPECT_NEAR(crowded.abort_rate(), static_cast<double>(crowded.conflicts) / 1000, 1e-9);
	options.clients = options.depth = 1;
	EXPECT_EQ(measure().conflicts, 0U) << "alone";
}

TEST_F(TxDriver, LatencyHasAllAttempts)
{
	ycsb_t.theta = 1.2;
	options.depth = 8;
	const bench::LatencyHistogram crowded = measure().all_latencies();
	options.depth = 1;
	const bench::LatencyHistogram alone = measure().all_latencies();
	EXPECT_GT(crowded.percentile(99), 4 * alone.percentile(99));
}

TEST_F(TxDriver, TimeEndsTheRun)
{
	options.requests = 0;
	options.duration = 0.001;
	options.warm_up = 0.001;
	const RunResult result = measure();
	EXPECT_EQ(result.nanoseconds, 1'000'000U);
	EXPECT_GT(result.in_time, 100U);
	EXPECT_LE(result.of(Outcome::committed), result.in_time + 1);
	EXPECT_GT(result.totals.lowest[0], static_cast<std::int64_t>(result.of(Outcome::committed)))
		<< "what the warm-up has changed is known as well";
	EXPECT_EQ(result.findings.texts(), std::vector<std::string>());
}

TEST_F(TxDriver, FlawsAreFound)
{
	ycsb_t.theta = 0.99;
	options.depth = 8;
	FakeOptions flawed;
	flawed.flaw = Flaw::lost_update;
	const RunResult result = measure(flawed);
	EXPECT_EQ(result.findings.count(), 1U);
	EXPECT_FALSE(result.clean());
	options.check = false;
	EXPECT_TRUE(measure(flawed).clean()) << "nobody looked";
}

TEST_F(TxDriver, WhatFailsIsCounted)
{
	const std::unique_ptr<Workload> workload = make_ycsb_t(ycsb_t).value();
	FakeStore store;
	FakeClient loader(store, 1);
	for (std::uint64_t i = 0; i < workload->loads(); i++) {
		const std::unique_ptr<Program> program = workload->load(i);
		Job job;
		job.body = body_of(*program);
		ASSERT_EQ(loader.run(job), Outcome::committed);
	}
	FakeOptions failing;
	failing.failing_one_in = 5;
	failing.unknown_one_in = 5;
	store.set_options(failing);
	options.load = options.check = false;
	Result<RunResult> result = prism::tx::run(options, *workload, fake_clients(store, 1));
	ASSERT_TRUE(result) << result.error().message;
	EXPECT_GT(result->trouble, 100U) << "the bodies gave up with EIO";
	EXPECT_GT(result->of(Outcome::unknown), 50U);
	EXPECT_EQ(result->of(Outcome::committed) + result->of(Outcome::unknown) + result->trouble, 1000U);
	EXPECT_EQ(result->in_time, result->of(Outcome::committed));
	EXPECT_EQ(result->errors.all(),
		(std::map<int, std::uint64_t>{{EIO, result->trouble}, {ETIMEDOUT, result->of(Outcome::unknown)}}));
	EXPECT_FALSE(result->clean());
}

TEST_F(TxDriver, RollbacksOfTheWorkloadAreNoTrouble)
{
	SmallBankOptions bank;
	bank.accounts = 20;
	bank.hot_accounts = 2;
	const std::unique_ptr<Workload> workload = make_smallbank(bank).value();
	FakeStore store;
	options.requests = 3000;
	const Result<RunResult> result = prism::tx::run(options, *workload, fake_clients(store, 1));
	ASSERT_TRUE(result) << result.error().message;
	EXPECT_GT(result->of(Outcome::rolled_back), 0U);
	EXPECT_EQ(result->of(Outcome::rolled_back) + result->of(Outcome::committed), 3000U);
	EXPECT_EQ(result->in_time, result->of(Outcome::committed));
	EXPECT_TRUE(result->clean());
	EXPECT_EQ(result->kinds.size(), 6U);
}

TEST_F(TxDriver, NothingLoadedIsTrouble)
{
	options.load = options.check = false;
	const RunResult result = measure();
	EXPECT_EQ(result.trouble, 1000U);
	EXPECT_EQ(result.errors.all(), (std::map<int, std::uint64_t>{{ENOENT, 1000}}));
	EXPECT_FALSE(result.clean());
	options.check = true;
	EXPECT_EQ(measure().findings.count(), 50U) << "no object is there";
}

TEST_F(TxDriver, LoadingThatFailsIsAnError)
{
	FakeOptions narrow;
	narrow.largest_value = 31;
	const Result<RunResult> result = run_it(narrow);
	ASSERT_FALSE(result);
	EXPECT_EQ(result.error().code, EINVAL);
	EXPECT_NE(result.error().message.find("7 of 7 transactions"), std::string::npos) << result.error().message;
}

/** Tests a client whose transactions never end. */
TEST_F(TxDriver, AStoreThatStandsStillIsGivenUp)
{
	const std::unique_ptr<Workload> workload = make_ycsb_t(ycsb_t).value();
	FakeStore store;
	options.load = options.check = false;
	options.depth = 3;
	const auto stopped = [&](unsigned) -> Result<std::unique_ptr<TransactionClient>> {
		auto client = std::make_unique<FakeClient>(store, 3);
		client->stop();
		return std::unique_ptr<TransactionClient>(std::move(client));
	};
	const Result<RunResult> result = prism::tx::run(options, *workload, stopped);
	ASSERT_TRUE(result) << result.error().message;
	EXPECT_EQ(result->abandoned, 3U);
	EXPECT_FALSE(result->clean());
	options.load = true;
	const Result<RunResult> loading = prism::tx::run(options, *workload, stopped);
	ASSERT_FALSE(loading);
	EXPECT_EQ(loading.error().code, ETIMEDOUT);
}

TEST_F(TxDriver, EveryClientHasItsNumber)
{
	const std::unique_ptr<Workload> workload = make_ycsb_t(ycsb_t).value();
	FakeStore store;
	options.clients = 3;
	options.load = false;
	options.check = true;
	std::multiset<unsigned> numbers;
	const ClientFactory inner = fake_clients(store, 1);
	(void)prism::tx::run(options, *workload, [&](unsigned number) {
		numbers.insert(number);
		return inner(number);
	});
	EXPECT_EQ(numbers, (std::multiset<unsigned>{0, 1, 2, 3, 3})) << "3 looks at the store, before and after";
}

/** Tests threads whose clients each have their own store: their results are merged. */
TEST_F(TxDriver, ThreadsShareTheWork)
{
	const std::unique_ptr<Workload> workload = make_ycsb_t(ycsb_t).value();
	std::array<FakeStore, 3> stores;
	for (FakeStore &store : stores) {
		FakeClient loader(store, 1);
		for (std::uint64_t i = 0; i < workload->loads(); i++) {
			const std::unique_ptr<Program> program = workload->load(i);
			Job job;
			job.body = body_of(*program);
			ASSERT_EQ(loader.run(job), Outcome::committed);
		}
	}
	options.clock = &bench::monotonic_clock();
	options.load = options.check = false;
	options.threads = 3;
	options.drain = 10;
	const Result<RunResult> result =
		prism::tx::run(options, *workload, [&](unsigned number) -> Result<std::unique_ptr<TransactionClient>> {
			return std::unique_ptr<TransactionClient>(std::make_unique<FakeClient>(stores.at(number), 1));
		});
	ASSERT_TRUE(result) << result.error().message;
	EXPECT_EQ(result->of(Outcome::committed), 1000U);
	EXPECT_TRUE(result->clean());
}

TEST_F(TxDriver, AFailedConnectionEndsTheRunWithItsReason)
{
	const std::unique_ptr<Workload> workload = make_ycsb_t(ycsb_t).value();
	FakeStore store;
	options.threads = 2;
	options.clock = &bench::monotonic_clock();
	const ClientFactory inner = fake_clients(store, 1);
	const Result<RunResult> result =
		prism::tx::run(options, *workload, [&](unsigned number) -> Result<std::unique_ptr<TransactionClient>> {
			if (number == 1)
				return make_error(ECONNREFUSED, "connecting number one");
			return inner(number);
		});
	ASSERT_FALSE(result);
	EXPECT_EQ(result.error().code, ECONNREFUSED);
	EXPECT_NE(result.error().message.find("number one"), std::string::npos) << result.error().message;
}

TEST_F(TxDriver, NonsenseIsRefused)
{
	const auto refused = [this](auto change) {
		RunOptions wrong = options;
		change(wrong);
		const Result<void> checked = check(wrong);
		return !checked && checked.error().code == EINVAL;
	};
	EXPECT_TRUE(check(options));
	EXPECT_TRUE(refused([](RunOptions &o) { o.requests = 0; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.duration = 1; })) << "both";
	EXPECT_TRUE(refused([](RunOptions &o) { o.threads = 0; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.clients = 0; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.depth = 1 << 17; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.warm_up = -1; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.drain = 0; }));
}

} // namespace
