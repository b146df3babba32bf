/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Locks at the home and on lines, by threads of one node and of several. */
#include "directory_nodes.hpp"

#include <cerrno>

using namespace gam_test;

namespace
{

struct DirectoryLocks : DirectoryNodes {
	const Address at = block();

	bool waits(const Ask &ask)
	{
		EXPECT_TRUE(net->run());
		return !ask.is_over;
	}
};

/** Tests that are the same at the home and elsewhere. */
struct DirectoryLocksAt : DirectoryLocks, testing::WithParamInterface<NodeId> {
	const NodeId here = GetParam();
	const NodeId other = static_cast<NodeId>(GetParam() == 3 ? 2 : 3);
};

INSTANTIATE_TEST_SUITE_P(Nodes, DirectoryLocksAt, testing::Values<NodeId>(0, 1));

TEST_P(DirectoryLocksAt, AWriteLockHoldsAllOthersBack)
{
	result(write_lock(here, at));
	Ask &local = read(here, at); /* by the same thread */
	EXPECT_TRUE(local.is_over);
	Ask &neighbour = begin(here, AccessKind::read, at, 0, 2);
	Ask &remote = read(other, at);
	EXPECT_TRUE(waits(neighbour));
	EXPECT_TRUE(waits(remote));
	writes(here, at, 5);
	EXPECT_EQ(unlock(here, at), 0);
	EXPECT_EQ(result(neighbour), 5U);
	EXPECT_EQ(result(remote), 5U);
	expect_rest();
}

TEST_P(DirectoryLocksAt, AWriteLockHoldsBackWhoHasReadTheBlockBefore)
{
	writes(here, at, 4);
	EXPECT_EQ(reads(here, at), 4U);
	result(write_lock(here, at));
	Ask &neighbour = begin(here, AccessKind::read, at, 0, 2);
	EXPECT_TRUE(waits(neighbour)) << "no read passes the lock, though the block is here";
	writes(here, at, 5);
	EXPECT_EQ(unlock(here, at), 0);
	EXPECT_EQ(result(neighbour), 5U);
	expect_rest();
}

TEST_P(DirectoryLocksAt, AReadLockHoldsWritersBack)
{
	result(read_lock(here, at));
	result(read_lock(here, at, 2));
	result(read_lock(other, at));
	Ask &write = this->write(2 == other ? 3 : 2, at, 5);
	EXPECT_TRUE(waits(write));
	EXPECT_EQ(reads(here, at), 0U) << "the holder is not held back by who waits";
	EXPECT_EQ(unlock(here, at), 0);
	EXPECT_EQ(unlock(other, at), 0);
	EXPECT_TRUE(waits(write));
	EXPECT_EQ(unlock(here, at, 2), 0);
	EXPECT_FALSE(waits(write));
	EXPECT_EQ(reads(here, at), 5U);
	expect_rest();
}

TEST_P(DirectoryLocksAt, ALockBringsTheData)
{
	writes(other, at, 9);
	result(write_lock(here, at));
	sent();
	EXPECT_EQ(reads(here, at), 9U);
	EXPECT_TRUE(write(here, at, 10).is_over);
	EXPECT_EQ(sent().size(), 0U);
	EXPECT_EQ(unlock(here, at), 0);
	expect_rest();
}

TEST_P(DirectoryLocksAt, WhatCanNeverBe)
{
	EXPECT_EQ(unlock(here, at), EPERM) << "not held";
	result(read_lock(here, at));
	EXPECT_EQ(error(read_lock(here, at)), EDEADLK);
	EXPECT_EQ(error(write_lock(here, at)), EDEADLK) << "an upgrade";
	EXPECT_EQ(error(write(here, at, 1)), EDEADLK) << "under a lock for reading";
	EXPECT_EQ(error(add(here, at, 1)), EDEADLK);
	EXPECT_EQ(unlock(here, at, 2), EPERM) << "another's";
	EXPECT_EQ(unlock(other, at), EPERM) << "another node's";
	EXPECT_EQ(unlock(here, at), 0);
	EXPECT_EQ(unlock(here, at), EPERM) << "twice";
	result(write_lock(here, at));
	EXPECT_EQ(error(write_lock(here, at)), EDEADLK);
	EXPECT_EQ(error(read_lock(here, at)), EDEADLK);
	EXPECT_EQ(error(write_lock(here, at, 1, true)), EDEADLK);
	EXPECT_EQ(unlock(here, at), 0);
	expect_rest();
}

TEST_P(DirectoryLocksAt, ASecondLockThatWaitedIsRefusedWhenItIsItsTurn)
{
	result(write_lock(here, at, 1));
	Ask &first = write_lock(here, at, 2);
	Ask &second = write_lock(here, at, 2);
	EXPECT_TRUE(waits(first));
	EXPECT_EQ(unlock(here, at, 1), 0);
	EXPECT_EQ(error(first), 0);
	EXPECT_EQ(error(second), EDEADLK);
	EXPECT_EQ(unlock(here, at, 2), 0);
	expect_rest();
}

TEST_P(DirectoryLocksAt, LocksAreInTheOrderInWhichTheyWereAskedFor)
{
	result(write_lock(here, at, 1));
	Ask &remote = write_lock(other, at);
	EXPECT_TRUE(waits(remote));
	Ask &local = write_lock(here, at, 2);
	EXPECT_TRUE(waits(local));
	EXPECT_EQ(unlock(here, at, 1), 0);
	EXPECT_FALSE(waits(remote)) << "it came first";
	EXPECT_TRUE(waits(local));
	EXPECT_EQ(unlock(other, at), 0);
	EXPECT_FALSE(waits(local));
	EXPECT_EQ(unlock(here, at, 2), 0);
	expect_rest();
}

TEST_P(DirectoryLocksAt, ReadersDoNotPassAWriterThatWaits)
{
	result(read_lock(here, at, 1));
	Ask &writer = write_lock(here, at, 2);
	Ask &reader = read_lock(here, at, 3);
	EXPECT_TRUE(waits(writer));
	EXPECT_TRUE(waits(reader));
	EXPECT_EQ(unlock(here, at, 1), 0);
	EXPECT_FALSE(waits(writer));
	EXPECT_TRUE(waits(reader));
	EXPECT_EQ(unlock(here, at, 2), 0);
	EXPECT_FALSE(waits(reader));
	EXPECT_EQ(unlock(here, at, 3), 0);
	expect_rest();
}

TEST_P(DirectoryLocksAt, ATryIsRefusedAtOnce)
{
	result(write_lock(here, at));
	EXPECT_EQ(error(read_lock(other, at, 1, true)), EBUSY);
	EXPECT_EQ(error(write_lock(other, at, 1, true)), EBUSY);
	EXPECT_EQ(error(read_lock(here, at, 2, true)), EBUSY);
	EXPECT_TRUE(node(here).at_rest());
	writes(here, at, 4);
	EXPECT_EQ(unlock(here, at), 0);
	expect_rest();
	EXPECT_EQ(error(read_lock(other, at, 1, true)), 0);
	EXPECT_EQ(error(read_lock(here, at, 1, true)), 0);
	EXPECT_EQ(error(write_lock(2 == other ? 3 : 2, at, 1, true)), EBUSY);
	EXPECT_EQ(unlock(other, at), 0);
	EXPECT_EQ(unlock(here, at), 0);
	EXPECT_EQ(error(write_lock(other, at, 1, true)), 0);
	EXPECT_EQ(reads(other, at), 4U);
	EXPECT_EQ(unlock(other, at), 0);
	expect_rest();
}

TEST_P(DirectoryLocksAt, SoManyReaders)
{
	for (ThreadId thread = 0; thread < BlockLock::max_readers; thread++)
		ASSERT_EQ(error(read_lock(here, at, thread)), 0);
	EXPECT_EQ(error(read_lock(here, at, BlockLock::max_readers)), EOVERFLOW);
	for (ThreadId thread = 0; thread < BlockLock::max_readers; thread++)
		ASSERT_EQ(unlock(here, at, thread), 0);
	expect_rest();
}

TEST_F(DirectoryLocks, ATryThatIsRefusedIsRolledBack)
{
	/* 1 and 2 have copies; 2 locks its copy: 1 loses its copy, 2 keeps both lock and copy, 3 gets nothing. */
	reads(1, at);
	result(read_lock(2, at));
	sent();
	EXPECT_EQ(error(write_lock(3, at, 1, true)), EBUSY);
	EXPECT_EQ(sent(), (std::map<Type, std::size_t>{{Type::write, 1}, {Type::invalidate, 2}, {Type::ack, 1},
				  {Type::locked, 1}, {Type::busy, 1}}));
	EXPECT_EQ(node(0).entry(at)->sharers, bit(2));
	EXPECT_EQ(node(1).line(at), LineState::invalid);
	expect_rest();
	EXPECT_EQ(unlock(2, at), 0);
	EXPECT_EQ(error(write_lock(3, at, 1, true)), 0);
	EXPECT_EQ(unlock(3, at), 0);
	expect_rest();
}

TEST_F(DirectoryLocks, ATryToUpgradeThatIsRefusedKeepsItsCopy)
{
	reads(1, at);
	result(read_lock(2, at));
	EXPECT_EQ(error(write_lock(1, at, 1, true)), EBUSY);
	EXPECT_EQ(node(1).line(at), LineState::shared);
	EXPECT_EQ(unlock(2, at), 0);
	expect_rest();
}

TEST_F(DirectoryLocks, ATryOfABlockInTransitIsRefusedAtOnce)
{
	reads(1, at);
	net->hold({1, 0});
	Ask &write = this->write(0, at, 1);
	EXPECT_EQ(error(write_lock(2, at, 1, true)), EBUSY);
	EXPECT_EQ(error(read_lock(0, at, 1, true)), EBUSY);
	net->release_all();
	result(write);
	expect_rest();
}

TEST_F(DirectoryLocks, AnUpgradeWaitsForReadersOfItsNode)
{
	result(read_lock(1, at, 1));
	sent();
	Ask &write = begin(1, AccessKind::write, at, 6, 2);
	EXPECT_TRUE(waits(write));
	EXPECT_EQ(sent().size(), 0U) << "nothing is sent";
	EXPECT_EQ(unlock(1, at, 1), 0);
	result(write);
	expect_rest();
}

TEST_F(DirectoryLocks, AWriteThatWaitedForAReaderLetsTheHomeInvalidateBeforeItUpgrades)
{
	/* The home's write waits for the lock behind this node's write; an upgrade would wait for the home's write. */
	result(read_lock(1, at, 1));
	Ask &local = begin(1, AccessKind::atomic, at, 1, 2);
	Ask &remote = add(0, at, 10);
	EXPECT_TRUE(waits(local));
	EXPECT_TRUE(waits(remote));
	EXPECT_EQ(unlock(1, at, 1), 0);
	EXPECT_EQ(result(remote), 0U);
	EXPECT_EQ(result(local), 10U);
	expect_rest();
}

/** A home keeps only so many requests of a node. */
struct DirectoryManyLocks : DirectoryLocks {
	static constexpr std::uint64_t kept = 3, locked = 5;
	std::vector<Ask *> asks;

	void SetUp() override
	{
		options.requests = kept;
		options.through_home = true;
		make();
		for (std::uint64_t number = 0; number < locked; number++)
			result(write_lock(1, block(number)));
		net->count();
		for (std::uint64_t number = 0; number < locked; number++)
			asks.push_back(&write(2, block(number), number));
		EXPECT_TRUE(net->run());
		EXPECT_EQ(sent()[Type::write], kept);
	}
	void unlock_all()
	{
		for (std::uint64_t number = 0; number < locked; number++)
			EXPECT_EQ(unlock(1, block(number)), 0);
	}
};

TEST_F(DirectoryManyLocks, FurtherRequestsWaitAndAreDone)
{
	writes(2, block(1, 3), 7);
	unlock_all();
	for (Ask *ask : asks)
		result(*ask);
	for (std::uint64_t number = 0; number < locked; number++)
		EXPECT_EQ(reads(0, block(number)), number);
	expect_rest();
}

TEST_F(DirectoryManyLocks, NeitherATryNorAHolderOfALockWaitsForThem)
{
	const Address free = block(locked), behind = block(locked - 1);
	EXPECT_EQ(error(write_lock(2, free, 1, true)), EBUSY);
	room_until = std::chrono::seconds(1);
	Ask &holder = read(2, free), &holder_behind = read(2, behind);
	EXPECT_TRUE(net->run());
	(void)node(2).on_time(room_until - Time(1));
	EXPECT_FALSE(holder.is_over || holder_behind.is_over);
	(void)node(2).on_time(room_until);
	EXPECT_EQ(error(holder), ENOBUFS);
	EXPECT_EQ(error(holder_behind), ENOBUFS);
	for (const Ask *ask : asks)
		EXPECT_FALSE(ask->is_over);
	unlock_all();
	for (Ask *ask : asks)
		result(*ask);
	room_until = Time::max();
	EXPECT_EQ(reads(2, free), 0U);
	expect_rest();
}

TEST_F(DirectoryManyLocks, TheDeathOfTheHomeEndsTheirWait)
{
	net->kill(0);
	net->tell_of(0);
	for (Ask *ask : asks)
		EXPECT_EQ(error(*ask), EHOSTUNREACH);
	EXPECT_TRUE(node(2).at_rest());
}

TEST_F(DirectoryLocks, ALockedLineIsNotEvicted)
{
	result(write_lock(1, at));
	node(1).flush();
	EXPECT_EQ(node(1).line(at), LineState::dirty);
	EXPECT_EQ(unlock(1, at), 0);
	node(1).flush();
	expect_rest();
	EXPECT_EQ(node(1).line(at), LineState::invalid);
}

TEST_F(DirectoryLocks, ReadersOfAnOwnedLineDoNotHoldReadersBack)
{
	writes(1, at, 3);
	result(read_lock(1, at));
	EXPECT_EQ(reads(2, at), 3U);
	EXPECT_EQ(node(1).line(at), LineState::shared);
	EXPECT_EQ(reads(1, at), 3U) << "the lock stays";
	EXPECT_EQ(unlock(1, at), 0);
	expect_rest();
}

TEST_F(DirectoryLocks, UncachedAccessesWaitForLocks)
{
	result(write_lock(1, at));
	Ask &uncached = begin(2, AccessKind::atomic, at, 1, 1, false, true);
	EXPECT_TRUE(waits(uncached));
	writes(1, at, 5);
	EXPECT_EQ(unlock(1, at), 0);
	EXPECT_EQ(result(uncached), 5U);
	expect_rest();
}

} // namespace
