/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <gtest/gtest.h>

#include "bench/tx/workloads/smallbank.hpp"
#include "support/run_workload.hpp"

namespace
{

using namespace tx_test;

SmallBankOptions small()
{
	SmallBankOptions options;
	options.accounts = 60;
	options.hot_accounts = 6;
	return options;
}

std::unique_ptr<Workload> make(const SmallBankOptions &options = small())
{
	return make_smallbank(options).value();
}

TEST(SmallBank, MoneyStaysInTheBank)
{
	const Trial trial = attempt(*make(), {}, 5000);
	EXPECT_EQ(trial.findings.texts(), std::vector<std::string>());
	EXPECT_GT(trial.tally.attempts, 5200U) << "there were conflicts to be survived";
	EXPECT_EQ(trial.objects, 120U);
	EXPECT_EQ(trial.largest_value, make()->largest_value());
	EXPECT_GE(trial.before.sums[0], 120 * 10'000'00);
	EXPECT_LE(trial.before.sums[0], 120 * 50'000'00);
}

TEST(SmallBank, MixOfSixKinds)
{
	const Trial trial = attempt(*make(), {}, 10000);
	std::map<unsigned, std::uint64_t> all = trial.tally.committed;
	for (const auto &[kind, count] : trial.tally.rolled_back)
		all[kind] += count;
	ASSERT_EQ(all.size(), 6U);
	for (unsigned kind = 0; kind < 6; kind++)
		EXPECT_NEAR(static_cast<double>(all[kind]), kind == 5 ? 2500 : 1500, 150) << make()->kinds()[kind];
}

/** Checks that sending from accounts emptied by Amalgamate, and taking from their savings, is refused. */
TEST(SmallBank, EmptyAccountsRollTransactionsBack)
{
	const Trial trial = attempt(*make(), {}, 5000);
	EXPECT_GT(trial.tally.rolled_back.at(2), 0U) << "transact-savings";
	EXPECT_GT(trial.tally.rolled_back.at(5), 0U) << "send-payment";
	for (const unsigned kind : {0U, 1U, 3U, 4U})
		EXPECT_EQ(trial.tally.rolled_back.at(kind), 0U) << make()->kinds()[kind];
	EXPECT_EQ(trial.tally.errors.size(), 1U);
	EXPECT_EQ(trial.tally.errors.count(own_rollback), 1U);
}

TEST(SmallBank, FlawsAreFound)
{
	for (const Flaw flaw : {Flaw::lost_update, Flaw::half_committed, Flaw::lost_commit}) {
		FakeOptions store;
		store.flaw = flaw;
		const Trial trial = attempt(*make(), store, 3000);
		EXPECT_GT(trial.flawed, 0U);
		EXPECT_GE(trial.findings.count(), 1U) << "the sum is wrong, for flaw " << static_cast<int>(flaw);
	}
}

TEST(SmallBank, OutcomesThatAreNotKnownMakeARange)
{
	FakeOptions store;
	store.unknown_one_in = 10;
	const Trial trial = attempt(*make(), store, 1000);
	EXPECT_EQ(trial.findings.texts(), std::vector<std::string>());
	EXPECT_LT(trial.tally.totals.lowest[0], trial.tally.totals.highest[0]);
}

TEST(SmallBank, HotCustomersMeetEachOther)
{
	SmallBankOptions calm = small();
	calm.accounts = 10'000;
	calm.hot_share = 0;
	SmallBankOptions hot = calm;
	hot.hot_share = 1;
	hot.hot_accounts = 4;
	EXPECT_LT(attempt(*make(calm), {}, 2000).tally.attempts, 2010U);
	EXPECT_GT(attempt(*make(hot), {}, 2000).tally.attempts, 3000U);
}

TEST(SmallBank, NumberedKeys)
{
	SmallBankOptions options = small();
	options.numbered = true;
	const std::unique_ptr<Workload> workload = make(options);
	FakeStore store;
	FakeClient client(store, 1);
	load(*workload, client);
	for (std::uint64_t number = 0; number < 120; number++)
		EXPECT_TRUE(store.at(std::string(reinterpret_cast<const char *>(&number), sizeof(number))).value)
			<< number;
}

TEST(SmallBank, NonsenseIsRefused)
{
	const auto refused = [](auto change) {
		SmallBankOptions options = small();
		change(options);
		const auto made = make_smallbank(options);
		return !made && made.error().code == EINVAL;
	};
	EXPECT_FALSE(refused([](SmallBankOptions &) {}));
	EXPECT_TRUE(refused([](SmallBankOptions &o) { o.accounts = 1; }));
	EXPECT_TRUE(refused([](SmallBankOptions &o) { o.hot_accounts = 61; }));
	EXPECT_TRUE(refused([](SmallBankOptions &o) { o.hot_accounts = 1; }));
	EXPECT_TRUE(refused([](SmallBankOptions &o) { o.hot_share = -1; }));
}

} // namespace
