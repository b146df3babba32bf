/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "service/extent_arena.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <thread>

namespace
{

using prism::apps::ExtentArena;
using namespace std::chrono_literals;

TEST(ExtentArena, ExtentsNeverOverlap)
{
	constexpr std::size_t length = 4 << 20;
	ExtentArena arena(length);
	std::mt19937_64 random(1);
	std::map<std::uint64_t, std::size_t> held;
	for (int step = 0; step < 20000; step++) {
		if (random() % 3 == 0 && !held.empty()) {
			const auto victim = std::next(held.begin(), static_cast<long>(random() % held.size()));
			arena.free(victim->first, victim->second);
			held.erase(victim);
			continue;
		}
		const std::size_t size = random() % 9000;
		const auto offset = arena.allocate(size);
		if (!offset)
			continue;
		ASSERT_EQ(*offset % 64, 0u);
		ASSERT_LE(*offset + size, length);
		const auto next = held.lower_bound(*offset);
		ASSERT_TRUE(next == held.end() || *offset + size <= next->first);
		ASSERT_TRUE(next == held.begin() || std::prev(next)->first + std::prev(next)->second <= *offset);
		held[*offset] = size;
	}
	EXPECT_EQ(arena.in_use(), held.size());
	EXPECT_GT(held.size(), 100u);
}

TEST(ExtentArena, EverySizeFitsItsExtent)
{
	/* A second extent of the same size begins behind the first one's end. */
	for (std::size_t size = 0; size <= 66000; size += size < 2000 ? 1 : 61) {
		ExtentArena arena(1 << 18);
		const auto first = arena.allocate(size), second = arena.allocate(size);
		ASSERT_TRUE(first && second) << size;
		ASSERT_GE(*second - *first, size);
		ASSERT_LE(*second - *first, std::max<std::size_t>(64, size * 3 / 2 + 64)) << size;
	}
}

TEST(ExtentArena, EndsAndBeginsAgain)
{
	ExtentArena arena(640);
	std::vector<std::uint64_t> offsets;
	while (const auto offset = arena.allocate(64))
		offsets.push_back(*offset);
	EXPECT_EQ(offsets.size(), 10u);
	EXPECT_FALSE(arena.allocate(1));
	arena.free(offsets[4], 64);
	EXPECT_EQ(arena.allocate(30), offsets[4]);
	EXPECT_EQ(arena.hurried(), 0u);
}

TEST(ExtentArena, TooLargeIsRefused)
{
	ExtentArena arena(1024);
	EXPECT_FALSE(arena.allocate(2000));
	EXPECT_TRUE(arena.allocate(1024));
}

TEST(ExtentArena, FreedExtentsRest)
{
	ExtentArena arena(4 * 64, 50ms);
	const auto first = arena.allocate(64);
	arena.free(*first, 64);
	EXPECT_NE(arena.allocate(64), first);
	std::this_thread::sleep_for(60ms);
	EXPECT_EQ(arena.allocate(64), first);
}

TEST(ExtentArena, RestIsCutShortWhenThereIsNoOther)
{
	ExtentArena arena(2 * 64, 30min);
	const auto first = arena.allocate(64), second = arena.allocate(64);
	arena.free(*second, 64);
	arena.free(*first, 64);
	EXPECT_EQ(arena.allocate(64), second) << "oldest first";
	EXPECT_EQ(arena.hurried(), 1u);
}

} // namespace
