/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PRISM's ways on the same hardware. */
#include <gtest/gtest.h>

#include "bench/rpc/model/parameters.hpp"

namespace
{

using namespace prism::rpc::model;

Results run(Way way, unsigned under_way = 1, Time process_time = 0.5)
{
	Parameters parameters;
	parameters.way = way;
	parameters.under_way = under_way;
	parameters.process_time = process_time;
	return simulate(parameters);
}

TEST(VariantsTest, EightAnswersAReadReachTenMillionCalls)
{
	const Results results = run(Way::window, 8);
	EXPECT_NEAR(1 / results.reads, 8, 0.5);
	EXPECT_NEAR(results.rate, 10.0, 0.1);
}

TEST(VariantsTest, AWindowsRateFollowsFromTheAnswersOfARead)
{
	for (const unsigned under_way : {2U, 4U, 16U}) {
		const Results results = run(Way::window, under_way);
		EXPECT_NEAR(results.rate, 11.26 / (1 + results.reads), 0.1) << under_way;
	}
}

/* Such a NIC receives SENDs as slowly as it sends them. */
TEST(VariantsTest, AWindowWhoseRequestsAreSendsIsNoGainOnSuchANic)
{
	EXPECT_LT(run(Way::window_send).rate, run(Way::two_sided).rate);
	EXPECT_LT(run(Way::window_send, 8).rate, run(Way::two_sided).rate * 1.1);
}

/* No READ finds nothing but a new window. */
TEST(VariantsTest, AWindowsReadsBringAnswers)
{
	EXPECT_LT(run(Way::window_send).reads, 1.2);
	EXPECT_LT(run(Way::window, 8).failed_fetches, 0.02);
}

TEST(VariantsTest, SlotsAreAsFastAsRfpOfShortAnswers)
{
	EXPECT_GT(run(Way::slots).rate, run(Way::fetch).rate * 0.93);
	EXPECT_GT(run(Way::slots, 1, 3).rate, run(Way::fetch, 1, 3).rate); /* fewer READs too early */
}

/* With slower servers, slots beat RFP only by their pace: RFP with a pace is as fast. */
TEST(VariantsTest, SlotsAreAheadOfRfpByTheirPaceAlone)
{
	for (const Time process_time : {3.0, 5.0, 7.0}) {
		const Results paced = run(Way::fetch_paced, 1, process_time), slots = run(Way::slots, 1, process_time);
		EXPECT_NEAR(slots.rate, paced.rate, 0.02 * paced.rate) << process_time;
		EXPECT_LT(paced.failed_fetches, run(Way::fetch, 1, process_time).failed_fetches / 2) << process_time;
	}
}

TEST(VariantsTest, APacedReadIsSeldomTooEarly)
{
	EXPECT_LT(run(Way::slots, 1, 1).failed_fetches, 0.15);
	EXPECT_LT(run(Way::slots, 1, 7).failed_fetches, 0.5);
	EXPECT_GT(run(Way::fetch_only, 1, 7).failed_fetches, 2);
}

TEST(VariantsTest, OneClientWaitsForASlotsAnswerNoLongerThanForAMessage)
{
	Parameters parameters;
	parameters.nodes = parameters.threads = 1;
	for (const Time process_time : {0.2, 1.0, 3.0, 7.0}) {
		parameters.process_time = process_time;
		parameters.way = Way::two_sided;
		const Time message = simulate(parameters).median;
		parameters.way = Way::slots;
		EXPECT_LT(simulate(parameters).median, message) << process_time;
	}
}

/* RFP must guess one F for all sizes; a bounded pointer fetches the actual size. */
TEST(VariantsTest, MixedSizesNeedNoGuess)
{
	Parameters parameters;
	parameters.sizes = {32, 32, 32, 32, 256, 1024};
	parameters.way = Way::slots;
	const double exact = simulate(parameters).rate;
	parameters.way = Way::fetch;
	for (const unsigned fetch_size : {64U, 256U, 512U, 1040U}) {
		parameters.fetch_size = fetch_size;
		EXPECT_LT(simulate(parameters).rate, exact) << fetch_size;
	}
}

TEST(VariantsTest, TheSameSeedGivesTheSameRun)
{
	const Results one = run(Way::window, 4), other = run(Way::window, 4);
	EXPECT_EQ(one.calls, other.calls);
	EXPECT_EQ(one.median, other.median);
	EXPECT_EQ(one.percentile_99, other.percentile_99);
}

} // namespace
