/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The model must reproduce the RFP paper's measurements, or results that follow from them, before it may predict PRISM.
 */
#include <gtest/gtest.h>

#include "bench/rpc/model/parameters.hpp"

namespace
{

using namespace prism::rpc::model;

constexpr double percent = 0.01;

double rate_of(Parameters parameters, Way way)
{
	parameters.way = way;
	return simulate(parameters).rate;
}

/** Returns the rate of one-sided operations of @p size bytes, without calls. */
double rate_of_size(Way way, unsigned size)
{
	Parameters parameters;
	parameters.sizes = {size};
	parameters.threads = 4;
	return rate_of(parameters, way);
}

/** Returns parameters with answers of one byte, as in the paper's figure of the process time. */
Parameters of_process_time(Time process_time)
{
	Parameters parameters;
	parameters.process_time = process_time;
	parameters.sizes = {1};
	parameters.fetch_size = 17;
	return parameters;
}

double gain_of_fetching(Time process_time)
{
	const Parameters parameters = of_process_time(process_time);
	return rate_of(parameters, Way::fetch_only) / rate_of(parameters, Way::reply) - 1;
}

TEST(PaperTest, ANicServesFiveTimesWhatItIssues)
{
	EXPECT_NEAR(rate_of_size(Way::in_bound, 32), 11.26, 0.02);
	EXPECT_NEAR(rate_of_size(Way::out_bound, 32), 2.11, 0.01);
}

TEST(PaperTest, FourThreadsIssueAllThatANicCan)
{
	Parameters parameters;
	parameters.server_threads = 3;
	EXPECT_LT(rate_of(parameters, Way::out_bound), 2.0);
	parameters.server_threads = 4;
	EXPECT_NEAR(rate_of(parameters, Way::out_bound), 2.11, 0.01);
}

TEST(PaperTest, BothAreTheSameAbove2KiB)
{
	EXPECT_GT(rate_of_size(Way::in_bound, 1024) / rate_of_size(Way::out_bound, 1024), 2);
	EXPECT_LT(rate_of_size(Way::in_bound, 2048) / rate_of_size(Way::out_bound, 2048), 1.15);
	for (const unsigned size : {2560U, 4096U, 8192U})
		EXPECT_NEAR(rate_of_size(Way::in_bound, size) / rate_of_size(Way::out_bound, size), 1, 1 * percent)
			<< size;
}

/*
 * L is 256: shorter READs are no faster. H is 1024: from there on the link is the limit, and twice the bytes take twice
 * the time.
 */
TEST(PaperTest, TheFetchSizeIsFrom256To1024)
{
	const double fastest = rate_of_size(Way::in_bound, 1);
	EXPECT_NEAR(rate_of_size(Way::in_bound, 256) / fastest, 1, 1 * percent);
	EXPECT_LT(rate_of_size(Way::in_bound, 512) / fastest, 0.9);
	EXPECT_NEAR(rate_of_size(Way::in_bound, 2048) / rate_of_size(Way::in_bound, 1024), 0.5, 2 * percent);
}

TEST(PaperTest, MoreClientThreadsThanSomeGetInEachOthersWay)
{
	Parameters few, many;
	few.threads = 6;
	many.threads = 20;
	EXPECT_LT(rate_of(many, Way::in_bound), rate_of(few, Way::in_bound) * 0.9);
}

TEST(PaperTest, CeilingsOfCalls)
{
	const Parameters parameters;
	EXPECT_NEAR(rate_of(parameters, Way::fetch), 11.26 / 2, 0.05);
	EXPECT_NEAR(rate_of(parameters, Way::reply), 2.11, 0.01);
	EXPECT_NEAR(rate_of(parameters, Way::two_sided), 2.11, 0.01);
	EXPECT_NEAR(rate_of(parameters, Way::bypass), 11.26 / 3.2, 0.05);
}

TEST(PaperTest, AFailedFetchCostsWhatAFetchCosts)
{
	Parameters parameters;
	parameters.way = Way::fetch_only;
	parameters.process_time = 3;
	const Results results = simulate(parameters);
	EXPECT_GT(results.failed_fetches, 0.3);
	EXPECT_NEAR(results.rate, 11.26 / (2 + results.failed_fetches), 0.1);
}

/* With this process time 16 threads answer as many calls as the NIC can send: 16 / 2.11 = 7.6 us. */
TEST(PaperTest, FetchAndReplyCrossWhereTheServersThreadsAreTheLimit)
{
	EXPECT_GT(gain_of_fetching(0.2), 1.6);
	EXPECT_GT(gain_of_fetching(5), 0.4);
	EXPECT_LT(gain_of_fetching(7), 10 * percent);
	EXPECT_GT(gain_of_fetching(7), 5 * percent);
	EXPECT_NEAR(gain_of_fetching(7.6), 0, 2 * percent);
	EXPECT_NEAR(gain_of_fetching(10), 0, 1 * percent);
}

TEST(PaperTest, FetchingBeyondTheCrossingCostsManyReads)
{
	Parameters parameters = of_process_time(7);
	parameters.way = Way::fetch_only;
	EXPECT_GT(simulate(parameters).failed_fetches, 2);
}

TEST(PaperTest, RfpSwitchesToReplyAndBack)
{
	Parameters parameters = of_process_time(0.2);
	parameters.way = Way::fetch;
	EXPECT_LT(simulate(parameters).reply_share, 1 * percent);
	parameters.process_time = 15;
	EXPECT_GT(simulate(parameters).reply_share, 99 * percent);
}

TEST(PaperTest, SingleSlowCallsGoOnFetching)
{
	Parameters parameters = of_process_time(0.5);
	parameters.way = Way::fetch;
	parameters.slow_share = 0.002;
	EXPECT_LT(simulate(parameters).reply_share, 5 * percent);
}

/* Mixed sizes: F is a compromise, and a second READ halves the rate. */
TEST(PaperTest, AnAnswerLongerThanTheFetchSizeTakesTwoReads)
{
	Parameters parameters;
	parameters.way = Way::fetch;
	parameters.sizes = {240};
	EXPECT_NEAR(simulate(parameters).reads, 1, 1 * percent);
	parameters.sizes = {241};
	EXPECT_NEAR(simulate(parameters).reads, 2, 1 * percent);
}

} // namespace
