/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/coherence/cache.hpp"
#include "gam/coherence/execute.hpp"
#include "gam/coherence/lock.hpp"
#include "gam/coherence/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace prism::gam;

namespace
{

struct Line : CacheLine {
};

Address block(std::uint64_t number)
{
	return {3, number * block_size};
}

struct CacheOfThree : testing::Test {
	std::vector<std::byte> memory = std::vector<std::byte>(3 * block_size);
	Cache<Line> cache{memory};

	void fill()
	{
		for (const std::uint64_t number : {1, 2, 3})
			cache.unpin(*cache.take(block(number)));
	}
};

TEST_F(CacheOfThree, FindsWhatItHas)
{
	fill();
	for (const std::uint64_t number : {1, 2, 3}) {
		ASSERT_TRUE(cache.find(block(number)));
		EXPECT_EQ(cache.find(block(number))->block(), block(number));
	}
	EXPECT_FALSE(cache.find(block(4)));
	EXPECT_FALSE(cache.find(Address(4, block_size))) << "of another home";
}

TEST_F(CacheOfThree, EachLineHasBytesOfItsOwn)
{
	fill();
	std::set<std::byte *> places;
	cache.for_each([&](const Line &line) { places.insert(line.data()); });
	EXPECT_EQ(places, (std::set<std::byte *>{&memory[0], &memory[block_size], &memory[2 * block_size]}));
}

TEST_F(CacheOfThree, HasNoMoreThanItsMemory)
{
	fill();
	EXPECT_TRUE(cache.is_full());
	EXPECT_FALSE(cache.take(block(4)));
	cache.release(*cache.find(block(2)));
	EXPECT_EQ(cache.used(), 2U);
	EXPECT_FALSE(cache.find(block(2)));
	ASSERT_TRUE(cache.take(block(4)));
	EXPECT_TRUE(cache.find(block(4)));
}

TEST_F(CacheOfThree, KnowsWhichWasNotUsedForLongest)
{
	fill();
	EXPECT_EQ(cache.least_recently_used()->block(), block(1));
	cache.touch(*cache.find(block(1)));
	EXPECT_EQ(cache.least_recently_used()->block(), block(2));
	cache.touch(*cache.find(block(1)));
	cache.touch(*cache.find(block(2)));
	EXPECT_EQ(cache.least_recently_used()->block(), block(3));
}

TEST_F(CacheOfThree, PinnedLinesAreSkipped)
{
	fill();
	cache.pin(*cache.find(block(1)));
	cache.pin(*cache.find(block(1)));
	EXPECT_EQ(cache.least_recently_used()->block(), block(2));
	cache.pin(*cache.find(block(2)));
	cache.pin(*cache.find(block(3)));
	EXPECT_FALSE(cache.least_recently_used());
	cache.touch(*cache.find(block(3)));
	EXPECT_FALSE(cache.least_recently_used()) << "a use does not unpin";
	cache.unpin(*cache.find(block(3)));
	EXPECT_EQ(cache.least_recently_used()->block(), block(3));
	cache.release(*cache.find(block(1)));
	EXPECT_EQ(cache.used(), 2U);
}

struct ReadBeside : CacheOfThree {
	std::array<std::byte, 24> bytes{};

	Line &shown(std::uint64_t number)
	{
		Line *const line = cache.find(block(number)) ? cache.find(block(number)) : cache.take(block(number));
		cache.unpin(*line);
		cache.show(*line);
		return *line;
	}
	bool reads(std::uint64_t number) { return cache.read(block(number) + 5, bytes); }
};

TEST_F(ReadBeside, FindsWhatIsShown)
{
	EXPECT_FALSE(reads(1));
	Line &line = shown(1);
	for (std::size_t i = 0; i < block_size; i++)
		line.data()[i] = static_cast<std::byte>(i);
	ASSERT_TRUE(reads(1));
	for (std::size_t i = 0; i < bytes.size(); i++)
		EXPECT_EQ(bytes[i], static_cast<std::byte>(i + 5));
	EXPECT_FALSE(reads(2));
	EXPECT_FALSE(cache.read(Address(4, block_size), bytes)) << "of another home";
	cache.hide(line);
	EXPECT_FALSE(reads(1));
	cache.show(line);
	EXPECT_TRUE(reads(1));
	cache.use(line, [&] { EXPECT_FALSE(reads(1)); });
	EXPECT_TRUE(reads(1));
	cache.release(line);
	EXPECT_FALSE(reads(1));
	EXPECT_FALSE(reads(2));
}

TEST_F(ReadBeside, HiddenLinesStayHidden)
{
	Line &line = shown(1);
	cache.hide(line);
	cache.use(line, [] {});
	EXPECT_FALSE(reads(1));
	cache.touch(line);
	EXPECT_FALSE(reads(1));
}

TEST_F(ReadBeside, CountsAsAUse)
{
	fill();
	shown(1);
	EXPECT_TRUE(reads(1));
	EXPECT_EQ(cache.least_recently_used()->block(), block(2));
	cache.release(*cache.find(block(2)));
	cache.release(*cache.find(block(3)));
	EXPECT_EQ(cache.least_recently_used()->block(), block(1));
}

/** Checks that copies are consistent while others change the line or give its place to another block. */
TEST_F(ReadBeside, IsOfOneMoment)
{
	std::atomic<bool> over{false};
	std::atomic<std::uint64_t> seen{0};
	const auto look = [&](std::uint64_t number) {
		std::array<std::uint64_t, block_size / 8> words{};
		if (!cache.read(block(number), std::as_writable_bytes(std::span(words))))
			return;
		seen++;
		for (const std::uint64_t word : words) {
			EXPECT_EQ(word, words[0]);
			EXPECT_EQ(word % 4, number);
		}
	};
	std::vector<std::jthread> readers;
	for (int i = 0; i < 2; i++)
		readers.emplace_back([&] {
			while (!over.load(std::memory_order_relaxed)) {
				for (const std::uint64_t number : {1, 2, 3})
					look(number);
			}
		});
	std::array<std::uint64_t, block_size / 8> words{};
	for (std::uint64_t round = 0; round < 100000 || (seen < 1000 && round < 100000000); round++) {
		const std::uint64_t number = 1 + round % 3;
		words.fill(4 * round + number);
		const auto store = [&] {
			store_words(cache.find(block(number))->data(), std::as_bytes(std::span(words)));
		};
		if (round % 7 == 0 || !cache.find(block(number))) {
			if (cache.find(block(number)))
				cache.release(*cache.find(block(number)));
			cache.unpin(*cache.take(block(number)));
			store();
			cache.show(*cache.find(block(number)));
		} else {
			cache.use(*cache.find(block(number)), store);
		}
	}
	over = true;
	readers.clear();
	EXPECT_GE(seen, 1000U);
}

struct WriteBeside : ReadBeside {
	using Words = std::array<std::uint64_t, block_size / 8>;

	Line &opened(std::uint64_t number)
	{
		Line &line = shown(number);
		cache.open(line);
		return line;
	}
	bool writes(std::uint64_t number, std::uint64_t value = 0)
	{
		Words words;
		words.fill(value);
		return cache.write(block(number), std::as_bytes(std::span(words)));
	}
	static void expect_whole(const Words &words, std::uint64_t number)
	{
		for (const std::uint64_t word : words) {
			EXPECT_EQ(word, words[0]);
			EXPECT_EQ(word % 4, number);
		}
	}
};

TEST_F(WriteBeside, FindsWhatIsOpen)
{
	EXPECT_FALSE(writes(1));
	Line &line = shown(1);
	EXPECT_FALSE(writes(1)) << "others may have copies";
	cache.open(line);
	bytes.fill(std::byte{7});
	ASSERT_TRUE(cache.write(block(1) + 5, bytes));
	EXPECT_EQ(line.data()[4], std::byte{0});
	EXPECT_EQ(line.data()[5], std::byte{7});
	EXPECT_EQ(line.data()[5 + bytes.size() - 1], std::byte{7});
	EXPECT_EQ(line.data()[5 + bytes.size()], std::byte{0});
	cache.use(line, [&] { EXPECT_FALSE(writes(1)); });
	EXPECT_TRUE(writes(1)) << "it was used as it was";
	EXPECT_FALSE(writes(2));
	EXPECT_FALSE(cache.write(Address(4, block_size), bytes)) << "of another home";
}

TEST_F(WriteBeside, WhatWasHiddenIsOpenedAnew)
{
	Line &line = opened(1);
	cache.hide(line);
	EXPECT_FALSE(writes(1));
	cache.open(line);
	EXPECT_FALSE(writes(1)) << "it is not shown";
	cache.show(line);
	EXPECT_FALSE(writes(1));
	cache.open(line);
	EXPECT_TRUE(writes(1));
	cache.release(line);
	EXPECT_FALSE(writes(1));
}

TEST_F(WriteBeside, CountsAsAUse)
{
	fill();
	opened(1);
	EXPECT_TRUE(writes(1));
	EXPECT_EQ(cache.least_recently_used()->block(), block(2));
}

/** Runs two writers, a reader and the owner of the cache: each of them must find the result of one write. */
TEST_F(WriteBeside, IsOfOneMoment)
{
	std::atomic<bool> over{false};
	std::atomic<std::uint64_t> written{0};
	std::array<std::atomic<std::uint64_t>, 2> newest{};
	std::vector<std::jthread> others;
	for (std::uint64_t writer = 0; writer < 2; writer++)
		others.emplace_back([&, writer] {
			for (std::uint64_t round = 1; !over.load(std::memory_order_relaxed); round++) {
				const std::uint64_t number = 1 + round % 3;
				if (!writes(number, 8 * round + 4 * writer + number))
					continue;
				written++;
				if (number == 1)
					newest[writer] = round;
			}
		});
	others.emplace_back([&] {
		Words words{};
		while (!over.load(std::memory_order_relaxed)) {
			for (const std::uint64_t number : {1, 2, 3}) {
				if (cache.read(block(number), std::as_writable_bytes(std::span(words))))
					expect_whole(words, number);
			}
		}
	});
	Words words{};
	for (std::uint64_t round = 0; round < 40000 || (written < 1000 && round < 100000000); round++) {
		const std::uint64_t number = 1 + round % 3;
		Line *line = cache.find(block(number));
		const std::uint64_t before = std::min(newest[0], newest[1]);
		if (!line) {
			line = cache.take(block(number));
			words.fill(8 * before + number);
			store_words(line->data(), std::as_bytes(std::span(words)));
		}
		cache.hide(*line);
		std::memcpy(words.data(), line->data(), block_size);
		expect_whole(words, number);
		EXPECT_TRUE(number != 1 || words[0] / 8 >= before) << "what was written is there";
		EXPECT_EQ(std::memcmp(words.data(), line->data(), block_size), 0) << "nobody writes to it";
		if (round % 7 == 0 && number != 1) {
			cache.release(*line);
		} else {
			opened(number);
			cache.use(*line, [&] { std::memcpy(words.data(), line->data(), block_size); });
			expect_whole(words, number);
		}
	}
	over = true;
	others.clear();
	EXPECT_GE(written, 1000U);
}

TEST(CacheOfNothing, HasNoLine)
{
	Cache<Line> cache({});
	EXPECT_FALSE(cache.find(block(0)));
	EXPECT_FALSE(cache.take(block(0)));
	EXPECT_FALSE(cache.least_recently_used());
	std::array<std::byte, 1> byte{};
	EXPECT_FALSE(cache.read(block(0), byte));
	EXPECT_FALSE(cache.write(block(0), byte));
}

Access of(AccessKind kind, ThreadId thread)
{
	Access access;
	access.kind = kind;
	access.thread = thread;
	return access;
}

TEST(AccessQueue, IsFirstInFirstOut)
{
	std::array<Access, 4> accesses;
	AccessQueue queue;
	EXPECT_TRUE(queue.empty());
	queue.push(accesses[1]);
	queue.push(accesses[2]);
	queue.push_front(accesses[0]);
	queue.remove_if([&](const Access &access) { return &access == &accesses[1]; });
	queue.push(accesses[3]);
	EXPECT_EQ(&queue.pop(), &accesses[0]);
	EXPECT_EQ(&queue.pop(), &accesses[2]);
	EXPECT_EQ(&queue.pop(), &accesses[3]);
	EXPECT_TRUE(queue.empty());
	queue.push(accesses[1]);
	EXPECT_EQ(&queue.front(), &accesses[1]);
}

TEST(BlockLock, ManyReadOrOneWrites)
{
	BlockLock lock;
	EXPECT_TRUE(lock.allows(true));
	EXPECT_EQ(lock.take(of(AccessKind::read_lock, 1)), 0);
	EXPECT_EQ(lock.take(of(AccessKind::read_lock, 0)), 0);
	EXPECT_TRUE(lock.allows(false));
	EXPECT_FALSE(lock.allows(true));
	EXPECT_TRUE(lock.admits(of(AccessKind::read, 2)));
	EXPECT_FALSE(lock.admits(of(AccessKind::write, 2)));
	lock.give_back(1);
	EXPECT_TRUE(lock.is_held());
	lock.give_back(0);
	EXPECT_FALSE(lock.is_held());
	EXPECT_EQ(lock.take(of(AccessKind::write_lock, 1)), 0);
	EXPECT_FALSE(lock.allows(false));
	EXPECT_TRUE(lock.admits(of(AccessKind::write, 1)));
	EXPECT_FALSE(lock.admits(of(AccessKind::read, 2)));
	lock.give_back(1);
	EXPECT_TRUE(lock.allows(true));
}

TEST(BlockLock, RefusesWhatCanNeverBe)
{
	BlockLock lock;
	EXPECT_EQ(lock.refusal(of(AccessKind::unlock, 1)), EPERM);
	EXPECT_EQ(lock.take(of(AccessKind::read_lock, 1)), 0);
	EXPECT_EQ(lock.refusal(of(AccessKind::read_lock, 1)), EDEADLK);
	EXPECT_EQ(lock.refusal(of(AccessKind::write_lock, 1)), EDEADLK);
	EXPECT_EQ(lock.refusal(of(AccessKind::write, 1)), EDEADLK);
	EXPECT_EQ(lock.refusal(of(AccessKind::atomic, 1)), EDEADLK);
	EXPECT_EQ(lock.refusal(of(AccessKind::read, 1)), 0);
	EXPECT_EQ(lock.refusal(of(AccessKind::unlock, 2)), EPERM);
	EXPECT_EQ(lock.refusal(of(AccessKind::unlock, 1)), 0);
	lock.give_back(1);
	EXPECT_EQ(lock.take(of(AccessKind::write_lock, 1)), 0);
	EXPECT_EQ(lock.refusal(of(AccessKind::write_lock, 1)), EDEADLK);
	EXPECT_EQ(lock.refusal(of(AccessKind::write, 1)), 0);
}

TEST(BlockLock, HasRoomForSoManyReaders)
{
	BlockLock lock;
	for (ThreadId thread = 0; thread < BlockLock::max_readers; thread++) {
		ASSERT_EQ(lock.refusal(of(AccessKind::read_lock, thread)), 0);
		ASSERT_EQ(lock.take(of(AccessKind::read_lock, thread)), 0);
	}
	EXPECT_EQ(lock.refusal(of(AccessKind::read_lock, BlockLock::max_readers)), EOVERFLOW);
}

TEST(Execute, ReadsAndWritesWhereItSays)
{
	std::array<std::byte, block_size> bytes{};
	std::array<std::byte, 3> value{std::byte{1}, std::byte{2}, std::byte{3}};
	Access access = of(AccessKind::write, 0);
	access.at = Address(1, block_size + 509);
	access.length = 3;
	access.bytes = value.data();
	EXPECT_TRUE(is_well_formed(access));
	execute(access, bytes.data());
	EXPECT_EQ(bytes[511], std::byte{3});
	value = {};
	access.kind = AccessKind::read;
	execute(access, bytes.data());
	EXPECT_EQ(value[0], std::byte{1});
	access.length = 4;
	EXPECT_FALSE(is_well_formed(access)) << "beyond the block";
	access.length = 0;
	EXPECT_FALSE(is_well_formed(access));
}

std::uint64_t changed(Function function, std::uint64_t old, std::uint64_t operand, std::uint16_t length)
{
	std::array<std::byte, block_size> bytes;
	bytes.fill(std::byte{0xee});
	std::memcpy(bytes.data(), &old, length);
	Access access = of(AccessKind::atomic, 0);
	access.function = function;
	access.operand = operand;
	access.compare = 5;
	access.length = length;
	EXPECT_TRUE(is_well_formed(access));
	execute(access, bytes.data());
	EXPECT_EQ(access.old_value, old);
	EXPECT_EQ(bytes[length], std::byte{0xee});
	std::uint64_t now = 0;
	std::memcpy(&now, bytes.data(), length);
	return now;
}

TEST(Execute, Atomics)
{
	EXPECT_EQ(changed(Function::add, 0xff, 2, 1), 1U);
	EXPECT_EQ(changed(Function::add, 0xff, 2, 2), 0x101U);
	EXPECT_EQ(changed(Function::swap, 1, 0x123456789, 4), 0x23456789U);
	EXPECT_EQ(changed(Function::swap, 1, 0x123456789, 8), 0x123456789U);
	EXPECT_EQ(changed(Function::compare_swap, 5, 9, 8), 9U);
	EXPECT_EQ(changed(Function::compare_swap, 6, 9, 8), 6U);
	EXPECT_EQ(changed(Function::bit_and, 6, 3, 8), 2U);
	EXPECT_EQ(changed(Function::bit_or, 6, 3, 8), 7U);
	Access access = of(AccessKind::atomic, 0);
	for (const std::uint16_t length : {0, 3, 16}) {
		access.length = length;
		EXPECT_FALSE(is_well_formed(access));
	}
}

} // namespace
