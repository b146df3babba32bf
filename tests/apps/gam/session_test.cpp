/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/api/session.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <numeric>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "common/task.hpp"
#include "gam/api/pointer.hpp"

using namespace prism::gam;
using prism::gam::test::Cluster;
using prism::gam::test::ClusterOptions;
using prism::gam::test::DirectoryMaking;

namespace
{

/** Returns options of a cluster whose nodes answer by themselves. */
ClusterOptions serving(std::size_t nodes = 2)
{
	ClusterOptions options;
	options.nodes = nodes;
	options.node.serves = true;
	return options;
}

std::span<const std::byte> bytes_of(const auto &value)
{
	return std::as_bytes(std::span(&value, 1));
}
std::span<std::byte> room_of(auto &value)
{
	return std::as_writable_bytes(std::span(&value, 1));
}

std::uint64_t word_at(Session &session, Address address)
{
	std::uint64_t word = ~std::uint64_t{0};
	EXPECT_EQ(session.read(address, room_of(word)), 0);
	return word;
}

TEST(Session, ReadsOnOneNodeWhatAnotherHasWritten)
{
	Cluster cluster(serving(3));
	Session writer(cluster.node(0)), reader(cluster.node(1));
	for (const Placement &where :
		{Placement::local(), Placement::remote(), Placement::random(), Placement::near(Address(2, 0))}) {
		Address address;
		ASSERT_EQ(writer.malloc(8, address, where), 0);
		EXPECT_EQ(word_at(reader, address), 0u);
		const std::uint64_t word = 0x1122334455667788;
		ASSERT_EQ(writer.write(address, bytes_of(word)), 0);
		ASSERT_EQ(writer.mfence(), 0);
		EXPECT_EQ(word_at(reader, address), word);
		EXPECT_EQ(writer.free(address), 0);
	}
}

TEST(Session, LongAccessesSpanBlocks)
{
	Cluster cluster(serving(3));
	Session writer(cluster.node(0)), reader(cluster.node(2));
	std::vector<std::byte> bytes(10 * block_size + 77);
	for (std::size_t i = 0; i < bytes.size(); i++)
		bytes[i] = static_cast<std::byte>(i * 7);
	Address address;
	ASSERT_EQ(writer.malloc(bytes.size() + 300, address, Placement::near(Address(1, 0))), 0);
	ASSERT_EQ(writer.write(address + 300, bytes), 0);
	ASSERT_EQ(writer.mfence(), 0);
	std::vector<std::byte> found(bytes.size());
	ASSERT_EQ(reader.read(address + 300, found), 0);
	EXPECT_EQ(found, bytes);
	std::uint64_t before = 1;
	EXPECT_EQ(reader.read(address, room_of(before)), 0);
	EXPECT_EQ(before, 0u);
}

TEST(Session, MemoryThatComesBackIsZero)
{
	Cluster cluster(serving());
	Session session(cluster.node(0));
	std::vector<std::byte> bytes(700, std::byte{0xee});
	for (int round = 0; round < 50; round++) {
		for (const std::size_t size : {8u, 100u, 512u, 700u}) {
			Address address;
			ASSERT_EQ(session.malloc(
					  size, address, Placement::near(Address(static_cast<NodeId>(round % 2), 0))),
				0);
			std::vector<std::byte> found(size, std::byte{1});
			ASSERT_EQ(session.read(address, found), 0);
			EXPECT_EQ(found, std::vector<std::byte>(size)) << size;
			ASSERT_EQ(session.write(address, std::span(bytes).first(size)), 0);
			ASSERT_EQ(session.free(address), 0);
		}
	}
}

TEST(Session, NobodyIsLeftToAllocateAt)
{
	Cluster cluster(serving());
	Session session(cluster.node(0));
	cluster.let_go_of_all(0);
	cluster.node(0).lost(0);
	Address address;
	for (const Placement &where :
		{Placement::local(), Placement::remote(), Placement::random(), Placement::near(Address(1, 0))})
		EXPECT_EQ(session.malloc(8, address, where), EHOSTUNREACH);
}

TEST(Session, RefusesWhatCannotBe)
{
	Cluster cluster(serving());
	Session session(cluster.node(0));
	std::uint64_t word = 0;
	Address address;
	EXPECT_EQ(session.read(Address(), room_of(word)), EINVAL);
	EXPECT_EQ(session.write(Address(), bytes_of(word)), EINVAL);
	EXPECT_EQ(session.read(Address(0, 4096), std::span<std::byte>()), EINVAL);
	EXPECT_EQ(session.read(Address(1, 4096), room_of(word)), EFAULT);
	EXPECT_EQ(session.read(Address(0, 4096), room_of(word)), EFAULT);
	EXPECT_EQ(session.read(Address(1, std::uint64_t{1} << 40), room_of(word)), EFAULT);
	EXPECT_EQ(session.read(Address(0, (std::uint64_t{1} << 48) - 4), room_of(word)), EINVAL);
	EXPECT_EQ(session.read(Address(7, 4096), room_of(word)), EHOSTUNREACH);
	EXPECT_EQ(session.write(Address(7, 4096), bytes_of(word)), EHOSTUNREACH);
	EXPECT_EQ(session.mfence(), 0) << "it was told";
	EXPECT_EQ(session.malloc(8, address, Placement::near(Address(7, 0))), EHOSTUNREACH);
	EXPECT_EQ(session.malloc(8, address, {}, 24), EINVAL);
	EXPECT_EQ(session.malloc(std::size_t{1} << 30, address), ENOMEM);
	EXPECT_TRUE(address.is_null());
	EXPECT_EQ(session.free(Address(1, 4096)), EINVAL);
	EXPECT_EQ(session.free(Address()), EINVAL);
	EXPECT_EQ(session.free(Address(7, 4096)), EHOSTUNREACH);
	ASSERT_EQ(session.malloc(16, address, Placement::remote()), 0);
	EXPECT_EQ(session.atomic(address, 3, Function::add, 1, word), EINVAL);
	EXPECT_EQ(session.atomic(address + 4, 8, Function::add, 1, word), EINVAL);
	EXPECT_EQ(session.free(address), 0);
	EXPECT_EQ(session.free(address), EINVAL) << "twice";
}

TEST(Session, LateErrorsOfWritesAreToldOnce)
{
	Cluster cluster(serving());
	Session session(cluster.node(0));
	const std::uint64_t word = 1;
	EXPECT_EQ(session.write(Address(1, 8192), bytes_of(word)), 0);
	EXPECT_EQ(session.mfence(), EFAULT);
	EXPECT_EQ(session.mfence(), 0);
}

TEST(Session, AFullNodeSaysSoAndTakesMemoryBack)
{
	Cluster cluster(serving());
	Session session(cluster.node(0));
	std::vector<Address> held;
	Address address;
	int error = 0;
	while (!(error = session.malloc(8 * block_size, address, Placement::remote())))
		held.push_back(address);
	EXPECT_EQ(error, ENOMEM);
	EXPECT_GT(held.size(), 200u);
	for (const Address each : held)
		EXPECT_EQ(session.free(each), 0);
	EXPECT_EQ(session.malloc(8 * block_size, address, Placement::remote()), 0);
}

TEST(Session, AtomicsGiveTheOldValue)
{
	Cluster cluster(serving(3));
	Session session(cluster.node(0));
	Address address;
	ASSERT_EQ(session.malloc(8, address, Placement::remote()), 0);
	std::uint64_t old = 9;
	EXPECT_EQ(session.atomic(address, 8, Function::add, 5, old), 0);
	EXPECT_EQ(old, 0u);
	EXPECT_EQ(session.atomic(address, 8, Function::swap, 0xff00, old), 0);
	EXPECT_EQ(old, 5u);
	EXPECT_EQ(session.atomic(address, 8, Function::bit_and, 0x0f00, old), 0);
	EXPECT_EQ(old, 0xff00u);
	EXPECT_EQ(session.atomic(address, 8, Function::bit_or, 0x1, old), 0);
	EXPECT_EQ(old, 0x0f00u);
	EXPECT_EQ(session.atomic(address, 8, Function::compare_swap, 7, old, 0x0f00), 0);
	EXPECT_EQ(old, 0x0f01u);
	EXPECT_EQ(session.atomic(address, 8, Function::compare_swap, 7, old, 0x0f01), 0);
	EXPECT_EQ(word_at(session, address), 7u);
	EXPECT_EQ(session.atomic(address + 7, 1, Function::add, 0x1ff, old), 0);
	EXPECT_EQ(word_at(session, address), 0xff00000000000007u);
}

TEST(Session, ManyThreadsCountTogether)
{
	constexpr std::size_t threads_of_node = 2, rounds = 300;
	for (const bool locks : {false, true}) {
		Cluster cluster(serving(3));
		Address address;
		{
			Session session(cluster.node(0));
			ASSERT_EQ(session.malloc(8, address, Placement::remote()), 0);
		}
		std::vector<std::jthread> threads;
		for (Node *const node : cluster.nodes()) {
			for (std::size_t i = 0; i < threads_of_node; i++) {
				threads.emplace_back([node, address, locks] {
					Session session(*node);
					const Pointer<std::uint64_t> counter(address);
					for (std::size_t round = 0; round < rounds; round++) {
						std::uint64_t value = 0;
						if (!locks) {
							EXPECT_EQ(
								session.atomic(address, 8, Function::add, 1, value), 0);
							continue;
						}
						EXPECT_EQ(counter.wlock(session), 0);
						EXPECT_EQ(counter.read(session, value), 0);
						EXPECT_EQ(counter.write(session, value + 1), 0);
						EXPECT_EQ(counter.unlock(session), 0);
					}
				});
			}
		}
		threads.clear();
		Session session(cluster.node(1));
		EXPECT_EQ(word_at(session, address), 3 * threads_of_node * rounds) << locks;
	}
}

TEST(Session, LocksHaveOwners)
{
	Cluster cluster(serving(2));
	Session one(cluster.node(0)), another(cluster.node(0)), remote(cluster.node(1));
	Address address;
	ASSERT_EQ(one.malloc(3 * block_size, address), 0);
	EXPECT_EQ(one.unlock(address, 8), EPERM);
	ASSERT_EQ(one.wlock(address + 100, 2 * block_size), 0);
	EXPECT_EQ(one.wlock(address, 8), EDEADLK);
	EXPECT_EQ(another.try_rlock(address, 8), EBUSY);
	EXPECT_EQ(remote.try_wlock(address + 2 * block_size, 8), EBUSY);
	EXPECT_EQ(another.unlock(address, 8), EPERM);
	EXPECT_EQ(one.unlock(address + 100, 2 * block_size), 0);
	EXPECT_EQ(remote.try_rlock(address, 3 * block_size), 0);
	EXPECT_EQ(another.try_rlock(address, 3 * block_size), 0);
	EXPECT_EQ(one.try_wlock(address, 8), EBUSY);
	EXPECT_EQ(remote.unlock(address, 3 * block_size), 0);
	EXPECT_EQ(another.unlock(address, 3 * block_size), 0);
	EXPECT_EQ(one.try_wlock(address, 8), 0);
	EXPECT_EQ(one.rlock(address, std::uint64_t{65537} * block_size), E2BIG);
}

/** Checks that an unlock of the longest range takes no longer than one of the blocks held. */
TEST(Session, UnlocksOfMoreThanIsHeldGiveThatBack)
{
	Cluster cluster(serving(2));
	Session one(cluster.node(0)), another(cluster.node(0));
	Address before, address;
	ASSERT_EQ(one.malloc(block_size, before), 0);
	ASSERT_EQ(one.malloc(4 * block_size, address), 0);
	ASSERT_LT(before, address);
	ASSERT_EQ(one.wlock(before, 8), 0);
	ASSERT_EQ(one.wlock(address, 2 * block_size), 0);
	const std::size_t longest = (std::uint64_t{1} << Address::offset_bits) - address.offset();
	EXPECT_EQ(one.unlock(address, longest), EPERM);
	EXPECT_EQ(another.try_wlock(address, 4 * block_size), 0);
	EXPECT_EQ(another.try_wlock(before, 8), EBUSY);
	EXPECT_EQ(one.unlock(before, 8), 0);
}

TEST(Session, ATryOfSeveralBlocksGivesBackWhatItTook)
{
	Cluster cluster(serving(2));
	Session one(cluster.node(0)), remote(cluster.node(1));
	Address address;
	ASSERT_EQ(one.malloc(4 * block_size, address), 0);
	ASSERT_EQ(one.wlock(address + 3 * block_size, 8), 0);
	EXPECT_EQ(remote.try_wlock(address, 4 * block_size), EBUSY);
	EXPECT_EQ(one.try_wlock(address, 3 * block_size), 0);
}

/** Tests more locks than are tried at once, of several homes. */
TEST(Session, TriesManyLocksAtOnce)
{
	constexpr std::size_t count = 40;
	Cluster cluster(serving(3));
	Session session(cluster.node(0)), other(cluster.node(1));
	std::vector<Address> at(count);
	for (std::size_t i = 0; i < count; i++)
		ASSERT_EQ(session.malloc(block_size, at[i], i % 2 ? Placement::local() : Placement::remote()), 0);
	ASSERT_EQ(session.try_wlock_all(at), 0);
	for (const Address one : at)
		EXPECT_EQ(other.try_rlock(one, 8), EBUSY);
	EXPECT_EQ(session.try_rlock_all(at), EDEADLK);
	for (const Address one : at)
		EXPECT_EQ(session.unlock(one, 8), 0);
	ASSERT_EQ(session.try_rlock_all(at), 0);
	ASSERT_EQ(other.try_rlock_all(at), 0);
	for (const Address one : at)
		EXPECT_EQ(session.unlock(one, 8), 0);
	/* One that is not free: none is taken */
	EXPECT_EQ(session.try_wlock_all(at), EBUSY);
	for (std::size_t i = 0; i + 1 < count; i++)
		EXPECT_EQ(other.unlock(at[i], 8), 0);
	EXPECT_EQ(session.try_wlock_all(at), EBUSY);
	EXPECT_EQ(other.try_wlock_all(std::span(at).first(count - 1)), 0);
	EXPECT_NE(session.try_rlock_all(std::array{at[0], at[0]}), 0);
	EXPECT_EQ(session.try_rlock_all(std::array{at[count - 1], Address()}), EINVAL);
	EXPECT_EQ(session.try_rlock_all({}), 0);
	EXPECT_EQ(other.unlock(at[count - 1], 8), 0);
	EXPECT_EQ(session.try_wlock(at[count - 1], 8), 0);
}

TEST(Session, GivesItsLocksBackWhenItEnds)
{
	Cluster cluster(serving(2));
	Session other(cluster.node(1));
	Address address;
	{
		Session session(cluster.node(0));
		ASSERT_EQ(session.malloc(2 * block_size, address), 0);
		ASSERT_EQ(session.wlock(address, 2 * block_size), 0);
		ASSERT_EQ(other.try_wlock(address, 8), EBUSY);
	}
	EXPECT_EQ(other.try_wlock(address, 2 * block_size), 0);
}

/** Checks that locks of freed memory are released; else nobody could ever zero the memory again. */
TEST(Session, LocksOfWhatWasFreedAreGivenBack)
{
	Cluster cluster(serving(2));
	for (const NodeId id : {NodeId{0}, NodeId{1}}) {
		Session session(cluster.node(id)), other(cluster.node(0));
		Address address, again;
		ASSERT_EQ(other.malloc(block_size, address), 0);
		ASSERT_EQ(session.wlock(address, 8), 0);
		ASSERT_EQ(session.free(address), 0);
		EXPECT_EQ(session.unlock(address, 8), 0);
		ASSERT_EQ(other.malloc(block_size, again), 0);
		EXPECT_EQ(again, address);
		EXPECT_EQ(other.try_wlock(again, 8), 0);
	}
}

/**
 * Checks that allocation skips a locked block: a thread that held that lock would wait for itself, and all others
 * behind it.
 */
TEST(Session, MemoryOfALockedBlockIsPassedOver)
{
	Cluster cluster(serving(2));
	Session holder(cluster.node(1)), other(cluster.node(0));
	for (Session *const session : {&holder, &other}) {
		for (const auto lock : {&Session::wlock, &Session::rlock}) {
			Address locked, beside, again;
			ASSERT_EQ(other.malloc(64, locked), 0);
			ASSERT_EQ(other.malloc(64, beside), 0);
			ASSERT_EQ(locked.block(), beside.block());
			ASSERT_EQ((session->*lock)(locked, 8), 0);
			ASSERT_EQ(other.free(beside), 0);
			ASSERT_EQ(session->malloc(64, again, Placement::near(locked)), 0);
			EXPECT_NE(again.block(), locked.block());
			EXPECT_EQ(other.free(again), 0);
			EXPECT_EQ(session->unlock(locked, 8), 0);
			ASSERT_EQ(other.malloc(64, again), 0);
			EXPECT_EQ(again, beside) << "what was passed over is free";
			EXPECT_EQ(other.free(again), 0);
			EXPECT_EQ(other.free(locked), 0);
		}
	}
}

TEST(Session, MemoryThatIsAllLockedIsNoneAndComesBack)
{
	ClusterOptions options = serving(2);
	Cluster cluster(options);
	Session session(cluster.node(1)), other(cluster.node(0));
	const std::uint64_t all = cluster.node(0).available();
	Address address, again;
	ASSERT_EQ(other.malloc(all, address), 0);
	ASSERT_EQ(session.wlock(address + all / 2, 8), 0);
	ASSERT_EQ(other.free(address), 0);
	EXPECT_EQ(session.malloc(all, again, Placement::near(address)), ENOMEM);
	EXPECT_EQ(cluster.node(0).available(), all);
	EXPECT_EQ(session.unlock(address + all / 2, 8), 0);
	EXPECT_EQ(session.malloc(all, again, Placement::near(address)), 0);
}

/** Each thread holds a lock and wants a line; the only other one waits for the other's lock. */
TEST(Session, WhoHoldsALockDoesNotWaitForALineForGood)
{
	ClusterOptions options = serving(3);
	options.node.shards = 1;
	options.lines = 2;
	Cluster cluster(options);
	Session home(cluster.node(0)), mine(cluster.node(1)), theirs(cluster.node(2));
	Address block;
	ASSERT_EQ(home.malloc(4 * block_size, block, {}, block_size), 0);
	ASSERT_EQ(mine.wlock(block, 1), 0);
	ASSERT_EQ(theirs.wlock(block + block_size, 1), 0);
	std::jthread waits([&] {
		Session other(cluster.node(1));
		while (other.wlock(block + block_size, 1) == ENOBUFS) {} /* while locks have both lines */
	});
	const Address wanted = block + 2 * block_size;
	int error = 0;
	while (error == 0) { /* until the other has the line */
		error = mine.wlock(wanted, 1);
		EXPECT_EQ(error ? 0 : mine.unlock(wanted, 1), 0);
	}
	EXPECT_EQ(error, ENOBUFS);
	const std::uint64_t word = 1;
	EXPECT_EQ(mine.write(wanted, bytes_of(word)), 0);
	EXPECT_EQ(mine.unlock(block, 1), ENOBUFS) << "of the write";
	EXPECT_EQ(theirs.unlock(block + block_size, 1), 0);
}

TEST(Session, ManyWritesAreUnderWayAtOnce)
{
	ClusterOptions options = serving(2);
	options.node.consistency = Consistency::pso;
	Cluster cluster(options);
	Session writer(cluster.node(0)), reader(cluster.node(1));
	Address address;
	constexpr std::size_t blocks = 1000;
	ASSERT_EQ(writer.malloc(blocks * block_size, address, Placement::remote()), 0);
	for (std::uint64_t i = 0; i < blocks; i++)
		ASSERT_EQ(writer.write(address + i * block_size, bytes_of(i)), 0);
	ASSERT_EQ(writer.mfence(), 0);
	for (std::uint64_t i = 0; i < blocks; i++)
		ASSERT_EQ(word_at(reader, address + i * block_size), i);
}

TEST(Session, AReadThatNobodyAwaitsHasEndedWithItsObject)
{
	ClusterOptions options = serving(2);
	options.delays.longest = std::chrono::milliseconds(5);
	Cluster cluster(options);
	Session session(cluster.node(0)), owner(cluster.node(1));
	Address address;
	ASSERT_EQ(owner.malloc(64 * block_size, address), 0);
	for (std::uint64_t i = 0; i < 64; i++) {
		ASSERT_EQ(owner.write(address + i * block_size, bytes_of(i + 1)), 0);
		std::uint64_t found = 0;
		(void)session.async_read(address + i * block_size, std::as_writable_bytes(std::span(&found, 1)));
		EXPECT_EQ(found, i + 1);
	}
}

/** Network that delivers a message and its answer before flush() returns, as if another thread of the node polled. */
class Hurried final : public DirectoryMaking, public Network
{
public:
	using DirectoryMaking::DirectoryMaking;

	void hurry() { is_hurried_ = true; }

	Network &network(NodeId self, Network &messages) override
	{
		if (self != 0)
			return messages;
		messages_ = &messages;
		return *this;
	}
	void start(NodeId /*self*/, Node &node) override { nodes_.push_back(&node); }

	void send(NodeId to, const Message &message) noexcept override { messages_->send(to, message); }
	std::size_t poll(Listener &listener) noexcept override { return messages_->poll(listener); }
	void flush() noexcept override
	{
		messages_->flush();
		if (!std::exchange(is_hurried_, false))
			return;
		for (int turn = 0; turn < 100; turn++) {
			for (Node *const node : nodes_)
				node->poll();
		}
	}

private:
	Network *messages_ = nullptr;
	std::vector<Node *> nodes_;
	bool is_hurried_ = false;
};

TEST(Session, ReadsThatEndBeforeTheyHaveBegun)
{
	ClusterOptions options = serving(2);
	options.node.serves = false;
	auto making = std::make_unique<Hurried>(options);
	Hurried &network = *making;
	Cluster cluster(options, std::move(making));
	std::jthread other([&](const std::stop_token &stop) {
		while (!stop.stop_requested())
			cluster.node(1).poll();
	});
	Session session(cluster.node(0));
	Address address;
	ASSERT_EQ(session.malloc(block_size, address, Placement::remote()), 0);
	ASSERT_EQ(session.write(address, bytes_of(std::uint64_t{7})), 0);
	ASSERT_EQ(session.mfence(), 0);
	cluster.node(0).flush();
	other = {};
	std::uint64_t found = 0;
	network.hurry();
	const Session::AsyncRead read = session.async_read(address, room_of(found));
	EXPECT_TRUE(read.await_ready());
	EXPECT_EQ(found, 7U);
}

TEST(Session, CoroutinesReadAtOnce)
{
	Cluster cluster(serving(2));
	Session session(cluster.node(0));
	Address address;
	ASSERT_EQ(session.malloc(64 * block_size, address, Placement::remote()), 0);
	for (std::uint64_t i = 0; i < 64; i++)
		ASSERT_EQ(session.write(address + i * block_size, bytes_of(i)), 0);
	ASSERT_EQ(session.mfence(), 0);
	cluster.node(0).flush();
	std::array<std::uint64_t, 64> found{};
	std::vector<prism::apps::Task<int>> tasks;
	const auto read = [&](std::size_t i) -> prism::apps::Task<int> {
		co_return co_await Pointer<std::uint64_t>(address + i * block_size).async_read(session, found[i]);
	};
	for (std::size_t i = 0; i < found.size(); i++) {
		tasks.push_back(read(i));
		tasks.back().start();
	}
	for (const auto &task : tasks) {
		while (!task.done())
			session.poll();
		EXPECT_EQ(task.value(), 0);
	}
	std::array<std::uint64_t, 64> expected;
	std::iota(expected.begin(), expected.end(), 0);
	EXPECT_EQ(found, expected);
}

TEST(Session, ADeadHomeIsUnreachableAndItsMemoryOthersDoWithout)
{
	Cluster cluster(serving(3));
	Session session(cluster.node(0));
	Address gone, stays;
	ASSERT_EQ(session.malloc(8, gone, Placement::near(Address(2, 0))), 0);
	ASSERT_EQ(session.malloc(8, stays, Placement::near(Address(1, 0))), 0);
	cluster.lose(2);
	std::uint64_t word = 0;
	EXPECT_EQ(session.read(gone, room_of(word)), EHOSTUNREACH);
	EXPECT_EQ(session.free(gone), EHOSTUNREACH);
	EXPECT_EQ(session.read(stays, room_of(word)), 0);
	EXPECT_EQ(cluster.node(0).members(), (std::vector<NodeId>{0, 1}));
}

/** Checks that messages of a dead node are dropped; else others would lend it blocks that never come back. */
TEST(Session, WhatADeadNodeHasSentIsNotHeard)
{
	Cluster cluster((ClusterOptions()));
	Session session(cluster.node(0)), of_the_dead(cluster.node(1));
	Address address;
	ASSERT_EQ(session.malloc(8, address), 0);
	std::uint64_t word = 0;
	const auto read = of_the_dead.async_read(address, room_of(word));
	cluster.lose(1);
	cluster.let_go_of_all(1);
	(void)cluster.node(0).poll();
	EXPECT_FALSE(cluster.node(0).is_member(1));
	EXPECT_TRUE(read.await_ready());
	EXPECT_EQ(read.await_resume(), EHOSTUNREACH);
}

/** Checks that nothing reaches the node that has the number of a lost one, if the session is bound to that. */
TEST(Session, WhatIsBoundIsOfOneLife)
{
	Cluster cluster(serving());
	Node &node = cluster.node(0);
	Session session(node), other(cluster.node(1));
	Address address, locked, kept;
	for (Address *const made : {&address, &locked, &kept})
		ASSERT_EQ(session.malloc(block_size, *made, Placement::near(Address(1, 0)), block_size), 0);
	const std::uint32_t before = node.losses();
	std::uint64_t word = 1, old = 0;
	ASSERT_EQ(session.wlock(locked, 8), 0);
	node.lost(1);
	cluster.node(1).lost(0);
	node.joined(1);
	cluster.node(1).joined(0);
	{
		const Session::Bound bound(session, before);
		EXPECT_EQ(session.read(address, room_of(word)), EHOSTUNREACH);
		EXPECT_EQ(session.write(address, bytes_of(word)), EHOSTUNREACH);
		EXPECT_EQ(session.atomic(address, 8, Function::add, 1, old), EHOSTUNREACH);
		EXPECT_EQ(session.wlock(address, 8), EHOSTUNREACH);
		EXPECT_EQ(session.try_rlock_all(std::array{address}), EHOSTUNREACH);
		EXPECT_EQ(session.malloc(8, kept, Placement::near(Address(1, 0))), EHOSTUNREACH);
		EXPECT_EQ(session.free(address), EHOSTUNREACH);
		const Session::Bound anew(session, node.losses());
		EXPECT_EQ(session.read(address, room_of(word)), 0);
		EXPECT_EQ(session.unlock(locked, 8), EHOSTUNREACH);
	}
	EXPECT_EQ(session.mfence(), 0);
	EXPECT_EQ(word_at(other, address), 0U);
	EXPECT_EQ(session.write(address, bytes_of(old)), 0);
	EXPECT_EQ(session.wlock(address, 8), 0);
	{
		const Session::Bound bound(session, before);
		EXPECT_EQ(session.read(address, room_of(word)), EHOSTUNREACH) << "what is here, too";
		EXPECT_EQ(session.write(address, bytes_of(word)), EHOSTUNREACH);
		EXPECT_EQ(session.unlock(address, 8), 0);
	}
	EXPECT_EQ(session.free(address), 0);
}

/** Checks that a home does not wait for who holds a lock on its memory while another node waits for that. */
TEST(Session, AHomeLeavesWhoeverWaitsForALock)
{
	constexpr unsigned never = 100'000;
	Cluster cluster(serving(3));
	Node &home = cluster.node(0);
	Session session(home), holder(cluster.node(1)), waits(cluster.node(2));
	Address address, others;
	ASSERT_EQ(session.malloc(8, address), 0);
	ASSERT_EQ(session.malloc(8, others, Placement::near(Address(1, 0))), 0);
	ASSERT_EQ(holder.wlock(address, 8), 0);
	const std::uint64_t events = home.stats().events;
	std::uint64_t word = 7;
	const auto read = waits.async_read(address, room_of(word));
	home.wait_until([&] { return home.stats().events > events; });
	ASSERT_EQ(session.write(others, bytes_of(word)), 0);
	ASSERT_EQ(session.mfence(), 0);
	unsigned looks = 0;
	home.flush([&] { return ++looks == never; });
	EXPECT_LT(looks, never);
	EXPECT_FALSE(read.await_ready());
	cluster.lose(0);
	cluster.let_go_of_all(0);
	EXPECT_EQ(word_at(holder, others), 7U) << "it has written back";
	EXPECT_EQ(holder.unlock(address, 8), EHOSTUNREACH);
}

TEST(Session, WhoHurriesDoesNotWaitForHomes)
{
	ClusterOptions options;
	options.node.serves = false; /* nobody answers */
	Cluster cluster(options);
	Session session(cluster.node(1));
	const std::uint64_t word = 7;
	ASSERT_EQ(session.write(Address(0, block_size), bytes_of(word)), 0);
	unsigned looks = 0;
	cluster.node(1).flush([&] { return ++looks >= 10; });
	EXPECT_GE(looks, 10U);
	cluster.lose(0);
	EXPECT_EQ(session.mfence(), EHOSTUNREACH);
}

/** Network whose messages the test makes and collects. */
class ByHand final : public Network
{
public:
	struct Letter {
		NodeId node;
		Message message;
	};
	void send(NodeId to, const Message &message) noexcept override { sent.push_back({to, message}); }
	void flush() noexcept override {}
	std::size_t poll(Listener &listener) noexcept override
	{
		for (const Letter &letter : std::exchange(coming, {}))
			listener.heard(letter.node, letter.message);
		return 0;
	}
	void ask(NodeId from, std::uint64_t bytes, std::uint64_t request)
	{
		Letter letter{from, {}};
		letter.message.type = static_cast<std::uint8_t>(HomeMessage::malloc);
		letter.message.counter = bytes;
		letter.message.request = request;
		coming.push_back(letter);
	}
	[[nodiscard]] std::vector<Message> answers() const
	{
		std::vector<Message> found;
		for (const Letter &letter : sent) {
			if (letter.message.type == static_cast<std::uint8_t>(HomeMessage::malloced))
				found.push_back(letter.message);
		}
		return found;
	}

	std::vector<Letter> coming, sent;
};

/** Lives count their requests from 1, so an answer to a dead one would be taken by the next node with the number. */
TEST(Session, MemoryForWhoHasDiedIsGivenToNobodyAndIsFreeAgain)
{
	ByHand network;
	std::vector<std::byte> memory(std::size_t{1} << 20), lines(64 * block_size);
	NodeOptions options;
	options.bytes = memory.size();
	options.shards = 1;
	options.serves = false;
	Node node(options, network, [&](Coherence::Host &host, std::size_t) {
		directory::Options protocol;
		protocol.memory = memory;
		protocol.lines = lines;
		return std::make_unique<Directory>(protocol, host);
	});
	Session session(node);
	constexpr std::uint64_t half = std::uint64_t{1} << 19, quarter = half / 2;
	const std::uint64_t all = node.available();
	Address used;
	ASSERT_EQ(session.malloc(all, used), 0);
	ASSERT_EQ(session.wlock(used, 8), 0); /* so that the zeroing waits */
	ASSERT_EQ(session.free(used), 0);
	node.joined(1);
	network.ask(1, half, 1);
	node.poll();
	node.lost(1);
	node.joined(1);
	network.ask(1, quarter, 1);
	node.poll();
	EXPECT_EQ(session.unlock(used, 8), 0);
	for (int turn = 0; turn < 10; turn++)
		node.poll();
	const std::vector<Message> answers = network.answers();
	ASSERT_EQ(answers.size(), 1U);
	EXPECT_EQ(answers[0].error, 0);
	EXPECT_GE(Address(answers[0].counter), used + half) << "it is not the piece of who has died";
	EXPECT_EQ(node.available(), all - quarter);
}

/** The unlock of what is not held fails by itself, and the error of a write before it is not forgotten. */
TEST(Session, AnUnlockThatFailsLeavesTheErrorOfAWriteToTheNextFence)
{
	Cluster cluster(serving());
	Session session(cluster.node(0));
	Address address;
	ASSERT_EQ(session.malloc(block_size, address), 0);
	for (const std::size_t bytes : {std::size_t{8}, std::size_t{100} * block_size}) {
		EXPECT_EQ(session.write(Address(1, 8192), bytes_of(std::uint64_t{1})), 0);
		EXPECT_EQ(session.unlock(address, bytes), EPERM);
		EXPECT_EQ(session.mfence(), EFAULT);
		EXPECT_EQ(session.mfence(), 0);
	}
}

TEST(Session, WithoutALeaseNothingIsUsed)
{
	Loopback network(1);
	std::vector<std::byte> memory(std::size_t{1} << 20), lines(64 * block_size);
	bool is_over = false;
	NodeOptions options;
	options.bytes = memory.size();
	options.shards = 1;
	Node node(
		options, network.end(0),
		[&](Coherence::Host &host, std::size_t) {
			directory::Options protocol;
			protocol.memory = memory;
			protocol.lines = lines;
			return std::make_unique<Directory>(protocol, host);
		},
		[&] { return is_over; });
	Session session(node);
	Address address;
	ASSERT_EQ(session.malloc(8, address), 0);
	EXPECT_EQ(word_at(session, address), 0u);
	is_over = true;
	std::uint64_t word = 1;
	EXPECT_EQ(session.read(address, room_of(word)), ESTALE);
	EXPECT_EQ(session.write(address, bytes_of(word)), ESTALE);
	EXPECT_EQ(session.wlock(address, 8), ESTALE);
	is_over = false;
}

/** A protocol that finds no memory for its work. */
struct Starving final : Coherence {
	bool start(Access & /*access*/) override { return true; }
	[[nodiscard]] bool read_beside(Address /*from*/, std::span<std::byte> /*into*/) noexcept override
	{
		return false;
	}
	[[nodiscard]] bool write_beside(Address /*to*/, std::span<const std::byte> /*bytes*/) noexcept override
	{
		return false;
	}
	void hear(NodeId /*from*/, const Message & /*message*/) override { throw std::bad_alloc(); }
	void joined(NodeId /*node*/) override {}
	void lost(NodeId /*node*/) override {}
	Time on_time(Time /*now*/) override
	{
		times++;
		throw std::bad_alloc();
	}
	void flush() override {}
	[[nodiscard]] bool is_flushed() const override { return true; }
	[[nodiscard]] bool at_rest() const override { return true; }
	[[nodiscard]] const CoherenceStats &stats() const override { return none; }

	int times = 0;
	CoherenceStats none;
};

TEST(Node, TellsThatItHasFoundNoMemoryAndDoesNoMore)
{
	struct StarvingMaking : prism::gam::test::Making {
		std::unique_ptr<Coherence> make(
			NodeId /*self*/, Coherence::Host & /*host*/, std::size_t /*shard*/) override
		{
			auto made = std::make_unique<Starving>();
			last = made.get();
			return made;
		}
		Starving *last = nullptr;
	};
	int told = 0;
	ClusterOptions options;
	options.nodes = 1;
	options.node.shards = 1;
	options.node.found_no_memory = [&] { told++; };
	auto making = std::make_unique<StarvingMaking>();
	StarvingMaking &made = *making;
	Cluster cluster(options, std::move(making));
	(void)cluster.node(0).poll();
	(void)cluster.node(0).poll();
	EXPECT_EQ(told, 1);
	EXPECT_EQ(made.last->times, 1);
}

} // namespace
