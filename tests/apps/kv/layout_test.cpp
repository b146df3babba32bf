/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Places of keys, without a network. */
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kv/store/fingerprint.hpp"
#include "kv/store/layout.hpp"

namespace
{

using namespace prism::kv;

Fingerprint of(std::uint64_t number)
{
	return fingerprint_of(HashKey{1, 2, 3}, std::as_bytes(std::span(&number, 1)));
}

TEST(Fingerprint, TellsKeysSecretsAndStatesApart)
{
	std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
	for (std::uint64_t number = 0; number < 10000; number++) {
		const Fingerprint key = of(number);
		EXPECT_EQ(key, key.member());
		EXPECT_NE(key.claim(), Fingerprint{});
		EXPECT_NE(key.claim(), key.member());
		seen.insert({key.claim().low, key.high});
	}
	EXPECT_EQ(seen.size(), 10000u);
	const std::string text = "key";
	const auto bytes = std::as_bytes(std::span(text));
	EXPECT_NE(fingerprint_of(HashKey{1}, bytes), fingerprint_of(HashKey{2}, bytes));
	EXPECT_NE(random_hash_key(), random_hash_key());
}

TEST(Fingerprint, SipHashOfTheReference)
{
	/* The first vector of SipHash's authors for 128 bits: key 00..0f, no input. Bit 0 is ours. */
	HashKey key;
	for (unsigned char i = 0; i < key.size(); i++)
		key[i] = i;
	const Fingerprint hash = fingerprint_of(key, {});
	EXPECT_EQ(hash.low, 0xe6a825ba047f81a3ull | 1);
	EXPECT_EQ(hash.high, 0x930255c71472f66dull);
}

TEST(Slot, IsEmptyOrAClaimOrAMember)
{
	EXPECT_TRUE(Slot{}.empty());
	const Fingerprint key = of(1);
	const Slot claim{key.claim(), {0, 7, 9}}, member{key.member(), {4096, 100, 9}};
	EXPECT_TRUE(claim.is_claim() && !claim.is_member() && !claim.empty());
	EXPECT_TRUE(member.is_member() && !member.is_claim() && !member.empty());
}

TEST(Geometry, TheHomeIsInTheFirstOfTwoBuckets)
{
	for (const std::uint32_t count : {2u, 3u, 1000u}) {
		const Geometry geometry(count);
		std::vector<unsigned> used(count);
		for (std::uint64_t number = 0; number < 20000; number++) {
			const auto [first, second] = geometry.buckets_of(of(number));
			ASSERT_LT(first, count);
			ASSERT_LT(second, count);
			ASSERT_NE(first, second);
			ASSERT_EQ(geometry.home_of(of(number)) / Geometry::bucket_slots, first);
			used[first]++;
			used[second]++;
		}
		/* 40,000 balls: no bin is far from its share. */
		const auto [least, most] = std::minmax_element(used.begin(), used.end());
		EXPECT_GT(*least * count, 40000u / 4);
		EXPECT_LT(*most * count, 40000u * 4);
	}
}

/** Choice of a slot as clients make it, in a table of this process. */
class Model
{
public:
	explicit Model(std::uint32_t buckets) : geometry(buckets), slots(geometry.slot_count()) {}

	bool insert(const Fingerprint &key)
	{
		const auto buckets = geometry.buckets_of(key);
		if (take(geometry.home_of(key))) {
			at_home++;
			return true;
		}
		const long free[] = {free_in(buckets[0]), free_in(buckets[1])};
		const std::size_t better = free[1] > free[0];
		for (unsigned i = 0; i < Geometry::bucket_slots; i++) {
			const std::uint64_t slot = Geometry::first_slot(buckets[better]) + i;
			if (take(slot))
				return true;
		}
		return false;
	}

	Geometry geometry;
	std::vector<bool> slots;
	std::uint64_t at_home = 0;

private:
	bool take(std::uint64_t slot)
	{
		if (slots[slot])
			return false;
		return slots[slot] = true;
	}

	[[nodiscard]] long free_in(std::uint32_t bucket) const
	{
		const auto first = slots.begin() + static_cast<std::ptrdiff_t>(Geometry::first_slot(bucket));
		return std::count(first, first + Geometry::bucket_slots, false);
	}
};

TEST(Geometry, FourFifthsFitAndMostOfHalfAreAtHome)
{
	Model model(4096);
	const std::uint64_t half = model.slots.size() / 2, most = model.slots.size() / 10 * 8;
	std::uint64_t number = 0;
	for (; number < half; number++)
		ASSERT_TRUE(model.insert(of(number)));
	EXPECT_NEAR(static_cast<double>(model.at_home) / static_cast<double>(half), 0.75, 0.02);
	for (; number < most; number++)
		ASSERT_TRUE(model.insert(of(number))) << "with " << number << " of " << model.slots.size();
}

} // namespace
