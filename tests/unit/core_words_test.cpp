/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Copies of memory in concurrent use (S.4.4): what they copy, that no word is torn, and their order. */
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "prism_words.h"
}

namespace
{

using Copy = void (*)(void *, const void *, std::size_t);
using Clock = std::chrono::steady_clock;

constexpr std::size_t margin = 32;
constexpr std::size_t longest = 1024 + 5;
constexpr std::chrono::seconds for_control{20};

/** Copies in a wrong way: the control of each hunter. */
void by_the_byte(void *to, const void *from, std::size_t length)
{
	auto *out = static_cast<std::uint8_t *>(to), *in = static_cast<std::uint8_t *>(const_cast<void *>(from));
	for (std::size_t i = 0; i < length; i++) {
		const std::uint8_t byte = std::atomic_ref(in[i]).load(std::memory_order_relaxed);
		std::atomic_ref(out[i]).store(byte, std::memory_order_relaxed);
		if (i % 8 == 3)
			std::this_thread::yield();
	}
}

std::vector<std::size_t> lengths()
{
	std::vector<std::size_t> all(97);
	std::iota(all.begin(), all.end(), 0);
	all.insert(all.end(), {256, 263, 264, 519, longest});
	return all;
}

TEST(Words, CopyWhatTheyShouldAndNothingElse)
{
	std::vector<std::uint8_t> from(longest + 2 * margin);
	std::iota(from.begin(), from.end(), 1);
	for (const Copy copy : {prism_words_load, prism_words_store, prism_words_copy})
		for (const std::size_t length : lengths())
			for (std::size_t offsets = 0; offsets < 256; offsets++) {
				const std::size_t in = offsets / 16, out = offsets % 16;
				std::vector<std::uint8_t> to(longest + 2 * margin, 0xee);
				std::vector<std::uint8_t> expected = to;
				std::copy_n(from.begin() + static_cast<long>(in), length,
					expected.begin() + static_cast<long>(out));
				copy(to.data() + out, from.data() + in, length);
				ASSERT_EQ(to, expected) << length << " bytes from " << in << " to " << out;
			}
}

TEST(Words, PiecesEndWhereWordsEnd)
{
	for (std::uint64_t address = 0; address < 16; address++) {
		EXPECT_EQ(prism_words_piece(address, 20, 24), 20u) << "the last one";
		EXPECT_EQ((address + prism_words_piece(address, 100, 24)) % PRISM_WORD, 0u);
		EXPECT_GT(prism_words_piece(address, 100, 24), 24u - PRISM_WORD);
	}
}

/* Overlapping ranges of one region (S.2): forward, in pieces */
TEST(Words, OverlappingCopiesEndWithBytesOfTheSource)
{
	for (const int shift : {-300, -9, -8, -1, 1, 8, 9, 300}) {
		std::vector<std::uint8_t> bytes(2048, 0);
		std::fill_n(bytes.begin() + 512, 700, 0x55);
		prism_words_copy(bytes.data() + 512 + shift, bytes.data() + 512, 700);
		EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0x55), 700 + std::abs(shift)) << shift;
	}
}

/** Two threads on the same memory. */
struct Hunt {
	static constexpr std::size_t words = (longest + 16) / 8;

	alignas(64) std::array<std::uint64_t, words> shared{};

	std::uint8_t *bytes() { return reinterpret_cast<std::uint8_t *>(shared.data()); }
	std::uint64_t load(std::size_t i) { return std::atomic_ref(shared[i]).load(std::memory_order_relaxed); }
	void store(std::size_t i, std::uint64_t value)
	{
		std::atomic_ref(shared[i]).store(value, std::memory_order_relaxed);
	}

	/** Duration of hunts that must find nothing; a control runs until it finds something. */
	std::chrono::milliseconds time{150};

	/**
	 * Repeats @p other in a thread while it repeats @p mine; ends when @p mine returns false, or after the time.
	 */
	template <typename Other, typename Mine>
	void run(Other other, Mine mine) const
	{
		std::atomic<bool> stop{false}, begun{false};
		std::thread thread([&] {
			while (!stop.load(std::memory_order_relaxed)) {
				other();
				begun = true;
			}
		});
		while (!begun)
			std::this_thread::yield();
		const auto end = Clock::now() + time;
		while (Clock::now() < end && mine())
			;
		stop = true;
		thread.join();
	}

	static std::uint64_t repeated(std::uint64_t value) { return value % 256 * 0x0101010101010101; }
	static bool torn(std::uint64_t word) { return word != repeated(word); }

	/** Length of a copy: short, and every fourth time of several pieces */
	static std::size_t length(std::size_t turn) { return 8 + turn % 89 + (turn % 4 ? 0 : PRISM_PIECE); }

	/** Loads words by @p copy, at all lengths, while another thread stores them; returns true if a word is torn. */
	bool tears_loads(Copy copy)
	{
		std::atomic<std::size_t> used{0};
		std::uint64_t value = 0;
		bool found = false;
		const auto store_all = [&] {
			value++;
			for (std::size_t i = 0; i < used.load(std::memory_order_relaxed); i++)
				store(i, repeated(value));
		};
		std::size_t turn = 0;
		run(store_all, [&] {
			const std::size_t length = Hunt::length(turn), offset = turn / 89 % 8;
			used = (offset + length + 7) / 8;
			for (int i = 0; i < 20 && !found; i++) {
				std::array<std::uint8_t, longest> mine;
				copy(mine.data() + 3, bytes() + offset, length); /* of another alignment */
				for (std::size_t at = -offset % 8; at + 8 <= length; at += 8)
					found = found || torn(get_unaligned_le64(mine.data() + 3 + at));
			}
			turn++;
			return !found;
		});
		return found;
	}

	/** Stores words by @p copy while another thread loads them; returns true if a word is torn. */
	bool tears_stores(Copy copy)
	{
		std::atomic<bool> found{false};
		std::atomic<std::size_t> first{0}, last{0}, asked{0}, answered{0};
		const auto load_all = [&] {
			const std::size_t question = asked;
			for (std::size_t at = first; at < last; at++)
				if (torn(load(at)))
					found = true;
			answered = question;
		};
		std::size_t turn = 0;
		run(load_all, [&] {
			const std::size_t length = Hunt::length(turn), offset = turn / 89 % 8;
			/* The other thread no longer checks the words of the last turn: this store tears its ends. */
			last = 0;
			const std::size_t question = ++asked;
			while (answered != question)
				std::this_thread::yield();
			first = (offset + 14) / 8;
			last = (offset + length) / 8;
			for (unsigned i = 0; i < 20 && !found; i++) {
				std::array<std::uint8_t, longest> mine;
				mine.fill(static_cast<std::uint8_t>(turn + i));
				copy(bytes() + offset, mine.data() + 3, length);
			}
			turn++;
			for (std::size_t i = 0; i < words; i++)
				store(i, 0);
			return !found;
		});
		return found;
	}
};

TEST(Words, AreLoadedWhole)
{
	for (const Copy copy : {prism_words_load, prism_words_copy})
		EXPECT_FALSE(Hunt().tears_loads(copy));
	EXPECT_TRUE(Hunt{.time = for_control}.tears_loads(by_the_byte)) << "the control";
}

TEST(Words, AreStoredWhole)
{
	for (const Copy copy : {prism_words_store, prism_words_copy})
		EXPECT_FALSE(Hunt().tears_stores(copy));
	EXPECT_TRUE(Hunt{.time = for_control}.tears_stores(by_the_byte)) << "the control";
}

/** The first word of a short copy is stored last: a reader that finds it new finds the others new. */
TEST(Words, OfAShortCopyAreStoredFromTheLast)
{
	for (const std::size_t words : {2, 4}) {
		Hunt hunt;
		std::atomic<bool> wrong{false};
		std::uint64_t count = 0;
		const auto look = [&] {
			const std::uint64_t first = std::atomic_ref(hunt.shared[0]).load(std::memory_order_acquire);
			for (std::size_t i = 1; i < words; i++)
				if (hunt.load(i) < first)
					wrong = true;
		};
		hunt.run(look, [&] {
			std::array<std::uint64_t, 4> fresh;
			fresh.fill(++count);
			prism_words_store(hunt.bytes(), fresh.data(), words * 8);
			return !wrong;
		});
		EXPECT_FALSE(wrong) << words << " words";
	}
}

/** The first word is loaded first: a reader that finds it new finds the others new. */
TEST(Words, OfAShortCopyAreLoadedFromTheFirst)
{
	for (const std::size_t words : {2, 4}) {
		Hunt hunt;
		std::uint64_t count = 0;
		bool wrong = false;
		const auto change = [&] {
			count++;
			for (std::size_t i = words; i--;)
				std::atomic_ref(hunt.shared[i]).store(count, std::memory_order_release);
		};
		hunt.run(change, [&] {
			std::array<std::uint64_t, 4> found{};
			prism_words_load(found.data(), hunt.bytes(), words * 8);
			for (std::size_t i = 1; i < words; i++)
				wrong = wrong || found[i] < found[0];
			return !wrong;
		});
		EXPECT_FALSE(wrong) << words << " words";
	}
}

} // namespace
