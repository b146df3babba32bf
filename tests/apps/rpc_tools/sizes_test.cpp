/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sizes of responses: their notation, and that each is drawn as often as its weight says. */
#include <array>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "bench/rpc/sizes.hpp"

namespace
{

using namespace prism;
using namespace prism::echo;

TEST(Sizes, AreReadAndWritten)
{
	Sizes sizes;
	EXPECT_EQ(sizes.text(), "32");
	EXPECT_EQ(sizes.parse("8192,32,64:3"), "");
	EXPECT_EQ(sizes.text(), "32,64:3,8192");
	EXPECT_EQ(sizes.count(), 3U);
	EXPECT_EQ(sizes.largest(), 8192U);
	EXPECT_EQ(sizes[1], 64U);
	EXPECT_EQ(sizes.parse("0"), "");
	EXPECT_EQ(sizes.largest(), 0U);
}

TEST(Sizes, WhatIsNoneIsTold)
{
	Sizes sizes;
	for (const char *text :
		{"", ",", "1,", "x", "-1", "65497", "1:0", "1:x", "1:", ":1", "1:1000001", "1 2", "5,5"}) {
		EXPECT_NE(sizes.parse(text), "") << text;
		EXPECT_EQ(sizes.text(), "32") << text;
	}
	std::string many = "1";
	for (int size = 2; size <= 65; size++)
		many += "," + std::to_string(size);
	EXPECT_EQ(sizes.parse(many), "at most 64 sizes are possible");
}

TEST(Sizes, AreDrawnByWeight)
{
	constexpr int draws = 100'000;
	Sizes sizes;
	ASSERT_EQ(sizes.parse("1:1,2:3,3:6"), "");
	bench::Random random = bench::make_random(1, 0);
	std::array<int, 3> drawn{};
	for (int i = 0; i < draws; i++)
		drawn.at(sizes.next(random))++;
	EXPECT_NEAR(drawn[0], draws * 0.1, draws * 0.01);
	EXPECT_NEAR(drawn[1], draws * 0.3, draws * 0.01);
	EXPECT_NEAR(drawn[2], draws * 0.6, draws * 0.01);
}

} // namespace
