/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

#include "bench/frame/workload.hpp"
#include "bench/tx/workloads/ycsb_t.hpp"
#include "support/run_workload.hpp"

namespace
{

using namespace tx_test;

YcsbTOptions small()
{
	YcsbTOptions options;
	options.records = 50;
	options.value_size = 64;
	return options;
}

std::unique_ptr<Workload> make(const YcsbTOptions &options)
{
	return make_ycsb_t(options).value();
}

TEST(YcsbT, EveryChangeIsCounted)
{
	YcsbTOptions options = small();
	options.keys = 3;
	options.theta = 0.99;
	const Trial trial = attempt(*make(options), {}, 3000);
	EXPECT_EQ(trial.findings.texts(), std::vector<std::string>());
	EXPECT_EQ(trial.tally.all_committed(), 3000U);
	EXPECT_EQ(trial.tally.totals.lowest[0], 9000);
	EXPECT_GT(trial.tally.attempts, 3300U) << "there were conflicts to be survived";
	EXPECT_EQ(trial.objects, 50U);
	EXPECT_EQ(trial.largest_value, 64U);
}

TEST(YcsbT, ReadOnlyTransactionsChangeNothing)
{
	YcsbTOptions options = small();
	options.read_only = 0.75;
	const Trial trial = attempt(*make(options), {}, 4000);
	EXPECT_EQ(trial.findings.texts(), std::vector<std::string>());
	EXPECT_NEAR(static_cast<double>(trial.tally.committed.at(1)), 3000, 150);
	EXPECT_EQ(trial.tally.totals.lowest[0], static_cast<std::int64_t>(trial.tally.committed.at(0)));
}

TEST(YcsbT, FlawsAreFound)
{
	YcsbTOptions options = small();
	options.keys = 2;
	options.theta = 0.99;
	const std::unique_ptr<Workload> workload = make(options);
	for (const Flaw flaw : {Flaw::lost_update, Flaw::half_committed, Flaw::lost_commit}) {
		FakeOptions store;
		store.flaw = flaw;
		const Trial trial = attempt(*workload, store, 2000);
		EXPECT_GT(trial.flawed, 0U);
		EXPECT_EQ(trial.findings.count(), 1U) << "the sum is wrong, for flaw " << static_cast<int>(flaw);
	}
}

TEST(YcsbT, OutcomesThatAreNotKnownMakeARange)
{
	FakeOptions store;
	store.unknown_one_in = 10;
	const Trial trial = attempt(*make(small()), store, 1000);
	EXPECT_EQ(trial.findings.texts(), std::vector<std::string>());
	EXPECT_GT(trial.tally.unknown, 50U);
	EXPECT_EQ(trial.tally.totals.highest[0] - trial.tally.totals.lowest[0],
		static_cast<std::int64_t>(trial.tally.unknown));
}

TEST(YcsbT, TransactionsThatFailChangeNothing)
{
	FakeOptions store;
	store.failing_one_in = 10;
	const Trial trial = attempt(*make(small()), store, 1000);
	EXPECT_EQ(trial.findings.texts(), std::vector<std::string>());
	EXPECT_GT(trial.tally.errors.at(EIO), 50U);
	EXPECT_EQ(trial.tally.all_committed() + trial.tally.errors.at(EIO), 1000U);
}

TEST(YcsbT, DamagedObjectsAreFound)
{
	const std::unique_ptr<Workload> workload = make(small());
	FakeStore store;
	FakeClient client(store, 1);
	load(*workload, client);
	Key key;
	bench::fill_key(7, key);
	const std::string name(reinterpret_cast<const char *>(key.data()), key.size());
	std::string value = *store.at(name).value;
	value[20] ^= 1;
	store.change(name, value);
	const Survey after = survey(*workload, client);
	ASSERT_EQ(after.findings.count(), 1U);
	EXPECT_EQ(after.findings.texts()[0], "object 7 is damaged");
	EXPECT_GT(run(*workload, client, 500).errors[EBADMSG], 0U) << "transactions that meet it say so";
	store.change(name, {});
	EXPECT_EQ(survey(*workload, client).findings.texts()[0], "object 7 is not there");
	EXPECT_GT(run(*workload, client, 500).errors[ENOENT], 0U);
}

/** Returns the keys that the workload's transactions ask for, recorded by a fake Transaction. */
std::vector<std::string> keys_of(const Workload &workload, std::uint64_t seed, std::uint64_t terminal, int count)
{
	FakeStore store;
	class Recorder final : public Transaction
	{
	public:
		explicit Recorder(std::vector<std::string> &to) : keys(to) {}
		using Transaction::fetch;
		apps::Task<int> fetch(std::span<const Bytes> wanted) override
		{
			for (const Bytes key : wanted)
				keys.emplace_back(reinterpret_cast<const char *>(key.data()), key.size());
			co_return EIO;
		}
		[[nodiscard]] std::optional<Bytes> value(Bytes) const noexcept override { return {}; }
		int write(Bytes, Bytes) noexcept override { return EIO; }
		int erase(Bytes) noexcept override { return EIO; }
		apps::Task<void> begin() override { co_return; }
		apps::Task<Outcome> commit() override { co_return Outcome::failed; }
		apps::Task<void> roll_back() override { co_return; }
		[[nodiscard]] int error() const noexcept override { return EIO; }
		[[nodiscard]] std::uint32_t round_trips() const noexcept override { return 0; }
		std::vector<std::string> &keys;
	};
	std::vector<std::string> keys;
	Recorder recorder(keys);
	const std::unique_ptr<Terminal> its = workload.terminal(seed, terminal);
	for (int i = 0; i < count; i++) {
		const std::unique_ptr<Program> program = its->next();
		apps::Task<int> task = program->run(recorder);
		task.start();
		EXPECT_TRUE(task.done());
	}
	return keys;
}

TEST(YcsbT, ASeedRepeatsTheTransactions)
{
	const std::unique_ptr<Workload> workload = make(small());
	EXPECT_EQ(keys_of(*workload, 1, 2, 100), keys_of(*workload, 1, 2, 100));
	EXPECT_NE(keys_of(*workload, 1, 2, 100), keys_of(*workload, 1, 3, 100));
	EXPECT_NE(keys_of(*workload, 1, 2, 100), keys_of(*workload, 2, 2, 100));
}

TEST(YcsbT, KeysOfATransactionDiffer)
{
	YcsbTOptions options = small();
	options.records = 12;
	options.keys = 10;
	options.theta = 1.2;
	const std::vector<std::string> keys = keys_of(*make(options), 1, 0, 50);
	ASSERT_EQ(keys.size(), 500U);
	for (std::size_t first = 0; first < keys.size(); first += 10)
		EXPECT_EQ(std::set<std::string>(keys.begin() + static_cast<std::ptrdiff_t>(first),
				  keys.begin() + static_cast<std::ptrdiff_t>(first) + 10)
				  .size(),
			10U);
}

TEST(YcsbT, SkewMakesSomeRecordsPopular)
{
	constexpr int drawn = 50'000;
	const auto largest_share = [](double theta) {
		YcsbTOptions options = small();
		options.theta = theta;
		std::map<std::string, int> counts;
		for (const std::string &key : keys_of(*make(options), 1, 0, drawn))
			counts[key]++;
		int most = 0;
		for (const auto &[key, count] : counts)
			most = std::max(most, count);
		return static_cast<double>(most) / drawn;
	};
	/* Share of the first of 50 ranks: 1 / (1 + 2^-theta + ... + 50^-theta) */
	EXPECT_NEAR(largest_share(0), 0.02, 0.003);
	EXPECT_NEAR(largest_share(0.99), 0.2185, 0.01);
	EXPECT_NEAR(largest_share(1.2), 0.3020, 0.01);
}

TEST(YcsbT, NumberedKeysAreTheRecords)
{
	YcsbTOptions options = small();
	options.numbered = true;
	for (const std::string &key : keys_of(*make(options), 1, 0, 100)) {
		std::uint64_t number = 0;
		ASSERT_EQ(key.size(), sizeof(number));
		std::memcpy(&number, key.data(), sizeof(number));
		EXPECT_LT(number, 50U);
	}
	EXPECT_EQ(attempt(*make(options), {}, 200).findings.count(), 0U);
}

TEST(YcsbT, NonsenseIsRefused)
{
	const auto refused = [](auto change) {
		YcsbTOptions options = small();
		change(options);
		const auto made = make_ycsb_t(options);
		return !made && made.error().code == EINVAL;
	};
	EXPECT_FALSE(refused([](YcsbTOptions &) {}));
	EXPECT_TRUE(refused([](YcsbTOptions &o) { o.keys = 0; }));
	EXPECT_TRUE(refused([](YcsbTOptions &o) { o.keys = most_ycsb_keys + 1; }));
	EXPECT_TRUE(refused([](YcsbTOptions &o) { o.records = 0; }));
	EXPECT_TRUE(refused([](YcsbTOptions &o) { o.keys = 9, o.records = 8; }));
	EXPECT_TRUE(refused([](YcsbTOptions &o) { o.value_size = 15; }));
	EXPECT_TRUE(refused([](YcsbTOptions &o) { o.theta = -0.1; }));
	EXPECT_TRUE(refused([](YcsbTOptions &o) { o.theta = std::numeric_limits<double>::quiet_NaN(); }));
	EXPECT_TRUE(refused([](YcsbTOptions &o) { o.read_only = 1.1; }));
}

} // namespace
