/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rings in shared memory, with honest ends and with hostile ones. */
#include "net/local/ring.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "net/local/backlog.hpp"
#include "net/local/bell.hpp"
#include "net/local/shared_memory.hpp"

using namespace prism::soft;

namespace
{

using Bytes = std::vector<std::uint8_t>;

/* Memory of one direction, as two processes share it. */
struct Memory {
	RingIndices indices{};
	alignas(record_alignment) std::array<std::uint8_t, ring_bytes> data{};

	Ring ring() { return {&indices, data.data()}; }
};

Bytes packet_of(std::size_t size, unsigned seed)
{
	Bytes packet(size);
	for (std::size_t i = 0; i < size; i++)
		packet[i] = static_cast<std::uint8_t>(seed * 31 + i);
	return packet;
}

bool put(RingProducer &ring, const Bytes &packet)
{
	std::uint8_t *const room = ring.begin({.length = static_cast<std::uint32_t>(packet.size())});
	if (!room)
		return false;
	std::copy(packet.begin(), packet.end(), room);
	ring.commit();
	return true;
}

/* Takes a packet; empty if there is none. */
Bytes take(RingConsumer &ring)
{
	std::array<std::uint8_t, max_packet_size> buffer;
	const RecordHeader header = ring.take(buffer.data());
	return {buffer.begin(), buffer.begin() + header.length};
}

class LocalRing : public testing::Test
{
protected:
	/* Resets both ends, with an empty ring. */
	void restart()
	{
		memory = std::make_unique<Memory>();
		producer = RingProducer(memory->ring(), &staging);
		consumer = RingConsumer(memory->ring());
	}
	void SetUp() override { restart(); }

	/* Writes an arbitrary record, as a hostile producer. */
	void forge(const RecordHeader &header, std::uint32_t published)
	{
		std::memcpy(memory->data.data(), &header, sizeof(header));
		memory->indices.head = published;
	}

	std::unique_ptr<Memory> memory;
	StagedRecord staging{};
	RingProducer producer;
	RingConsumer consumer;
};

TEST_F(LocalRing, PacketsComeInOrderAndWholeOverManyTurns)
{
	std::mt19937 random(7);
	std::vector<Bytes> sent;
	std::size_t received = 0;
	for (unsigned i = 0; received < 5000; i++) {
		const std::size_t size = bth_size + random() % (max_packet_size - bth_size + 1);
		const Bytes packet = packet_of(size, i);
		if (put(producer, packet))
			sent.push_back(packet);
		if (random() % 3 == 0)
			producer.publish();
		for (Bytes got; random() % 2 && !(got = take(consumer)).empty(); received++)
			ASSERT_EQ(got, sent[received]);
		(void)consumer.release();
	}
	EXPECT_FALSE(producer.broken());
	EXPECT_FALSE(consumer.broken());
}

TEST_F(LocalRing, NothingIsSeenBeforeItIsPublished)
{
	ASSERT_TRUE(put(producer, packet_of(100, 1)));
	EXPECT_TRUE(take(consumer).empty());
	ASSERT_NE(producer.begin({.length = 64}), nullptr); /* begun, and never complete */
	producer.publish();
	EXPECT_EQ(take(consumer), packet_of(100, 1));
	EXPECT_TRUE(take(consumer).empty());
}

TEST_F(LocalRing, AFullRingTakesNoMoreAndLosesNothing)
{
	unsigned put_in = 0;
	while (put(producer, packet_of(1000, put_in)))
		put_in++;
	EXPECT_GE(put_in * record_size(1000), ring_bytes - 2 * record_size(1000));
	EXPECT_FALSE(producer.has_room(1));
	producer.publish();
	for (unsigned i = 0; i < put_in; i++)
		ASSERT_EQ(take(consumer), packet_of(1000, i));
	EXPECT_FALSE(put(producer, packet_of(1000, 0))); /* not before its room is given back */
	(void)consumer.release();
	EXPECT_TRUE(producer.has_room(1));
	EXPECT_TRUE(put(producer, packet_of(1000, 0)));
}

TEST_F(LocalRing, AStarvedProducerIsToldOnce)
{
	while (put(producer, packet_of(1000, 0)))
		;
	producer.publish();
	producer.starve(true);
	ASSERT_FALSE(take(consumer).empty());
	EXPECT_TRUE(consumer.release());
	ASSERT_FALSE(take(consumer).empty());
	EXPECT_FALSE(consumer.release());
}

TEST_F(LocalRing, IndicesThatCannotBeBreakIt)
{
	for (const std::uint32_t head : {1U, 63U, ring_bytes + record_alignment, 0x80000000U, ~0U, ~63U}) {
		restart();
		memory->indices.head = head;
		EXPECT_TRUE(take(consumer).empty()) << head;
		EXPECT_TRUE(consumer.broken()) << head;
	}
	for (const std::uint32_t tail : {1U, ring_bytes + record_alignment, 0x80000000U, ~63U}) {
		restart();
		ASSERT_TRUE(put(producer, packet_of(20, 0))); /* one record */
		producer.publish();
		memory->indices.tail = tail;
		while (put(producer, packet_of(4000, 0)))
			;
		EXPECT_TRUE(producer.broken()) << tail;
		EXPECT_FALSE(producer.has_room(1));
	}
}

TEST_F(LocalRing, AnIndexThatGoesBackBreaksIt)
{
	for (unsigned i = 0; i < 8; i++)
		ASSERT_TRUE(put(producer, packet_of(1000, i)));
	producer.publish();
	const std::uint32_t head = memory->indices.head;
	for (unsigned i = 0; i < 8; i++)
		ASSERT_FALSE(take(consumer).empty());
	(void)consumer.release();
	memory->indices.head = head - record_alignment;
	EXPECT_TRUE(take(consumer).empty());
	EXPECT_TRUE(consumer.broken());
}

TEST_F(LocalRing, LengthsThatCannotBeBreakIt)
{
	const auto longest = static_cast<std::uint32_t>(max_packet_size);
	const auto shortest = static_cast<std::uint32_t>(bth_size);
	for (const std::uint32_t length : {0U, shortest - 1, longest + 1, 0x7fffffffU, 0xfffffff8U, wrap_mark}) {
		restart(); /* a wrap mark at the start of the ring would never end */
		forge({.length = length}, ring_bytes);
		EXPECT_TRUE(take(consumer).empty()) << length;
		EXPECT_TRUE(consumer.broken()) << length;
	}
	restart(); /* longer than the published bytes */
	forge({.length = record_alignment}, record_alignment);
	EXPECT_TRUE(take(consumer).empty());
	EXPECT_TRUE(consumer.broken());
}

TEST_F(LocalRing, ARecordThatLeavesTheRingBreaksIt)
{
	while (put(producer, packet_of(1500, 0)))
		;
	producer.publish();
	while (!take(consumer).empty())
		;
	(void)consumer.release();
	const std::uint32_t at = memory->indices.head;
	const RecordHeader header{.length = max_packet_size};
	ASSERT_LT(ring_bytes - at, record_size(max_packet_size));
	std::memcpy(&memory->data[at], &header, sizeof(header));
	memory->indices.head = at + record_size(max_packet_size);
	EXPECT_TRUE(take(consumer).empty());
	EXPECT_TRUE(consumer.broken());
}

/* An address sanitizer checks this test. */
TEST_F(LocalRing, GarbageIsSurvived)
{
	std::mt19937 random(11);
	for (unsigned round = 0; round < 2000; round++) {
		restart();
		for (std::uint32_t at = 0; at < ring_bytes; at += record_alignment) {
			const auto kind = random() % 4;
			RecordHeader header{.length = wrap_mark};
			if (kind)
				header.length =
					static_cast<std::uint32_t>(kind == 1 ? random() : bth_size + random() % 5000);
			std::memcpy(&memory->data[at], &header, sizeof(header));
		}
		for (unsigned i = 0; i < 200 && !consumer.broken(); i++) {
			const std::uint32_t step = static_cast<std::uint32_t>(random()) % 8 * record_alignment;
			if (random() % 8)
				memory->indices.head += step;
			else
				memory->indices.head = static_cast<std::uint32_t>(random());
			const Bytes got = take(consumer);
			ASSERT_LE(got.size(), max_packet_size);
			(void)consumer.release();
		}
	}
}

/* The contents may change under the reader; the packet that it was given does not. */
TEST_F(LocalRing, WhatWasTakenChangesNoMore)
{
	ASSERT_TRUE(put(producer, packet_of(300, 1)));
	producer.publish();
	const Bytes got = take(consumer);
	memory->data.fill(0xee);
	EXPECT_EQ(got, packet_of(300, 1));
}

/* Long records are assembled in one place, for all peers. */
TEST_F(LocalRing, ALongRecordShowsNothingOfTheOneBefore)
{
	constexpr std::size_t length = staged_record_size + 4;
	ASSERT_TRUE(put(producer, Bytes(max_packet_size, 0xaa)));
	ASSERT_TRUE(put(producer, packet_of(length, 1)));
	producer.publish();
	(void)take(consumer);
	EXPECT_EQ(take(consumer), packet_of(length, 1));
	const std::uint8_t *const record = memory->data.data() + max_record_size;
	for (std::size_t at = sizeof(RecordHeader) + length; at < record_size(length); at++)
		ASSERT_EQ(record[at], 0) << at;
}

TEST_F(LocalRing, BacklogKeepsTheOrder)
{
	Backlog backlog;
	unsigned next = 0;
	while (put(producer, packet_of(500, next)))
		next++;
	const unsigned in_ring = next;
	for (unsigned i = 0; i < 300; i++, next++) {
		const Bytes packet = packet_of(500, next);
		std::copy(packet.begin(), packet.end(), backlog.begin({.length = 500}));
		if (i % 3 == 0) { /* a record that is begun and never complete leaves no trace */
			(void)backlog.begin({.length = 700});
			std::copy(packet.begin(), packet.end(), backlog.begin({.length = 500}));
		}
		backlog.commit();
	}
	EXPECT_FALSE(backlog.empty());
	for (unsigned expected = 0; expected < next;) {
		backlog.move_to(producer);
		producer.publish();
		Bytes got = take(consumer);
		ASSERT_FALSE(got.empty());
		for (; !got.empty(); got = take(consumer))
			ASSERT_EQ(got, packet_of(500, expected++));
		(void)consumer.release();
	}
	EXPECT_TRUE(backlog.empty());
	EXPECT_GT(next, in_ring);
}

/* Two threads that sleep as two processes do: none sleeps for ever, and nothing is lost. */
TEST(LocalBell, NoWakeUpIsLost)
{
	constexpr unsigned count = 30'000;
	auto memory = std::make_unique<Memory>();
	Bell bell;
	std::array<int, 2> pipe{};
	ASSERT_EQ(::pipe(pipe.data()), 0);
	std::thread other([&] {
		StagedRecord staging{};
		RingProducer producer(memory->ring(), &staging);
		for (unsigned i = 0; i < count; i++) {
			while (!put(producer, packet_of(40 + i % 1000, i)))
				std::this_thread::yield();
			producer.publish();
			if (ring_bell(bell)) {
				ASSERT_EQ(::write(pipe[1], "", 1), 1);
			}
			if (i % 64 == 0)
				std::this_thread::yield();
		}
	});
	RingConsumer consumer(memory->ring());
	unsigned received = 0, sleeps = 0;
	while (received < count) {
		const Bytes got = take(consumer);
		if (!got.empty()) {
			ASSERT_EQ(got, packet_of(40 + received % 1000, received));
			received++;
			(void)consumer.release();
			continue;
		}
		bell.attention.store(Attention::asleep, std::memory_order_seq_cst);
		char woken;
		const bool sleep = !consumer.is_waiting();
		sleeps += sleep;
		const bool called = sleep || bell.attention.exchange(Attention::awake) != Attention::asleep;
		if (called) {
			ASSERT_EQ(::read(pipe[0], &woken, 1), 1);
		}
		bell.attention.store(Attention::awake, std::memory_order_seq_cst);
	}
	other.join();
	EXPECT_GT(sleeps, 0U);
	::close(pipe[0]);
	::close(pipe[1]);
}

/* A producer that is killed behind any of its instructions leaves a ring that is empty or holds whole packets. */
TEST(LocalRingOfTheDead, KilledAnywhereNothingHalfWrittenIsSeen)
{
	constexpr unsigned packets = 3;
	const std::size_t size = sizeof(Memory);
	unsigned outcomes = 0;
	bool ended = false;
	for (unsigned steps = 0; !ended && steps < 40'000; steps += 1 + steps / 40) {
		void *const shared = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(shared, MAP_FAILED);
		auto *const memory = new (shared) Memory;
		const Bytes bytes = packet_of(90, 5);
		const pid_t child = ::fork();
		ASSERT_GE(child, 0);
		if (!child) {
			StagedRecord staging{};
			RingProducer producer(memory->ring(), &staging);
			if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) < 0)
				::_exit(9);
			::raise(SIGSTOP);
			for (unsigned i = 0; i < packets; i++) {
				put(producer, bytes);
				producer.publish();
			}
			::_exit(0);
		}
		int status = 0;
		ASSERT_EQ(::waitpid(child, &status, 0), child);
		if (WIFEXITED(status)) {
			::munmap(shared, size);
			GTEST_SKIP() << "this process may not be traced";
		}
		for (unsigned i = 0; i < steps && !ended; i++) {
			ASSERT_EQ(::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
			ASSERT_EQ(::waitpid(child, &status, 0), child);
			ended = WIFEXITED(status);
		}
		if (!ended) {
			::kill(child, SIGKILL);
			::waitpid(child, &status, 0);
		}
		RingConsumer consumer(memory->ring());
		unsigned seen = 0;
		for (Bytes got; !(got = take(consumer)).empty(); seen++)
			ASSERT_EQ(got, bytes) << "after " << steps << " instructions";
		EXPECT_FALSE(consumer.broken()) << "after " << steps << " instructions";
		EXPECT_LE(seen, packets);
		outcomes |= 1U << seen;
		::munmap(shared, size);
	}
	EXPECT_TRUE(ended);
	EXPECT_EQ(outcomes & 0b0111, 0b0111U) << "not all moments were met";
}

TEST(LocalMemory, AFileThatMayShrinkIsRefused)
{
	constexpr std::size_t size = 8192;
	const FileDescriptor good = create_shared_file("test", size);
	ASSERT_TRUE(good);
	EXPECT_TRUE(is_shared_file(good.get(), size));
	EXPECT_FALSE(is_shared_file(good.get(), 2 * size));
	EXPECT_LT(::ftruncate(good.get(), 0), 0);
	EXPECT_LT(::ftruncate(good.get(), 2 * size), 0);

	const FileDescriptor open(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	ASSERT_EQ(::ftruncate(open.get(), size), 0);
	EXPECT_FALSE(is_shared_file(open.get(), size));
	ASSERT_EQ(::fcntl(open.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL), 0);
	EXPECT_FALSE(is_shared_file(open.get(), size));
	const FileDescriptor device(::open("/dev/null", O_RDWR | O_CLOEXEC));
	EXPECT_FALSE(is_shared_file(device.get(), size));
}

TEST(LocalMemory, AChildIsToldFromItsParent)
{
	const ForkMark mark;
	ASSERT_TRUE(mark);
	EXPECT_FALSE(mark.in_child());
	const pid_t child = ::fork();
	if (!child)
		::_exit(mark.in_child() ? 3 : 4);
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	EXPECT_EQ(WEXITSTATUS(status), 3);
	EXPECT_FALSE(mark.in_child());
}

} // namespace
