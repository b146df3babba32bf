/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "base/recent_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace
{

using prism::RecentClock;
using std::chrono::steady_clock;

TEST(RecentClock, IsNeverAhead)
{
	for (int i = 0; i < 100'000; i++) {
		const auto reading = RecentClock::now();
		ASSERT_LE(reading, steady_clock::now());
	}
}

TEST(RecentClock, ReadingsDoNotGoBack)
{
	steady_clock::time_point last;
	for (int i = 0; i < 100'000; i++) {
		const auto reading = RecentClock::now();
		ASSERT_GE(reading, last);
		last = reading;
	}
}

/* A program that looks at its device now and then must not see an old time. */
TEST(RecentClock, KnowsOfPauses)
{
	for (int i = 0; i < 100; i++) {
		static_cast<void>(RecentClock::now());
		std::this_thread::sleep_for(std::chrono::microseconds(100));
		const auto after = steady_clock::now();
		ASSERT_GE(RecentClock::now(), after - std::chrono::microseconds(50));
	}
}

} // namespace
