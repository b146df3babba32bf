/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Masked comparison and masked swap against plain big-number arithmetic. */
#include <cstring>

#include <gtest/gtest.h>

#include "random.hpp"
#include "reference.hpp"

extern "C" {
#include "prism_cas.h"
}

namespace
{

using prism::test::Random;
using Bytes = std::vector<std::uint8_t>;

struct Operands {
	Bytes compare, swap, compare_mask, swap_mask, target;

	[[nodiscard]] prism_cas cas(unsigned mode) const
	{
		return {static_cast<u8>(mode), static_cast<u8>(target.size()), compare.data(), swap.data(),
			compare_mask.data(), swap_mask.data()};
	}
};

Bytes noise(Random &random, std::size_t n)
{
	Bytes bytes(n);
	for (std::uint8_t &byte : bytes)
		byte = static_cast<std::uint8_t>(random.bits());
	return bytes;
}

/** Returns operands that are often equal, or differ in one byte only, so that every byte gets to decide. */
Operands operands(Random &random, std::size_t n)
{
	Operands o{noise(random, n), noise(random, n), noise(random, n), noise(random, n), noise(random, n)};
	if (random.chance(70))
		o.target = o.compare;
	if (random.chance(50))
		o.target[random.below(n)] ^= static_cast<std::uint8_t>(1u << random.below(8));
	if (random.chance(30))
		std::fill(o.compare_mask.begin(), o.compare_mask.end(), 0xff);
	if (random.chance(10))
		std::fill(o.compare_mask.begin(), o.compare_mask.end(), 0);
	return o;
}

TEST(Cas, ComparesAsOneLittleEndianNumber)
{
	Random random(1);
	for (unsigned i = 0; i < 300'000; i++) {
		const std::size_t n = 8u << random.below(3);
		const Operands o = operands(random, n);
		for (unsigned mode = 0; mode < 3; mode++) {
			const prism_cas cas = o.cas(mode);
			EXPECT_EQ(prism_cas_holds(&cas, o.target.data()),
				prism::reference::holds(mode, o.compare, o.compare_mask, o.target));
		}
	}
}

TEST(Cas, ExactlyOneModeHolds)
{
	Random random(2);
	for (unsigned i = 0; i < 100'000; i++) {
		const Operands o = operands(random, 8u << random.below(3));
		int holding = 0;
		for (unsigned mode = 0; mode < 3; mode++) {
			const prism_cas cas = o.cas(mode);
			holding += prism_cas_holds(&cas, o.target.data());
		}
		EXPECT_EQ(holding, 1);
	}
}

TEST(Cas, SwapsWhatTheMaskNames)
{
	Random random(3);
	for (unsigned i = 0; i < 100'000; i++) {
		const Operands o = operands(random, 8u << random.below(3));
		const prism_cas cas = o.cas(PRISM_CAS_EQ);
		Bytes target = o.target;
		prism_cas_swap(&cas, target.data());
		for (std::size_t j = 0; j < target.size(); j++)
			EXPECT_EQ(target[j], (o.target[j] & ~o.swap_mask[j]) | (o.swap[j] & o.swap_mask[j]));
	}
}

TEST(Cas, TheLastByteIsTheMostSignificant)
{
	Bytes compare(32), target(32), ones(32, 0xff);
	compare[31] = 1;
	std::fill(target.begin(), target.end() - 1, 0xff);
	const prism_cas cas{PRISM_CAS_GT, 32, compare.data(), compare.data(), ones.data(), ones.data()};
	EXPECT_TRUE(prism_cas_holds(&cas, target.data()));
}

} // namespace
