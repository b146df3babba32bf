/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "tx/transaction/key_set.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace
{

using namespace prism::tx;

Bytes bytes_of(const std::string &text)
{
	return std::as_bytes(std::span(text));
}

TEST(KeySet, KeysHaveOneNumber)
{
	KeySet keys;
	EXPECT_EQ(keys.find(bytes_of("a")), KeySet::none);
	for (std::uint32_t i = 0; i < max_transaction_keys; i++)
		EXPECT_EQ(keys.get(bytes_of("key" + std::to_string(i)), 3), i);
	EXPECT_EQ(keys.get(bytes_of("key77"), 3), 77u);
	EXPECT_EQ(keys.find(bytes_of("key511")), 511u);
	EXPECT_LT(keys[5].shard, 3u);
	EXPECT_EQ(keys.get(bytes_of("one more"), 3), KeySet::none);
	keys.clear();
	EXPECT_EQ(keys.find(bytes_of("key77")), KeySet::none);
	EXPECT_EQ(keys.get(bytes_of("one more"), 3), 0u);
}

TEST(KeySet, ValueIsWhatTheTransactionSees)
{
	KeySet keys;
	const std::uint32_t number = keys.get(bytes_of("a"), 1);
	KeySet::Item &item = keys[number];
	EXPECT_FALSE(keys.value(bytes_of("a")));
	item.known = true;
	EXPECT_FALSE(keys.value(bytes_of("a")));
	item.there = true;
	ASSERT_TRUE(keys.keep(bytes_of("read"), item.value));
	EXPECT_EQ(keys.value(bytes_of("a"))->size(), 4u);
	item.changed = true;
	ASSERT_TRUE(keys.keep(bytes_of("written"), item.fresh));
	EXPECT_EQ(keys.value(bytes_of("a"))->size(), 7u);
	item.erased = true;
	EXPECT_FALSE(keys.value(bytes_of("a")));
}

TEST(KeySet, CopiesStayUntilItIsCleared)
{
	KeySet keys;
	Bytes first;
	ASSERT_TRUE(keys.keep(bytes_of("first"), first));
	const std::string large(60000, 'x');
	std::size_t kept = 0;
	for (Bytes copy; keys.keep(bytes_of(large), copy); kept++)
		EXPECT_EQ(std::memcmp(copy.data(), large.data(), large.size()), 0);
	EXPECT_GT(kept * large.size(), max_transaction_bytes * 3 / 4);
	EXPECT_LE(kept * large.size(), max_transaction_bytes);
	EXPECT_EQ(std::memcmp(first.data(), "first", 5), 0);
	keys.clear();
	EXPECT_TRUE(keys.keep(bytes_of(large), first));
	EXPECT_EQ(keys.room(max_transaction_bytes), nullptr);
}

} // namespace
