/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Loads and stores of a processor while requests access the same memory (S.4.4). Each hunter has a control here, which
 * breaks the rules on purpose and must be found.
 */
#include "harness.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace verbs_test
{
namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::size_t mtu = 1024; /* of PathOptions */
constexpr std::size_t place = 4096;
constexpr std::size_t longest = 4096 + 5;
constexpr std::chrono::milliseconds time_to_hunt{400};
constexpr std::chrono::milliseconds time_for_control{10000};

/** Repeats a step in a thread, until it is destroyed. */
class Processor
{
public:
	template <typename Step>
	explicit Processor(Step step)
		: thread_([this, step]() mutable {
			  while (!stop_.load(std::memory_order_relaxed))
				  step();
		  })
	{
	}
	~Processor()
	{
		stop_ = true;
		thread_.join();
	}

private:
	std::atomic<bool> stop_{false};
	std::thread thread_;
};

/** Gives others some time to see a half-done state. */
void pause_a_little()
{
	std::this_thread::sleep_for(std::chrono::microseconds(20));
}

/** Returns a word of one value, eight times. */
std::uint64_t repeated(std::uint64_t value)
{
	return value % 256 * 0x0101010101010101;
}

std::atomic_ref<std::uint64_t> word_at(std::uint8_t *address)
{
	return std::atomic_ref(*reinterpret_cast<std::uint64_t *>(address));
}

/** A copy of @c length bytes, at @c offset from an aligned address. */
struct Range {
	std::size_t offset;
	std::size_t length;

	[[nodiscard]] std::size_t end() const { return offset + length; }
	/** Returns true if the word at @p at, a multiple of 8, lies within one packet of the copy. */
	[[nodiscard]] bool has_word(std::size_t at) const
	{
		return at >= offset && at + 8 <= end() && (at - offset) / mtu == (at + 7 - offset) / mtu;
	}
	/** Returns the number of words at @p bytes whose bytes differ. */
	[[nodiscard]] int torn(std::uint8_t *bytes) const
	{
		int count = 0;
		for (std::size_t at = 0; at < end(); at += 8) {
			if (!has_word(at))
				continue;
			const std::uint64_t word = word_at(bytes + at).load(std::memory_order_relaxed);
			count += word != repeated(word);
		}
		return count;
	}
};

std::vector<Range> ranges()
{
	std::vector<Range> all;
	for (std::size_t length = 1; length <= 96; length++)
		for (const std::size_t offset : {std::size_t{0}, 1 + length % 7})
			all.push_back({offset, length});
	for (const std::size_t length : {std::size_t{256}, longest})
		for (const std::size_t offset : {0, 3, 4})
			all.push_back({offset, length});
	return all;
}

class Words : public EachVariant
{
protected:
	Words() { connect(); }

	/** Calls @p each with all ranges, again and again until the time is over; ends when @p each returns false. */
	template <typename Hunt>
	void hunt(std::chrono::milliseconds time, Hunt each)
	{
		const auto end = Clock::now() + time;
		do {
			for (const Range &range : ranges())
				if (!each(range) || HasFailure())
					return;
		} while (Clock::now() < end);
	}

	/** Stores the same words again and again, in the order of their addresses. */
	class Stores
	{
	public:
		Stores(std::uint8_t *bytes, bool bytewise) : bytes_(bytes), bytewise_(bytewise) {}
		void watch(const Range &range) { end_ = (range.end() + 7) / 8 * 8; }
		void step()
		{
			const std::uint64_t word = repeated(++value_);
			for (std::size_t at = 0; at < end_.load(std::memory_order_relaxed); at += 8) {
				if (bytewise_) {
					std::memcpy(bytes_ + at, &word, 3);
					pause_a_little();
				}
				word_at(bytes_ + at).store(word, std::memory_order_relaxed);
			}
		}

	private:
		std::uint8_t *bytes_;
		bool bytewise_;
		std::atomic<std::size_t> end_{0};
		std::uint64_t value_ = 0;
	};

	int torn_in_reads(std::chrono::milliseconds time, bool bytewise);
	int torn_in_writes(std::chrono::milliseconds time, bool bytewise);
	Op writing(int kind, const Range &range);
	int mixed_pointers(std::chrono::milliseconds time, bool address_first);
};

/* READs of words that a processor stores --------------------------------------------------------------------------- */

int Words::torn_in_reads(std::chrono::milliseconds time, bool bytewise)
{
	Stores stores(server.memory.bytes(place), bytewise);
	const Processor processor([&] { stores.step(); });
	int torn = 0, kind = 0;
	hunt(time, [&](const Range &range) {
		stores.watch(range);
		const std::vector<ibv_sge> landing = {
			client.memory.sge(place + range.offset, static_cast<std::uint32_t>(range.length))};
		Op read = prism_read(landing, server.memory, place + range.offset);
		if (kind % 3 == 1)
			read = standard(IBV_WR_RDMA_READ, landing, &server.memory, place + range.offset);
		if (kind % 3 == 2) {
			server.memory.put(0, server.memory.at(place + range.offset));
			read = prism_read(landing, server.memory, 0).indirect();
		}
		EXPECT_EQ(run(read).status, IBV_WC_SUCCESS);
		const int found = range.torn(client.memory.bytes(place));
		EXPECT_TRUE(bytewise || !found)
			<< range.length << " bytes at " << range.offset << ", kind " << kind % 3;
		torn += found;
		kind++;
		return !(bytewise && torn);
	});
	return torn;
}

TEST_P(Words, AreReadWhole)
{
	EXPECT_EQ(torn_in_reads(time_to_hunt, false), 0);
}

TEST_P(Words, StoredByTheByteAreFoundTornInReads)
{
	EXPECT_GT(torn_in_reads(time_for_control, true), 0);
}

/* WRITEs to words that a processor loads --------------------------------------------------------------------------- */

constexpr std::size_t source = 16 << 10; /* in the memory of both */
constexpr int writing_kinds = 7;

/** Returns a request that stores to @p range of the server's memory; of kind 0, to the client's, which a READ does. */
Op Words::writing(int kind, const Range &range)
{
	const auto length = static_cast<std::uint32_t>(range.length);
	const std::size_t from = source + kind; /* with another alignment */
	const std::vector<ibv_sge> sges = {client.memory.sge(from, length)};
	switch (kind) {
	case 0:
		return prism_read({client.memory.sge(place + range.offset, length)}, server.memory, from);
	case 1:
		return standard(IBV_WR_RDMA_WRITE, sges, &server.memory, place + range.offset);
	case 2:
		post_recv(peer.get(), server.memory.sge(place + range.offset, length));
		return standard(IBV_WR_SEND, sges);
	case 3:
		return prism_write({}, server.memory, place + range.offset)
			.data_from(server.memory.at(from), server.memory.key(), length);
	case 4:
		return prism_read({}, server.memory, from)
			.redirect(server.memory.at(place + range.offset), server.memory.key(), length);
	default:
		return prism_write(sges, server.memory, place + range.offset);
	}
}

int Words::torn_in_writes(std::chrono::milliseconds time, bool bytewise)
{
	std::atomic<const Range *> watched{nullptr};
	std::atomic<std::uint8_t *> bytes{server.memory.bytes(place)};
	std::atomic<int> torn{0}, asked{0}, answered{0};
	const Processor processor([&] {
		const int question = asked;
		if (const Range *range = watched)
			torn += range->torn(bytes);
		answered = question;
	});
	int kind = 0;
	unsigned value = 0;
	hunt(time, [&](const Range &range) {
		bytes = kind ? server.memory.bytes(place) : client.memory.bytes(place);
		watched = &range;
		for (int i = 0; i < 2; i++) {
			std::memset(client.memory.bytes(source), static_cast<int>(++value), longest + writing_kinds);
			std::memset(server.memory.bytes(source), static_cast<int>(value), longest + writing_kinds);
			if (bytewise) {
				for (std::size_t at = range.offset; at < range.end(); at++) {
					std::atomic_ref(server.memory.bytes(place)[at])
						.store(static_cast<std::uint8_t>(value), std::memory_order_relaxed);
					if (at % 8 == 3)
						pause_a_little();
				}
				continue;
			}
			EXPECT_EQ(run(writing(kind, range)).status, IBV_WC_SUCCESS);
			const bool received = kind == 2;
			EXPECT_TRUE(!received || next(server.cq.get()).has_value());
		}
		EXPECT_TRUE(bytewise || !torn) << range.length << " bytes at " << range.offset << ", kind " << kind;
		/*
		 * The processor no longer checks: the next request tears the ends of this one, and stores other bytes.
		 */
		watched = nullptr;
		const int question = ++asked;
		while (answered != question)
			std::this_thread::yield();
		std::memset(server.memory.bytes(place), 0, longest + 16);
		std::memset(client.memory.bytes(place), 0, longest + 16);
		kind = bytewise ? 1 : (kind + 1) % writing_kinds;
		return !(bytewise && torn);
	});
	return torn;
}

TEST_P(Words, AreWrittenWhole)
{
	EXPECT_EQ(torn_in_writes(time_to_hunt, false), 0);
}

TEST_P(Words, WrittenByTheByteAreFoundTorn)
{
	EXPECT_GT(torn_in_writes(time_for_control, true), 0);
}

/* Bounded pointers that a processor publishes --------------------------------------------------------------------- */

constexpr unsigned buffers = 8;
constexpr std::uint32_t beyond = 512; /* length that is requested */

std::size_t buffer_at(unsigned number)
{
	return place + number * beyond;
}

/** Each buffer has a length of its own, and contents of its own: its number from 1 on. */
std::uint32_t buffer_length(unsigned number)
{
	return 37 + number * 48;
}

/** Returns how many READs found a pointer that never existed, or bytes that are not the buffer's. */
int Words::mixed_pointers(std::chrono::milliseconds time, bool address_first)
{
	auto *slot = reinterpret_cast<prismdv_bounded_ptr *>(server.memory.bytes(64));
	for (unsigned i = 0; i < buffers; i++) {
		std::memset(server.memory.bytes(buffer_at(i)), 0xee, beyond);
		std::memset(server.memory.bytes(buffer_at(i)), static_cast<int>(i + 1), buffer_length(i));
	}
	std::atomic<unsigned> begun{0}, ended{0}; /* READs */
	std::array<unsigned, buffers> free_after{};
	unsigned published = 0;
	const Processor processor([&] {
		const unsigned number = (published + 1) * 5 % buffers; /* longer and shorter ones alternate */
		/* An address that returned during a READ would be taken for one that has been there all the time. */
		if (static_cast<int>(ended - free_after[number]) < 0)
			return;
		published++;
		const std::uint64_t address = server.memory.at(buffer_at(number));
		if (address_first) {
			word_at(server.memory.bytes(64)).store(address, std::memory_order_release);
			pause_a_little();
		}
		prismdv_publish_ptr(slot, address, buffer_length(number), number);
		for (unsigned wait = published % 128; wait; wait--)
			word_at(server.memory.bytes(64)).load(std::memory_order_relaxed);
		prismdv_retract_ptr(slot);
		free_after[number] = begun;
	});
	int mixed = 0, found = 0, none = 0;
	const auto begin = Clock::now();
	/* Each side may wait for the other to be scheduled. */
	const auto over = [&] {
		const auto passed = Clock::now() - begin;
		return passed > time_for_control || (passed > time && found && none);
	};
	while (!over() && !(address_first && mixed) && !HasFailure()) {
		begun++;
		const ibv_wc wc = run(prism_read({client.memory.sge(0, beyond)}, server.memory, 64).bounded());
		ended++;
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		if (wc.vendor_err == PRISMDV_STATUS_NULL_POINTER) {
			none++;
			continue;
		}
		found++;
		const std::uint8_t *bytes = client.memory.bytes(0);
		const unsigned number = bytes[0] - 1u;
		const bool right = number < buffers && wc.byte_len == buffer_length(number) &&
				   std::all_of(bytes, bytes + wc.byte_len, [&](auto byte) { return byte == *bytes; });
		mixed += !right;
		EXPECT_TRUE(address_first || right) << wc.byte_len << " bytes of buffer " << number;
	}
	EXPECT_TRUE(address_first || (found && none)) << found << " found, " << none << " not";
	return mixed;
}

TEST_P(Words, OfAPointerBelongTogether)
{
	EXPECT_EQ(mixed_pointers(time_to_hunt, false), 0);
}

TEST_P(Words, OfAPointerPublishedAddressFirstAreFoundMixed)
{
	EXPECT_GT(mixed_pointers(time_for_control, true), 0);
}

/* Bounded pointers that a request stores -------------------------------------------------------------------------- */

TEST_P(Words, OfAStoredPointerComeBehindThePayloadAndTheBound)
{
	FreeList list(server, 8);
	const auto *slot = reinterpret_cast<const prismdv_bounded_ptr *>(server.memory.bytes(64));
	std::atomic<std::uint32_t> taken{0};
	std::atomic<int> wrong{0};
	const Processor processor([&] {
		prismdv_bounded_ptr found;
		if (!prismdv_fetch_ptr(slot, &found))
			return;
		const auto *bytes = reinterpret_cast<const std::uint8_t *>(found.ptr);
		const std::uint32_t length = 100 + found.tag % 100;
		wrong += found.tag != taken + 1 || found.bound != length || bytes[0] != found.tag % 256 ||
			 bytes[length - 1] != found.tag % 256;
		prismdv_retract_ptr(reinterpret_cast<prismdv_bounded_ptr *>(server.memory.bytes(64)));
		taken++;
	});
	const auto end = Clock::now() + time_to_hunt;
	for (std::uint32_t tag = 1; Clock::now() < end && !HasFailure(); tag++) {
		const std::uint32_t length = 100 + tag % 100;
		ASSERT_EQ(list.post(server.memory.sge(place + tag % 2 * beyond, beyond)), 0);
		std::memset(client.memory.bytes(0), static_cast<int>(tag), length);
		const Op allocate = prism_allocate({client.memory.sge(0, length)}, list.get(), tag)
					    .redirect_bounded(server.memory.at(64), server.memory.key());
		ASSERT_EQ(status(allocate), std::uint32_t{PRISMDV_STATUS_OK});
		EXPECT_TRUE(pump_until([&] { return taken == tag; })) << "pointer " << tag << " was not seen";
		EXPECT_EQ(wrong, 0) << "pointer " << tag;
	}
}

/**
 * Variants without those that differ in progress or in the number of contexts: those that guests run, and one of ours.
 */
std::vector<Variant> hunting_variants()
{
	std::vector<Variant> all = all_variants();
	std::erase_if(all, [](const Variant &variant) { return variant.one_context || variant.about_progress; });
	return all;
}

INSTANTIATE_TEST_SUITE_P(Each, Words, testing::ValuesIn(hunting_variants()), variant_name);

} // namespace
} // namespace verbs_test
