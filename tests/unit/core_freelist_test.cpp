/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Grace periods against a naive model that remembers, for each entry, which requests were under way when it was posted.
 * The real list may make an entry wait longer; it must never hand one out earlier, and must hand it out in the end.
 */
#include <algorithm>
#include <deque>
#include <set>

#include <gtest/gtest.h>

#include "random.hpp"

extern "C" {
#include "prism_freelist.h"
}

namespace
{

using prism::test::Random;

/** A list together with the requests of its device, numbered as they begin. */
class Schedule
{
public:
	explicit Schedule(std::uint32_t start) : list_{start, start, start, start, 0} {}

	void post()
	{
		list_.producer++;
		waits_for_.push_back(running_);
	}

	std::uint64_t begin()
	{
		running_.insert(++begun_);
		return begun_;
	}

	void end(std::uint64_t number) { running_.erase(number); }
	void end_some(Random &random)
	{
		if (!running_.empty())
			running_.erase(std::next(running_.begin(), static_cast<long>(random.below(running_.size()))));
	}

	void advance() { prism_freelist_advance(&list_, begun_, running_.empty() ? begun_ + 1 : *running_.begin()); }

	bool take()
	{
		advance();
		if (prism_freelist_empty(&list_))
			return false;
		const std::set<std::uint64_t> &readers = waits_for_.front();
		for (const std::uint64_t reader : readers)
			EXPECT_FALSE(running_.contains(reader)) << "request " << reader << " may still read the buffer";
		waits_for_.pop_front();
		list_.consumer++;
		return true;
	}

	[[nodiscard]] std::uint32_t available() const { return prism_freelist_available(&list_); }
	[[nodiscard]] bool quiet() const { return running_.empty(); }
	[[nodiscard]] std::size_t posted() const { return waits_for_.size(); }

private:
	prism_freelist list_;
	std::deque<std::set<std::uint64_t>> waits_for_;
	std::set<std::uint64_t> running_;
	std::uint64_t begun_ = 0;
};

/** Any schedule, with indices that wrap. */
TEST(FreeList, NeverHandsOutWhatMayBeRead)
{
	for (std::uint64_t seed = 0; seed < 300; seed++) {
		Random random(seed);
		Schedule schedule(random.chance(50) ? 0u : 0u - static_cast<std::uint32_t>(random.below(200)));
		for (int step = 0; step < 2000; step++) {
			switch (random.below(5)) {
			case 0:
				schedule.post();
				break;
			case 1:
				schedule.begin();
				break;
			case 2:
			case 3:
				schedule.end_some(random);
				break;
			default:
				schedule.take();
				break;
			}
			ASSERT_EQ(schedule.available(), schedule.posted());
		}
	}
}

TEST(FreeList, HandsOutAtOnceWhenNothingIsUnderWay)
{
	Schedule schedule(0xfffffffe);
	for (int i = 0; i < 10; i++) {
		schedule.post();
		EXPECT_TRUE(schedule.take());
	}
	EXPECT_FALSE(schedule.take());
}

TEST(FreeList, OneReaderHoldsBackWhatWasPostedDuringIt)
{
	Schedule schedule(0);
	schedule.post();
	schedule.advance();
	const std::uint64_t reader = schedule.begin();
	schedule.post();
	EXPECT_TRUE(schedule.take()) << "posted before the reader began";
	EXPECT_FALSE(schedule.take());
	schedule.end(reader);
	EXPECT_TRUE(schedule.take());
}

/** Grace advances although there are always requests under way, as long as each of them ends. */
TEST(FreeList, AdvancesUnderUnbrokenTraffic)
{
	Schedule schedule(0);
	std::deque<std::uint64_t> running;
	for (int i = 0; i < 8; i++)
		running.push_back(schedule.begin());
	schedule.post();
	int waited = 0;
	while (!schedule.take()) {
		ASSERT_LT(++waited, 40);
		running.push_back(schedule.begin());
		schedule.end(running.front());
		running.pop_front();
	}
	EXPECT_FALSE(schedule.quiet());
}

} // namespace
