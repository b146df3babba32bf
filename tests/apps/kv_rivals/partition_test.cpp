/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Partition of a Jakiro cache, and its log, without a network. */
#include "support.hpp"

#include "jakiro/layout.hpp"
#include "jakiro/partition.hpp"

#include <deque>
#include <list>
#include <map>
#include <random>
#include <set>

namespace
{

using namespace rivals;

using jakiro::EvictionListener;
using jakiro::Layout;
using jakiro::Pair;
using jakiro::PairLog;
using jakiro::Partition;

constexpr std::size_t plenty = 16 << 20;

class Evictions final : public EvictionListener
{
public:
	void on_evicted(std::span<const std::byte> key) noexcept override { keys.push_back(text_of(key)); }

	std::vector<std::string> keys;
};

class PartitionTest : public testing::Test
{
protected:
	void make(std::uint64_t buckets, std::size_t memory = plenty)
	{
		partition = std::make_unique<Partition>(buckets, memory, &evictions);
	}

	/* Cuts the hash to hash_bits; in one bucket all keys may have one hash. */
	std::uint64_t hash_of(const std::string &key) const
	{
		return hash_bits ? layout.hash_of(bytes_of(key)) & hash_bits : 0;
	}
	Outcome put(const std::string &key, const std::string &value)
	{
		return partition->put(hash_of(key), bytes_of(key), bytes_of(value));
	}
	Outcome erase(const std::string &key) { return partition->erase(hash_of(key), bytes_of(key)); }
	std::optional<std::string> get(const std::string &key)
	{
		std::string into(70000, '\0');
		std::uint32_t size = 0;
		if (partition->get(hash_of(key), bytes_of(key), std::as_writable_bytes(std::span(into)), size) !=
			Outcome::ok)
			return std::nullopt;
		return into.substr(0, size);
	}

	Layout layout{17, 1};
	std::uint64_t hash_bits = ~std::uint64_t{0};
	Evictions evictions;
	std::unique_ptr<Partition> partition;
};

TEST_F(PartitionTest, PutGetErase)
{
	make(4);
	EXPECT_EQ(get("key"), std::nullopt);
	EXPECT_EQ(erase("key"), Outcome::not_found);
	EXPECT_EQ(put("key", "value"), Outcome::ok);
	EXPECT_EQ(get("key"), "value");
	EXPECT_EQ(put("key", ""), Outcome::ok);
	EXPECT_EQ(get("key"), "");
	EXPECT_EQ(erase("key"), Outcome::ok);
	EXPECT_EQ(get("key"), std::nullopt);
	const jakiro::PartitionStats stats = partition->stats();
	EXPECT_EQ(stats.objects, 0u);
	EXPECT_EQ(stats.hits, 2u);
	EXPECT_EQ(stats.misses, 2u);
	EXPECT_EQ(stats.evicted_by_bucket + stats.evicted_by_memory + stats.full, 0u);
}

TEST_F(PartitionTest, TheLeastRecentlyUsedOfAFullBucketGoes)
{
	make(1);
	for (char key = 'a'; key <= 'h'; key++)
		ASSERT_EQ(put(std::string(1, key), "of it"), Outcome::ok);
	EXPECT_TRUE(evictions.keys.empty()) << "eight fit";
	EXPECT_EQ(get("a"), "of it");
	EXPECT_EQ(put("b", "again"), Outcome::ok);
	EXPECT_EQ(get("none"), std::nullopt) << "a miss is no use";
	ASSERT_EQ(put("i", "new"), Outcome::ok);
	EXPECT_EQ(evictions.keys, std::vector<std::string>{"c"});
	ASSERT_EQ(erase("d"), Outcome::ok);
	ASSERT_EQ(put("j", "new"), Outcome::ok);
	EXPECT_EQ(evictions.keys.size(), 1u) << "there was a slot";
	ASSERT_EQ(put("k", "new"), Outcome::ok);
	EXPECT_EQ(evictions.keys.back(), "e");
	EXPECT_EQ(get("a"), "of it");
	EXPECT_EQ(get("b"), "again");
	EXPECT_EQ(get("c"), std::nullopt);
	EXPECT_EQ(partition->stats().evicted_by_bucket, 2u);
	EXPECT_EQ(partition->stats().objects, 8u);
}

/* Model of the cache in the simplest code: for each bucket a list of keys, the most recently used one first. */
class Model
{
public:
	explicit Model(std::uint64_t buckets) : buckets_(buckets) {}

	std::optional<std::string> get(std::uint64_t bucket, const std::string &key)
	{
		if (!touch(bucket, key))
			return std::nullopt;
		return values_[key];
	}
	void put(std::uint64_t bucket, const std::string &key, const std::string &value)
	{
		if (!touch(bucket, key)) {
			if (buckets_[bucket].size() == Partition::slots_of_bucket) {
				evicted.push_back(buckets_[bucket].back());
				values_.erase(buckets_[bucket].back());
				buckets_[bucket].pop_back();
			}
			buckets_[bucket].push_front(key);
		}
		values_[key] = value;
	}
	bool erase(std::uint64_t bucket, const std::string &key)
	{
		buckets_[bucket].remove(key);
		return values_.erase(key) != 0;
	}
	std::size_t size() const { return values_.size(); }

	std::vector<std::string> evicted;

private:
	bool touch(std::uint64_t bucket, const std::string &key)
	{
		if (!values_.contains(key))
			return false;
		buckets_[bucket].remove(key);
		buckets_[bucket].push_front(key);
		return true;
	}

	std::vector<std::list<std::string>> buckets_;
	std::map<std::string, std::string> values_;
};

/* Random operations on some keys, compared with the model; the same pairs must be evicted in the same order. */
TEST_F(PartitionTest, BehavesLikeTheModel)
{
	constexpr std::uint64_t buckets = 5;
	for (const std::uint64_t bits : {~std::uint64_t{0}, std::uint64_t{1} << 40 | 3, std::uint64_t{0}}) {
		/* Fewer bits: many keys share a tag, or even all of the hash. */
		hash_bits = bits;
		evictions.keys.clear();
		make(buckets);
		Model model(buckets);
		std::mt19937 random(1);
		for (int step = 0; step < 30000; step++) {
			const std::string key = "key" + std::to_string(random() % 60);
			const std::uint64_t bucket = apps::reduce(apps::mix(hash_of(key)), buckets);
			const unsigned choice = random() % 10;
			if (choice < 4) {
				const std::string value = binary(random() % 300, random());
				ASSERT_EQ(put(key, value), Outcome::ok);
				model.put(bucket, key, value);
			} else if (choice < 5) {
				ASSERT_EQ(erase(key), model.erase(bucket, key) ? Outcome::ok : Outcome::not_found);
			} else {
				ASSERT_EQ(get(key), model.get(bucket, key)) << step;
			}
			ASSERT_EQ(evictions.keys, model.evicted) << step;
			evictions.keys.clear();
			model.evicted.clear();
		}
		EXPECT_EQ(partition->stats().objects, model.size());
		EXPECT_GT(partition->stats().evicted_by_bucket, 100u);
		EXPECT_EQ(partition->stats().evicted_by_memory, 0u);
	}
}

/* A few KiB for pairs of all sizes: keys found have the right values, keys not found were evicted or erased. */
TEST_F(PartitionTest, MemoryIsBoundedAndNeverRunsOut)
{
	constexpr std::size_t memory = 16 << 10;
	make(64, memory);
	std::map<std::string, std::string> model;
	std::mt19937 random(2);
	for (int step = 0; step < 50000; step++) {
		const std::string key = "key" + std::to_string(random() % 100);
		const unsigned choice = random() % 10;
		if (choice < 5) {
			const std::size_t size = random() % 20 ? random() % 200 : random() % 8000;
			const std::string value = binary(size, random());
			ASSERT_EQ(put(key, value), Outcome::ok);
			model[key] = value;
		} else if (choice < 6) {
			ASSERT_EQ(erase(key), model.erase(key) ? Outcome::ok : Outcome::not_found);
		}
		for (const std::string &gone : evictions.keys)
			ASSERT_EQ(model.erase(gone), 1u) << "an eviction of what is not there, at step " << step;
		evictions.keys.clear();
		const auto known = model.find(key);
		ASSERT_EQ(get(key), known == model.end() ? std::nullopt : std::optional(known->second)) << step;
		std::size_t used = 0;
		for (const auto &[name, value] : model)
			used += PairLog::size_of(name.size(), value.size());
		ASSERT_LE(used, memory);
		ASSERT_EQ(partition->stats().objects, model.size());
	}
	EXPECT_GT(partition->stats().evicted_by_memory, 1000u);
}

TEST_F(PartitionTest, APairThatIsLongerThanTheMemoryIsFull)
{
	make(4, 1024);
	ASSERT_EQ(put("a", "old"), Outcome::ok);
	EXPECT_EQ(put("a", std::string(1024, 'x')), Outcome::full);
	EXPECT_EQ(get("a"), "old");
	EXPECT_EQ(partition->stats().full, 1u);
	EXPECT_EQ(put("a", std::string(990, 'x')), Outcome::ok) << "all of it";
	EXPECT_EQ(get("a"), std::string(990, 'x'));
	EXPECT_EQ(put("b", "new"), Outcome::ok);
	EXPECT_EQ(get("a"), std::nullopt);
	EXPECT_EQ(get("b"), "new");
}

/* Sizes that have risen and fallen do not keep memory from others, as size classes would. */
TEST_F(PartitionTest, SizesMayShift)
{
	make(1000, 256 << 10);
	for (const std::size_t size : {16, 4000, 60, 30000, 300, 16}) {
		for (unsigned i = 0; i < 5000; i++)
			ASSERT_EQ(put(std::to_string(i), std::string(size, 'v')), Outcome::ok);
		unsigned found = 0;
		for (unsigned i = 0; i < 5000; i++)
			found += get(std::to_string(i)) == std::string(size, 'v');
		EXPECT_GE(found * PairLog::size_of(4, size), std::size_t{170} << 10) << size;
	}
	EXPECT_EQ(partition->stats().full, 0u);
}

/* Updates in place take no memory. */
TEST_F(PartitionTest, UpdatesOfASizeEvictNothing)
{
	make(64, 64 << 10);
	for (unsigned i = 0; i < 100; i++)
		ASSERT_EQ(put(std::to_string(i), std::string(400, 'v')), Outcome::ok);
	for (unsigned i = 0; i < 10000; i++)
		ASSERT_EQ(put(std::to_string(i % 100), std::string(400 - i % 7, 'w')), Outcome::ok);
	EXPECT_EQ(partition->stats().objects, 100u);
	EXPECT_TRUE(evictions.keys.empty());
}

TEST_F(PartitionTest, KeysWithOneHashAreToldApart)
{
	hash_bits = 0;
	make(1);
	ASSERT_EQ(put("a", "1"), Outcome::ok);
	ASSERT_EQ(put("ab", "2"), Outcome::ok);
	ASSERT_EQ(put("b", "3"), Outcome::ok);
	EXPECT_EQ(get("a"), "1");
	EXPECT_EQ(get("ab"), "2");
	EXPECT_EQ(get("b"), "3");
	EXPECT_EQ(get("abc"), std::nullopt);
	EXPECT_EQ(erase("ab"), Outcome::ok);
	EXPECT_EQ(get("a"), "1");
	EXPECT_EQ(get("b"), "3");
}

/*
 * Compared with a queue of the pairs in the order of writing: the oldest are dropped, and no more than are in the way.
 */
TEST(PairLog, DropsTheOldestAndKeepsTheRest)
{
	constexpr std::size_t memory = 4096;
	PairLog log(memory);
	struct Known {
		PairLog::Place place;
		std::string key;
		std::string value;
	};
	std::deque<Known> known;
	std::mt19937 random(3);
	for (int step = 0; step < 20000; step++) {
		const std::string key = std::to_string(step), value = binary(random() % 1500, random());
		std::size_t dropped = 0;
		const PairLog::Place place = log.append(
			{random(), bytes_of(key), bytes_of(value)}, [&](PairLog::Place at, const Pair &pair) {
				ASSERT_FALSE(known.empty());
				EXPECT_EQ(at, known.front().place);
				EXPECT_EQ(text_of(pair.key), known.front().key);
				EXPECT_EQ(text_of(pair.value), known.front().value);
				dropped += PairLog::size_of(pair.key.size(), pair.value.size());
				known.pop_front();
			});
		known.push_back({place, key, value});
		/* The pair itself, less than one more at the front, and the unused rest at the end. */
		EXPECT_LE(dropped, 3 * PairLog::size_of(5, 1500)) << step;
		for (const Known &each : known)
			ASSERT_EQ(text_of(log.at(each.place).value), each.value) << step;
	}
	EXPECT_GE(known.size(), 1u);
}

TEST(Layout, EveryPartitionGetsItsShare)
{
	constexpr std::uint32_t partitions = 7;
	constexpr unsigned keys = 70000;
	const Layout layout{5, partitions};
	std::vector<unsigned> shares(partitions);
	std::set<std::uint64_t> buckets;
	for (unsigned i = 0; i < keys; i++) {
		const std::uint64_t hash = layout.hash_of(bytes_of("key" + std::to_string(i)));
		const std::uint32_t partition = layout.partition_of(hash);
		ASSERT_LT(partition, partitions);
		shares[partition]++;
		if (partition == 3)
			buckets.insert(apps::reduce(apps::mix(hash), 100));
	}
	for (const unsigned share : shares)
		EXPECT_NEAR(share, keys / partitions, keys / partitions / 10.0);
	EXPECT_EQ(buckets.size(), 100u) << "keys of one partition are spread over its buckets";
}

TEST(Layout, WhatAServerTellsIsChecked)
{
	const Layout layout{0x1234567890abcdef, 256};
	const std::vector<std::byte> bytes = layout.serialize();
	EXPECT_EQ(Layout::parse(bytes).value(), layout);
	for (std::size_t size = 0; size < bytes.size(); size++)
		EXPECT_EQ(Layout::parse(std::span(bytes).first(size)).error().code, EBADMSG);
	for (const std::uint32_t partitions : {0u, 257u, ~0u})
		EXPECT_EQ(Layout::parse(Layout{1, partitions}.serialize()).error().code, EBADMSG);
	std::vector<std::byte> longer = bytes;
	longer.push_back({});
	EXPECT_EQ(Layout::parse(longer).error().code, EBADMSG);
}

} // namespace
