/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The driver over a store in memory: its counts, its measurements, its ends. */
#include <set>

#include <gtest/gtest.h>

#include "bench/ycsb/run.hpp"
#include "fake_store.hpp"

namespace
{

using namespace prism;
using namespace prism::bench;
using namespace prism::ycsb;

using apps::Operation;
using apps::OperationKind;
using apps::Outcome;
using bench::Request;

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;

class DriverTest : public testing::Test
{
protected:
	DriverTest()
	{
		options.mix = bench::find_mix('C').value();
		options.distribution = bench::Distribution::uniform;
		options.records = 100;
		options.value_size = 32;
		options.requests = 1000;
		options.verify = true;
		options.drain = 1;
		behaviour.ticking = &clock;
		options.clock = &clock;
	}

	RunResult measure()
	{
		Result<RunResult> result = run(options, fake_clients(store, behaviour));
		EXPECT_TRUE(result) << (result ? "" : result.error().message);
		return result ? std::move(*result) : RunResult();
	}

	std::string failure()
	{
		const Result<RunResult> result = run(options, fake_clients(store, behaviour));
		EXPECT_FALSE(result);
		return result ? std::string() : result.error().message;
	}

	/* Uses real time, for several threads. */
	void use_real_clock()
	{
		behaviour.ticking = nullptr;
		options.clock = &monotonic_clock();
	}

	static const bench::LatencyHistogram &of(const RunResult &result, Request request)
	{
		return result.latency[static_cast<std::size_t>(request)];
	}

	FakeClock clock;
	FakeStore store;
	FakeBehaviour behaviour;
	RunOptions options;
};

TEST_F(DriverTest, LoadsEveryRecordOnceAndReads)
{
	options.clients = 3;
	options.depth = 4;
	const RunResult result = measure();
	EXPECT_EQ(store.content.size(), 100U);
	EXPECT_EQ(store.started, 100U + 1000U);
	EXPECT_EQ(result.requests, 1000U);
	EXPECT_EQ(result.in_time, 1000U);
	EXPECT_EQ(result.gets.of(Outcome::ok), 1000U);
	EXPECT_EQ(result.puts.total(), 0U);
	EXPECT_EQ(result.verified, 1000U);
	EXPECT_EQ(result.wrong_values, 0U);
	EXPECT_TRUE(result.clean(true));
}

TEST_F(DriverTest, LatencyOfAClosedLoopIsThatOfTheStore)
{
	behaviour.latency = [](std::uint64_t number) { return number % 100 == 99 ? 500 * us : 20 * us; };
	const RunResult result = measure();
	const bench::LatencyHistogram &reads = of(result, Request::read);
	EXPECT_EQ(reads.count(), 1000U);
	EXPECT_NEAR(reads.percentile(50), 20, 0.5);
	EXPECT_NEAR(reads.percentile(98.9), 20, 0.5);
	EXPECT_NEAR(reads.max(), 500, 1);
	EXPECT_NEAR(result.throughput(), 1e6 / (0.99 * 20 + 0.01 * 500), 1000) << "one request after another";
}

TEST_F(DriverTest, DepthAndClientsMultiplyTheThroughput)
{
	behaviour.latency = [](std::uint64_t) { return 100 * us; };
	behaviour.tick = 10;
	const double one = measure().throughput();
	options.depth = 4;
	const double deep = measure().throughput();
	options.clients = 2;
	const double two = measure().throughput();
	EXPECT_NEAR(deep / one, 4, 0.1);
	EXPECT_NEAR(two / deep, 2, 0.1);
}

/* Little's law: however long a turn of the driver takes, each client always has a request under way. */
TEST_F(DriverTest, ClientsOfOneThreadDoNotRestUncounted)
{
	behaviour.tick = 50 * us; /* each look at a client takes long, as if the thread had lost its core */
	behaviour.latency = [](std::uint64_t) { return us; };
	options.clients = 4;
	const RunResult result = measure();
	const bench::LatencyHistogram &reads = of(result, Request::read);
	const double in_flight =
		reads.mean() * static_cast<double>(reads.count()) * us / static_cast<double>(result.nanoseconds);
	EXPECT_NEAR(in_flight, 4, 0.1);
}

TEST_F(DriverTest, ShallowClientsAreTheLimit)
{
	behaviour.latency = [](std::uint64_t) { return 100 * us; };
	behaviour.depth = 2;
	options.depth = 8;
	const RunResult result = measure();
	EXPECT_EQ(result.requests, 1000U);
	EXPECT_NEAR(result.throughput(), 2 * 1e4, 500);
	EXPECT_NEAR(of(result, Request::read).percentile(50), 100, 1) << "a closed loop counts from what was taken";
}

TEST_F(DriverTest, TimeEndsTheRun)
{
	behaviour.latency = [](std::uint64_t) { return 100 * us; };
	options.requests = 0;
	options.duration = 0.01;
	const RunResult result = measure();
	EXPECT_EQ(result.nanoseconds, 10 * ms);
	EXPECT_NEAR(static_cast<double>(result.in_time), 100, 2);
	EXPECT_LE(result.requests, result.in_time + 1) << "what was under way at the end is awaited";
}

TEST_F(DriverTest, OpenLoopKeepsItsRate)
{
	behaviour.latency = [](std::uint64_t) { return 10 * us; };
	options.requests = 0;
	options.duration = 0.1;
	options.rate = 20'000;
	const RunResult result = measure();
	EXPECT_NEAR(static_cast<double>(result.requests), 2000, 1);
	EXPECT_NEAR(result.throughput(), 20'000, 20);
	EXPECT_NEAR(of(result, Request::read).percentile(99), 10, 0.5);
	EXPECT_EQ(result.backlog.count(), 0U);
}

/* The store stands still once, for 10 ms. Counting from the real start would show one slow request of a thousand. */
TEST_F(DriverTest, OpenLoopCountsFromWhenRequestsWereDue)
{
	behaviour.latency = [](std::uint64_t number) { return number == 100 + 500 ? 10 * ms : 5 * us; };
	options.rate = 10'000;
	const RunResult result = measure();
	EXPECT_EQ(result.requests, 1000U);
	const bench::LatencyHistogram &reads = of(result, Request::read);
	/* A hundred requests were due meanwhile and waited 10, 9.9 .. 0.1 ms; then about five more had to catch up. */
	EXPECT_NEAR(reads.percentile(50), 5, 0.3);
	EXPECT_NEAR(reads.percentile(95) / 5000, 1, 0.15);
	EXPECT_NEAR(reads.percentile(99) / 9500, 1, 0.1);
	EXPECT_NEAR(reads.max(), 10'000, 110);
}

TEST_F(DriverTest, OverloadIsReported)
{
	behaviour.latency = [](std::uint64_t) { return 100 * us; }; /* at most 10,000 a second */
	options.requests = 0;
	options.duration = 0.1;
	options.rate = 40'000;
	const RunResult result = measure();
	EXPECT_NEAR(result.throughput(), 10'000, 100);
	EXPECT_NEAR(static_cast<double>(result.requests + result.backlog.count()), 4000, 1) << "all that were due";
	EXPECT_NEAR(static_cast<double>(result.backlog.count()), 3000, 20);
	EXPECT_EQ(result.all_latencies().count(), result.requests + result.backlog.count());
	EXPECT_NEAR(of(result, Request::read).max(), 75'000, 1000) << "the last one was due at a quarter of the time";
	EXPECT_NEAR(result.backlog.max(), 75'000, 1000);
}

TEST_F(DriverTest, OutcomesAreCountedByKind)
{
	options.mix = bench::find_mix('A').value();
	options.requests = 4000;
	options.verify = false;
	behaviour.at_end = [](Operation &operation, std::uint64_t number) {
		if (number < 100)
			return;
		operation.round_trips = 1 + number % 4;
		if (operation.kind == OperationKind::get && number % 10 == 0)
			operation.outcome = Outcome::not_found;
		if (operation.kind == OperationKind::put && number % 10 == 1)
			operation.outcome = Outcome::full;
		if (number % 10 == 2) {
			operation.outcome = Outcome::failed;
			operation.error = number % 20 == 2 ? EIO : 100'000;
		}
	};
	const RunResult result = measure();
	EXPECT_EQ(result.requests, 4000U);
	EXPECT_EQ(result.gets.total() + result.puts.total(), 4000U);
	EXPECT_NEAR(static_cast<double>(result.gets.total()), 2000, 200);
	EXPECT_EQ(result.gets.of(Outcome::failed) + result.puts.of(Outcome::failed), 400U);
	EXPECT_EQ(result.errors.all(), (std::map<int, std::uint64_t>{{0, 200}, {EIO, 200}}));
	EXPECT_EQ(result.gets.of(Outcome::full), 0U);
	EXPECT_GT(result.gets.of(Outcome::not_found), 100U);
	EXPECT_GT(result.puts.of(Outcome::full), 100U);
	EXPECT_EQ(result.puts.of(Outcome::not_found), 0U);
	const std::uint64_t done = 4000 - 400 - result.puts.of(Outcome::full);
	EXPECT_EQ(result.in_time, done) << "neither what failed nor what was refused counts as throughput";
	EXPECT_EQ(result.all_latencies().count(), done);
	EXPECT_FALSE(result.clean(false));
	EXPECT_NEAR(result.gets.share_with(1), 0.25, 0.07);
	EXPECT_NEAR(result.gets.share_with_at_least(3), 0.5, 0.07);
	EXPECT_NEAR(
		result.gets.share_with(1) + result.gets.share_with(2) + result.gets.share_with_at_least(3), 1, 1e-9);
}

TEST_F(DriverTest, ReadModifyWriteIsMeasuredAsOne)
{
	options.mix = {'F', {0, 0, 0, 1}, bench::Distribution::uniform};
	behaviour.latency = [](std::uint64_t) { return 30 * us; };
	const RunResult result = measure();
	EXPECT_EQ(result.requests, 1000U);
	EXPECT_EQ(result.gets.of(Outcome::ok), 1000U);
	EXPECT_EQ(result.puts.of(Outcome::ok), 1000U);
	EXPECT_EQ(result.verified, 1000U);
	EXPECT_NEAR(of(result, Request::read_modify_write).percentile(50), 60, 1);
	EXPECT_EQ(of(result, Request::read).count(), 0U);
}

TEST_F(DriverTest, ReadModifyWriteEndsWithAFailedRead)
{
	options.mix = {'F', {0, 0, 0, 1}, bench::Distribution::uniform};
	behaviour.at_end = [](Operation &operation, std::uint64_t) {
		if (operation.kind == OperationKind::get) {
			operation.outcome = Outcome::failed;
			operation.error = ENOTCONN;
		}
	};
	const RunResult result = measure();
	EXPECT_EQ(result.requests, 1000U);
	EXPECT_EQ(result.puts.total(), 0U);
	EXPECT_EQ(result.errors.all(), (std::map<int, std::uint64_t>{{ENOTCONN, 1000}}));
	EXPECT_EQ(result.throughput(), 0);
}

TEST_F(DriverTest, InsertsAddRecordsThatAreRead)
{
	options.mix = bench::find_mix('D').value();
	options.distribution = bench::Distribution::latest;
	options.requests = 5000;
	options.depth = 8;
	behaviour.latency = [](std::uint64_t number) { return (number % 7) * us; };
	const RunResult result = measure();
	EXPECT_TRUE(result.clean(true)) << "no read came before its insert";
	const std::uint64_t inserted = of(result, Request::insert).count();
	EXPECT_NEAR(static_cast<double>(inserted), 250, 80);
	EXPECT_EQ(store.content.size(), 100 + inserted);
}

TEST_F(DriverTest, WrongValuesAreFound)
{
	behaviour.at_end = [](Operation &operation, std::uint64_t number) {
		if (operation.kind != OperationKind::get)
			return;
		if (number % 100 == 0)
			operation.result[20] ^= std::byte{4};
		if (number % 100 == 1)
			operation.length--;
	};
	const RunResult result = measure();
	EXPECT_EQ(result.verified, 1000U);
	EXPECT_EQ(result.wrong_values, 20U);
	EXPECT_FALSE(result.clean(true));
	options.verify = false;
	const RunResult unchecked = measure();
	EXPECT_EQ(unchecked.verified, 0U);
}

TEST_F(DriverTest, RefusedOperationsAreFailures)
{
	behaviour.answer = [](std::uint64_t number) { return number >= 100 && number % 2 ? EINVAL : 0; };
	const RunResult result = measure();
	EXPECT_EQ(result.requests, 1000U);
	EXPECT_EQ(result.gets.of(Outcome::failed), 500U);
	EXPECT_EQ(result.errors.all(), (std::map<int, std::uint64_t>{{EINVAL, 500}}));
}

TEST_F(DriverTest, AFullStoreEndsTheLoading)
{
	store.capacity = 60;
	const std::string message = failure();
	EXPECT_NE(message.find("40 of 100 records"), std::string::npos) << message;
	EXPECT_NE(message.find("more room"), std::string::npos) << message;
}

TEST_F(DriverTest, SizesThatTheStoreRefusesEndTheLoading)
{
	behaviour.answer = [](std::uint64_t) { return EINVAL; };
	const std::string message = failure();
	EXPECT_NE(message.find("keys of 8 bytes with values of 32: give a smaller --size"), std::string::npos)
		<< message;
}

TEST_F(DriverTest, WhatNeverEndsIsGivenUp)
{
	options.depth = 2;
	behaviour.tick = 100 * us;
	behaviour.latency = [](std::uint64_t number) { return number == 300 ? FakeBehaviour::never : us; };
	const RunResult result = measure();
	EXPECT_EQ(result.abandoned, 1U);
	EXPECT_EQ(result.requests, 999U) << "the other slot goes on";
	EXPECT_FALSE(result.clean(false));
}

TEST_F(DriverTest, LoadingThatNeverEndsIsAnError)
{
	behaviour.tick = 100 * us;
	behaviour.latency = [](std::uint64_t number) { return number == 30 ? FakeBehaviour::never : us; };
	EXPECT_NE(failure().find("not stored"), std::string::npos);
}

TEST_F(DriverTest, WarmUpIsNotMeasured)
{
	behaviour.latency = [this](std::uint64_t) { return clock.now() < 6 * ms ? 200 * us : 10 * us; };
	options.load = false;
	options.verify = false;
	options.warm_up = 0.01;
	const RunResult result = measure();
	EXPECT_EQ(result.requests, 1000U);
	EXPECT_LT(of(result, Request::read).max(), 11);
	EXPECT_EQ(result.gets.of(Outcome::not_found), 1000U) << "nothing was loaded";
}

TEST_F(DriverTest, TheSameSeedGivesTheSameRequests)
{
	const auto sequence = [this](std::uint64_t seed) {
		std::vector<std::string> keys;
		FakeBehaviour recording = behaviour;
		recording.at_end = [&keys](Operation &operation, std::uint64_t) {
			keys.emplace_back(reinterpret_cast<const char *>(operation.key.data()), operation.key.size());
		};
		options.seed = seed;
		EXPECT_TRUE(run(options, fake_clients(store, recording)));
		return keys;
	};
	EXPECT_EQ(sequence(5), sequence(5));
	EXPECT_NE(sequence(5), sequence(6));
}

TEST_F(DriverTest, ThreadsShareTheWork)
{
	use_real_clock();
	options.threads = 4;
	options.mix = bench::find_mix('D').value();
	options.distribution = bench::Distribution::latest;
	options.requests = 10'001;
	options.depth = 4;
	const RunResult result = measure();
	EXPECT_EQ(result.requests, 10'001U);
	EXPECT_EQ(store.content.size(), 100 + of(result, Request::insert).count());
	EXPECT_TRUE(result.clean(true)) << result.gets.of(Outcome::not_found) << " not found";
}

TEST_F(DriverTest, EveryClientHasItsNumber)
{
	use_real_clock();
	options.threads = 3;
	options.clients = 2;
	std::mutex mutex;
	std::set<unsigned> numbers;
	const ClientFactory inner = fake_clients(store, behaviour);
	const Result<RunResult> result = run(options, [&](unsigned number) {
		const std::lock_guard lock(mutex);
		numbers.insert(number);
		return inner(number);
	});
	ASSERT_TRUE(result);
	EXPECT_EQ(numbers, (std::set<unsigned>{0, 1, 2, 3, 4, 5}));
}

TEST_F(DriverTest, OneFailedConnectionEndsAllWithItsReason)
{
	use_real_clock();
	options.threads = 4;
	const ClientFactory inner = fake_clients(store, behaviour);
	const Result<RunResult> result =
		run(options, [&](unsigned number) -> Result<std::unique_ptr<apps::StoreClient>> {
			if (number == 2)
				return make_error(ECONNREFUSED, "connecting number two");
			return inner(number);
		});
	ASSERT_FALSE(result);
	EXPECT_EQ(result.error().code, ECONNREFUSED);
	EXPECT_NE(result.error().message.find("number two"), std::string::npos) << result.error().message;
}

TEST_F(DriverTest, NonsenseIsRefused)
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
	EXPECT_TRUE(refused([](RunOptions &o) { o.records = 0; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.key_size = 0; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.key_size = 251; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.key_size = 1; })) << "100 records need more than 64 keys";
	EXPECT_TRUE(refused([](RunOptions &o) { o.threads = 0; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.depth = 1 << 17; }));
	EXPECT_TRUE(refused([](RunOptions &o) { o.rate = -1; }));
	options.processes = 2;
	EXPECT_FALSE(run(options, fake_clients(store, behaviour))) << "run() does not fork";
}

} // namespace
