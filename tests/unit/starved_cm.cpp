/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One allocation fails, the first, or the second, and so on: all is then as before. A program of its own, as it has an
 * operator new of its own. */
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

#include "cm/event_queue.hpp"

using namespace prism::cm;

namespace
{

/** Negative: all that are asked for. */
int allocations_left = -1;

} // namespace

void *operator new(std::size_t size)
{
	if (allocations_left == 0)
		throw std::bad_alloc();
	if (allocations_left > 0)
		allocations_left--;
	if (void *memory = std::malloc(size))
		return memory;
	throw std::bad_alloc();
}

void operator delete(void *memory) noexcept
{
	std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
	std::free(memory);
}

namespace
{

/** Whether @p work had memory enough with so many allocations. */
bool succeeds_with(int allocations, const std::function<void()> &work)
{
	allocations_left = allocations;
	bool done = true;
	try {
		work();
	} catch (const std::bad_alloc &) {
		done = false;
	}
	allocations_left = -1;
	return done;
}

using Queue = EventQueue<int, int>;

constexpr auto all = [](int) { return true; };

} // namespace

TEST(StarvedCm, AnEventIsInTheQueueOrNot)
{
	Queue queue;
	queue.push(2, 20);
	int enough = 0;
	while (!succeeds_with(enough, [&] { queue.push(1, 10); })) {
		enough++;
		ASSERT_EQ(queue.size(), 1U);
		ASSERT_TRUE(queue.take(1, all).empty());
	}
	EXPECT_GT(enough, 1);
	EXPECT_EQ(queue.pop(), 20);
	EXPECT_EQ(queue.pop(), 10);
}

TEST(StarvedCm, AllOfAnOwnersEventsAreTakenOrNone)
{
	Queue queue;
	for (const int event : {10, 20, 11, 12})
		queue.push(event / 10, event);
	std::vector<int> taken;
	int enough = 0;
	while (!succeeds_with(enough, [&] { taken = queue.take(1, all); })) {
		enough++;
		ASSERT_EQ(queue.size(), 4U);
	}
	EXPECT_GT(enough, 0);
	EXPECT_EQ(taken, (std::vector<int>{10, 11, 12}));
	EXPECT_EQ(queue.pop(), 20);
}
