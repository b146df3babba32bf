/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "soft/verbs/recent_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace
{

using prism::monotonic_ns;
using prism::soft::RecentClock;
using prism::soft::Time;

TEST(RecentClock, IsNeverAhead)
{
	RecentClock clock;
	for (int i = 0; i < 100'000; i++) {
		const Time reading = clock.now();
		ASSERT_LE(reading, monotonic_ns());
	}
}

TEST(RecentClock, ReadingsDoNotGoBack)
{
	RecentClock clock;
	Time last = 0;
	for (int i = 0; i < 100'000; i++) {
		const Time reading = clock.now();
		ASSERT_GE(reading, last);
		last = reading;
	}
}

/* A program that looks at its device now and then must not see an old time. */
TEST(RecentClock, KnowsOfPauses)
{
	RecentClock clock;
	for (int i = 0; i < 100; i++) {
		static_cast<void>(clock.now());
		std::this_thread::sleep_for(std::chrono::microseconds(100));
		const Time after = monotonic_ns();
		ASSERT_GE(clock.now(), after - 50'000);
	}
}

} // namespace
