/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <gtest/gtest.h>

#include <vector>

#include "cm/event_queue.hpp"

using namespace prism::cm;

namespace
{

using Queue = EventQueue<int, int>;

constexpr auto all = [](int) { return true; };

} // namespace

TEST(CmEventQueue, KeepsTheOrderOfAll)
{
	Queue queue;
	for (const int event : {10, 20, 11, 21})
		queue.push(event / 10, event);
	for (const int event : {10, 20, 11, 21}) {
		ASSERT_FALSE(queue.empty());
		EXPECT_EQ(queue.pop(), event);
	}
	EXPECT_TRUE(queue.empty());
}

TEST(CmEventQueue, GivesUpWhatIsOneOwners)
{
	Queue queue;
	for (const int event : {10, 20, 11, 21, 12})
		queue.push(event / 10, event);
	EXPECT_EQ(queue.take(1, [](int event) { return event != 11; }), (std::vector<int>{10, 12}));
	EXPECT_EQ(queue.pop(), 20);
	EXPECT_EQ(queue.take(2, all), std::vector<int>{21});
	EXPECT_EQ(queue.take(3, all), std::vector<int>{});
	EXPECT_EQ(queue.size(), 1U);
	EXPECT_EQ(queue.pop(), 11);
	queue.push(1, 13);
	EXPECT_EQ(queue.take(1, all), std::vector<int>{13});
	EXPECT_TRUE(queue.empty());
}

/* Models a program that ends its ten thousand connections one by one. */
TEST(CmEventQueue, LooksAtNobodyElses)
{
	constexpr int owners = 10000;
	Queue queue;
	for (int owner = 0; owner < owners; owner++)
		queue.push(owner, owner);
	for (int owner = owners; owner-- > 0;)
		EXPECT_EQ(queue.take(owner, all).size(), 1U);
	EXPECT_EQ(queue.visits(), static_cast<std::uint64_t>(owners));
}
