/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The driver in several processes: merged results, failures of one of them. */
#include <csignal>

#include <gtest/gtest.h>
#include <unistd.h>

#include "bench/ycsb/run.hpp"
#include "fake_store.hpp"

namespace
{

using namespace prism;
using namespace prism::bench;
using namespace prism::ycsb;

using apps::Outcome;
using Client = Result<std::unique_ptr<apps::StoreClient>>;

class ProcessesTest : public testing::Test
{
protected:
	ProcessesTest()
	{
		options.mix = bench::find_mix('A').value();
		options.distribution = bench::Distribution::uniform;
		options.records = 30;
		options.value_size = 64;
		options.processes = 3;
		options.requests = 1000;
		options.drain = 5;
	}

	/* Each process has its own store: the fork copies the memory. */
	FactoryOpener opener()
	{
		return [this]() -> Result<ClientFactory> { return fake_clients(store, {}); };
	}

	RunOptions options;
	FakeStore store;
};

TEST_F(ProcessesTest, ResultsAreMerged)
{
	const Result<RunResult> result = run_processes(options, opener());
	ASSERT_TRUE(result) << result.error().message;
	EXPECT_EQ(result->requests, 1000U);
	EXPECT_EQ(result->gets.total() + result->puts.total(), 1000U);
	EXPECT_EQ(result->puts.of(Outcome::ok), result->puts.total());
	EXPECT_GT(result->gets.of(Outcome::not_found), 0U) << "each process loaded its third, into its own store";
	EXPECT_GT(result->gets.of(Outcome::ok), 0U);
	EXPECT_EQ(result->all_latencies().count(), 1000U);
	EXPECT_TRUE(store.content.empty()) << "nothing ran in this process";
}

TEST_F(ProcessesTest, OneProcessDoesNotFork)
{
	options.processes = 1;
	const Result<RunResult> result = run_processes(options, opener());
	ASSERT_TRUE(result) << result.error().message;
	EXPECT_EQ(store.content.size(), 30U);
}

TEST_F(ProcessesTest, TheReasonOfAFailureArrives)
{
	const Result<RunResult> result = run_processes(options, [this]() -> Result<ClientFactory> {
		return ClientFactory([this](unsigned number) -> Client {
			if (number == 1)
				return make_error(EHOSTUNREACH, "connecting number one");
			return std::unique_ptr<apps::StoreClient>(std::make_unique<FakeClient>(store, FakeBehaviour{}));
		});
	});
	ASSERT_FALSE(result);
	EXPECT_EQ(result.error().code, EHOSTUNREACH);
	EXPECT_NE(result.error().message.find("number one"), std::string::npos) << result.error().message;
}

TEST_F(ProcessesTest, AProcessThatDiesEndsTheRun)
{
	const Result<RunResult> result = run_processes(options, [this]() -> Result<ClientFactory> {
		return ClientFactory([this](unsigned number) -> Client {
			if (number == 2)
				raise(SIGKILL);
			return std::unique_ptr<apps::StoreClient>(std::make_unique<FakeClient>(store, FakeBehaviour{}));
		});
	});
	ASSERT_FALSE(result);
	EXPECT_NE(result.error().message.find("signal 9"), std::string::npos) << result.error().message;
}

TEST_F(ProcessesTest, OpeningMayFail)
{
	const Result<RunResult> result = run_processes(
		options, []() -> Result<ClientFactory> { return make_error(ENODEV, "opening the device"); });
	ASSERT_FALSE(result);
	EXPECT_EQ(result.error().code, ENODEV);
}

TEST_F(ProcessesTest, ResultsGoThroughJsonAndBack)
{
	Result<RunResult> result = run_processes(options, opener());
	ASSERT_TRUE(result);
	result->errors.add(EIO);
	result->wrong_values = 3;
	result->first_wrong = 17;
	result->backlog.add(1000);
	EXPECT_EQ(RunResult::from_json(result->to_json()).to_json(), result->to_json());
	EXPECT_THROW((void)RunResult::from_json(nlohmann::json::object()), nlohmann::json::exception);
}

} // namespace
