/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/client/pace.hpp"
#include "rpc/fetch/mode_choice.hpp"

#include <gtest/gtest.h>

namespace
{

using namespace prism::rpc;
using namespace prism::rpc::fetch;
using namespace std::chrono_literals;

/* Makes a call whose fetches fail @p times before one succeeds, or until it switches. Returns true if it switched. */
bool call(ModeChoice &choice, std::uint32_t times)
{
	for (std::uint32_t failed = 1; failed <= times; failed++) {
		if (choice.failed(failed))
			return true;
	}
	choice.fetched(times, 5us);
	return false;
}

TEST(ModeChoice, OneSlowCallIsNoReason)
{
	ModeChoice choice(5, 2);
	for (int i = 0; i < 10; i++) {
		EXPECT_FALSE(call(choice, 100));
		EXPECT_FALSE(call(choice, 5)) << "R failed READs are not too many";
	}
	EXPECT_EQ(choice.mode(), Mode::fetch);
}

TEST(ModeChoice, SwitchesInsideTheSecondSlowCallInARow)
{
	ModeChoice choice(5, 2);
	EXPECT_FALSE(call(choice, 6));
	for (std::uint32_t failed = 1; failed <= 5; failed++)
		EXPECT_FALSE(choice.failed(failed));
	EXPECT_TRUE(choice.failed(6));
	EXPECT_EQ(choice.mode(), Mode::reply);
	EXPECT_FALSE(choice.failed(7)) << "once";
}

TEST(ModeChoice, ComesBackWhenRepliesAreQuickInARow)
{
	ModeChoice choice(4, 2);
	EXPECT_FALSE(call(choice, 0)); /* a READ takes 5 us */
	EXPECT_FALSE(call(choice, 5));
	EXPECT_TRUE(call(choice, 5));
	EXPECT_FALSE(choice.replied(10us)) << "half of R fetches is not below half of them";
	EXPECT_FALSE(choice.replied(9us));
	EXPECT_FALSE(choice.replied(11us));
	EXPECT_FALSE(choice.replied(9us)) << "not in a row";
	EXPECT_TRUE(choice.replied(9us));
	EXPECT_EQ(choice.mode(), Mode::fetch);
	EXPECT_FALSE(choice.replied(1us));
}

TEST(Pace, FollowsWhatServersTell)
{
	Pace pace(true);
	EXPECT_EQ(pace.wait(), 0ns);
	for (int i = 0; i < 100; i++)
		pace.answered(100us, 0);
	EXPECT_NEAR(static_cast<double>(pace.wait().count()), 100'000, 1000);
	const auto before = pace.wait();
	pace.answered(100us, 3);
	EXPECT_GT(pace.wait(), before);
	for (int i = 0; i < 1000; i++)
		pace.answered(0us, 0);
	EXPECT_LT(pace.wait(), 100ns);
	Pace off(false);
	off.answered(100us, 5);
	EXPECT_EQ(off.wait(), 0ns);
}

} // namespace
