/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Due times of requests: closed loops, even and Poisson arrivals, and the rest at the end. */
#include <vector>

#include <gtest/gtest.h>

#include "bench/frame/pace.hpp"

namespace
{

using namespace prism;
using namespace prism::bench;

class PaceTest : public testing::Test
{
protected:
	bench::Random random = bench::make_random(1, 0);
};

TEST_F(PaceTest, ClosedLoopIsAlwaysDueUntilTheCountIsReached)
{
	Pace pace({.start = 1000, .count = 2}, random);
	EXPECT_EQ(pace.take(1000, random), 1000U);
	EXPECT_FALSE(pace.over(2000));
	EXPECT_EQ(pace.take(2000, random), 2000U);
	EXPECT_TRUE(pace.over(2000));
	EXPECT_FALSE(pace.take(3000, random));
}

TEST_F(PaceTest, TimeEndsAClosedLoop)
{
	Pace pace({.start = 1000, .time = 500}, random);
	EXPECT_TRUE(pace.take(1499, random));
	EXPECT_FALSE(pace.take(1500, random));
	EXPECT_TRUE(pace.over(1500));
	EXPECT_EQ(pace.deadline(), 1500U);
}

TEST_F(PaceTest, EvenArrivalsAreTakenWhenTheyAreDue)
{
	Pace pace({.start = 1000, .time = 1000, .interval = 100, .offset = 50}, random);
	EXPECT_FALSE(pace.take(1049, random));
	EXPECT_EQ(pace.take(1050, random), 1050U);
	EXPECT_FALSE(pace.take(1100, random));
	EXPECT_EQ(pace.take(1400, random), 1150U) << "the moment it was due, not the moment it is taken";
	EXPECT_EQ(pace.take(1400, random), 1250U);
	EXPECT_EQ(pace.take(1400, random), 1350U);
	EXPECT_FALSE(pace.take(1400, random));
}

TEST_F(PaceTest, BacklogIsWhatWasDueAndNotTaken)
{
	Pace pace({.start = 1'000'000, .time = 1'000'000, .interval = 100'000}, random);
	EXPECT_TRUE(pace.take(1'150'000, random));
	EXPECT_TRUE(pace.take(1'150'000, random));
	bench::LatencyHistogram backlog;
	pace.add_backlog(backlog, random);
	EXPECT_EQ(backlog.count(), 8U) << "of ten, due at 1.0, 1.1 .. 1.9 ms";
	EXPECT_DOUBLE_EQ(backlog.max(), 800);
	EXPECT_DOUBLE_EQ(backlog.min(), 100);
}

TEST_F(PaceTest, ClosedLoopsHaveNoBacklog)
{
	Pace pace({.start = 1000, .time = 1000}, random);
	bench::LatencyHistogram backlog;
	pace.add_backlog(backlog, random);
	EXPECT_EQ(backlog.count(), 0U);
}

TEST_F(PaceTest, PoissonArrivalsHaveTheRateAndItsVariance)
{
	constexpr std::uint64_t count = 100'000;
	constexpr double interval = 1000;
	Pace pace({.count = count, .interval = interval, .arrivals = Arrivals::poisson}, random);
	std::uint64_t previous = 0;
	double sum = 0;
	double squares = 0;
	while (const auto due = pace.take(std::uint64_t{1} << 40, random)) {
		const auto gap = static_cast<double>(*due - previous);
		previous = *due;
		sum += gap;
		squares += gap * gap;
	}
	const double mean = sum / count;
	EXPECT_NEAR(mean, interval, 20);
	EXPECT_NEAR(squares / count - mean * mean, interval * interval, 50'000) << "variance of an exponential";
}

} // namespace
