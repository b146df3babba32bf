/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages for receivers that are busy, stopped, gone, or squatting on a name. */
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "cm/outbox.hpp"

using namespace prism::cm;

namespace
{

constexpr Time millisecond = 1'000'000;

Envelope numbered(std::uint8_t number)
{
	Envelope made;
	made.mad[0] = number;
	return made;
}

class CmOutbox : public testing::Test
{
protected:
	/* Receivers that are not listed do not exist. */
	std::map<std::string, Delivery> receivers{{"reader", Delivery::done}, {"stopped", Delivery::busy}};
	std::vector<int> got; /* by the reader */
	int tries = 0;
	Time now = 1000 * millisecond;
	std::size_t lost = 0;
	Outbox outbox{[this](const std::string &name, const Envelope &envelope) {
			      tries++;
			      const auto found = receivers.find(name);
			      if (found == receivers.end())
				      return Delivery::nobody;
			      if (found->second == Delivery::done)
				      got.push_back(envelope.mad[0]);
			      return found->second;
		      },
		[this](const Envelope &) { lost++; }};
};

} // namespace

TEST_F(CmOutbox, WhoReadsGetsItAtOnce)
{
	EXPECT_TRUE(outbox.send("reader", numbered(1), now));
	EXPECT_EQ(got, std::vector<int>{1});
	EXPECT_TRUE(outbox.empty());
	EXPECT_FALSE(outbox.send("nobody", numbered(2), now));
	EXPECT_TRUE(outbox.empty());
}

TEST_F(CmOutbox, WhatWaitsKeepsItsOrder)
{
	receivers["reader"] = Delivery::busy;
	EXPECT_TRUE(outbox.send("reader", numbered(1), now));
	receivers["reader"] = Delivery::done;
	EXPECT_TRUE(outbox.send("reader", numbered(2), now));
	EXPECT_TRUE(got.empty()) << "the second would have overtaken the first";
	outbox.retry(now);
	EXPECT_EQ(got, (std::vector<int>{1, 2}));
	EXPECT_TRUE(outbox.empty());
}

/* While a message waits, the outbox retries a thousand times a second. */
TEST_F(CmOutbox, NobodyIsWaitedForForEver)
{
	EXPECT_TRUE(outbox.send("stopped", numbered(1), now));
	for (int i = 0; i < 500; i++)
		outbox.retry(now += millisecond);
	EXPECT_FALSE(outbox.empty());
	for (int i = 0; i < 1000; i++)
		outbox.retry(now += millisecond);
	EXPECT_TRUE(outbox.empty());
	EXPECT_EQ(lost, 1U);
}

TEST_F(CmOutbox, WhoGoesTakesItsMessagesAlong)
{
	outbox.send("stopped", numbered(1), now);
	outbox.send("stopped", numbered(2), now);
	receivers.erase("stopped");
	outbox.retry(now);
	EXPECT_TRUE(outbox.empty());
}

TEST_F(CmOutbox, OneTryForWhoIsBusyHoweverMuchWaits)
{
	for (int i = 0; i < 1000; i++)
		EXPECT_TRUE(outbox.send("stopped", numbered(1), now));
	tries = 0;
	outbox.retry(now);
	EXPECT_EQ(tries, 1);
}

TEST_F(CmOutbox, ThoseWhoReadNothingLeaveRoomForOthers)
{
	for (std::size_t i = 0; i < 2 * Outbox::receiver_limit; i++)
		EXPECT_TRUE(outbox.send("stopped", numbered(1), now));
	receivers["reader"] = Delivery::busy;
	EXPECT_TRUE(outbox.send("reader", numbered(7), now));
	receivers["reader"] = Delivery::done;
	outbox.retry(now);
	EXPECT_EQ(got, std::vector<int>{7});
	EXPECT_EQ(lost, Outbox::receiver_limit);
}

TEST_F(CmOutbox, AFloodIsBounded)
{
	const auto stopped = [](std::size_t i) { return "stopped " + std::to_string(i); };
	constexpr std::size_t flood = Outbox::limit + 100;
	for (std::size_t i = 0; i < flood; i++) {
		receivers[stopped(i)] = Delivery::busy;
		EXPECT_TRUE(outbox.send(stopped(i), numbered(1), now)) << "lost, but somebody has that name";
	}
	tries = 0;
	outbox.retry(now);
	EXPECT_EQ(static_cast<std::size_t>(tries), Outbox::limit);
	EXPECT_EQ(lost, flood - Outbox::limit);
	outbox.retry(now + Outbox::patience);
	EXPECT_TRUE(outbox.empty());
	outbox.send("stopped", numbered(1), now);
	EXPECT_FALSE(outbox.empty()) << "there is room again";
}
