/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes that die, step by step, and nodes that lie, in messages and in entries. */
#include "latch_nodes.hpp"

#include <gtest/gtest.h>

using namespace gam_test;
using latch::Type;

namespace
{

struct LatchDeath : LatchNodes {
	void sweep_all(NodeId dead)
	{
		for (NodeId id = 0; id < shape.nodes; id++) {
			if (id == dead)
				continue;
			EXPECT_TRUE(node(id).has_let_go(dead));
			node(id).sweep(dead);
		}
		net->run();
		for (NodeId id = 0; id < shape.nodes; id++) {
			if (id != dead) {
				EXPECT_FALSE(node(id).is_sweeping());
				node(id).swept(dead);
			}
		}
	}
};

TEST_F(LatchDeath, WhatTheDeadHadIsFreed)
{
	writes(1, block(), 5);
	node(1).install(block());
	net->run();
	writes(1, block(), 6);
	reads(1, block(2));
	Ask &ask = read(2, block());
	net->kill(1);
	net->run();
	net->tell_of(1);
	net->run();
	EXPECT_FALSE(ask.is_over) << "the entry names it still";
	sweep_all(1);
	EXPECT_EQ(result(ask), 5U) << "what was not installed is lost";
	EXPECT_EQ(node(0).stats().lost_values, 1U);
	writes(2, block(2), 7); /* without telling anyone */
	expect_rest(true);
}

TEST_F(LatchDeath, SharersThatDieAreNotAwaited)
{
	reads(1, block());
	net->kill(1);
	Ask &write = this->write(2, block(), 5);
	net->run();
	EXPECT_FALSE(write.is_over);
	net->tell_of(1);
	EXPECT_EQ(result(write), 5U);
	sweep_all(1);
	expect_rest(true);
}

/** Another node may have the home's number before the chain has ended. */
TEST_F(LatchDeath, NothingOfADeadHomeIsReadWhileAChainIsUnderWay)
{
	writes(1, block(), 5);
	net->hold_answers(1);
	Ask &other = read(2, block());
	net->run();
	EXPECT_FALSE(other.is_over);
	EXPECT_EQ(reads(1, block()), 5U) << "it gives a copy away, and keeps one";
	net->kill(0);
	net->tell_of(0);
	Ask &late = read(1, block());
	sweep_all(0);
	net->release_chains(1);
	EXPECT_EQ(error(late), EHOSTUNREACH);
	EXPECT_EQ(error(other), EHOSTUNREACH);
}

/**
 * The requesters may have accesses to the next life of that number under way, and would take a late message for an
 * answer.
 */
TEST_F(LatchDeath, WhoAskedForABlockOfADeadHomeIsToldNothingLater)
{
	writes(1, block(), 5);
	net->hold_posts(1);
	Ask &served = read(2, block());
	net->run();
	Ask &waits = write(3, block(), 6); /* while node 1 gives a copy to node 2 */
	net->run();
	net->kill(0);
	net->tell_of(0);
	EXPECT_EQ(error(served), EHOSTUNREACH);
	EXPECT_EQ(error(waits), EHOSTUNREACH);
	sweep_all(0);
	const std::uint64_t said = node(1).stats().messages;
	net->release_chains(1);
	net->run();
	EXPECT_TRUE(node(1).at_rest());
	EXPECT_EQ(node(1).stats().messages, said);
}

/** A sharer is swept after this node found it in the entry beside itself: no acknowledgement comes. */
TEST_F(LatchDeath, SharerThatIsSweptWhileItsWriterFindsItself)
{
	reads(2, block());
	net->hold_answers(1);
	Ask &write = this->write(1, block(), 5);
	net->run();
	net->break_pair(1, 0); /* executed, but node 1 does not know */
	net->mend_pair(1, 0);
	net->release_chains(1);
	net->run();
	net->hold_answers(1);
	net->tick();
	net->run();
	EXPECT_EQ(latch::node_of(net->entry(block()).writer), 1);
	net->kill(2);
	net->tell_of(2);
	sweep_all(2);
	net->release_chains(1);
	EXPECT_EQ(result(write), 5U);
	expect_rest(true);
}

/**
 * The entry has changed, but the grant was lost with its sender: a node that finds itself as the writer owns the block.
 */
TEST_F(LatchDeath, GrantThatWasLost)
{
	writes(1, block(), 5);
	net->hold({1, 2});
	Ask &ask = add(2, block(), 1);
	net->run();
	EXPECT_EQ(latch::node_of(net->entry(block()).writer), 2);
	net->kill(1);
	net->tell_of(1);
	sweep_all(1);
	EXPECT_EQ(result(ask), 5U);
	EXPECT_EQ(reads(3, block()), 6U);
	expect_rest(true);
}

/** Same for a node that is `waiter` as well: others must not give way to it for ever. */
TEST_F(LatchDeath, GrantThatWasLostToTheWaiter)
{
	for (const bool dirty : {false, true}) {
		make();
		writes(1, block(), 5);
		net->hold({1, 2});
		Ask &ask = begin(2, dirty ? AccessKind::write : AccessKind::write_lock, block(), 6);
		net->run();
		latch::Entry marked = net->entry(block());
		marked.waiter = latch::mark(2);
		net->write_entry(block(), marked);
		net->kill(1);
		net->tell_of(1);
		sweep_all(1);
		EXPECT_EQ(result(ask), 6U);
		EXPECT_EQ(dirty ? 0 : unlock(2, block()), 0);
		node(2).flush();
		EXPECT_EQ(reads(3, block()), dirty ? 6U : 5U);
		expect_rest(true);
	}
}

/** While its CAS that names the dead node is under way, a node does not say that it has let go of it. */
TEST_F(LatchDeath, HandOverToTheDead)
{
	result(write_lock(1, block()));
	(void)write(2, block(), 5);
	net->run();
	net->hold_posts(1);
	EXPECT_EQ(unlock(1, block()), 0);
	net->kill(2);
	net->tell_of(2);
	EXPECT_FALSE(node(1).has_let_go(2));
	net->release_chains(1);
	net->run();
	EXPECT_TRUE(node(1).has_let_go(2));
	EXPECT_EQ(latch::node_of(net->entry(block()).writer), 2);
	sweep_all(2);
	EXPECT_EQ(net->entry(block()).writer, 0U);
	writes(3, block(), 7);
	expect_rest(true);
}

/**
 * The copy for the dead node fails first, as there is no buffer; when it is decided again, no request of that node is
 * left.
 */
TEST_F(LatchDeath, CopyForTheDeadIsTakenBack)
{
	writes(1, block(), 5);
	const std::deque<std::uint64_t> all = std::exchange(net->lent(0).device.free, {});
	net->hold_answers(1);
	(void)read(2, block());
	net->run();
	net->kill(2);
	net->tell_of(2);
	net->release_chains(1);
	net->run();
	sweep_all(2);
	net->lent(0).device.free = all;
	net->tick();
	net->run();
	EXPECT_EQ(net->entry(block()).sharers & bit(2), 0U);
	EXPECT_EQ(reads(3, block()), 5U);
	expect_rest(true);
}

TEST_F(LatchDeath, HomeThatDies)
{
	writes(1, block(), 5);
	result(read_lock(1, block(2), 1));
	result(write_lock(2, block(3)));
	Ask &waits = read(1, block(3));
	net->run();
	Ask &posted = read(3, block(4));
	net->kill(0);
	net->tell_of(0);
	net->run();
	EXPECT_EQ(error(waits), EHOSTUNREACH);
	EXPECT_EQ(error(posted), EHOSTUNREACH);
	EXPECT_EQ(error(read(1, block())), EHOSTUNREACH);
	EXPECT_EQ(error(begin(1, AccessKind::read, block(2), 0, 1)), EHOSTUNREACH) << "what was locked is lost";
	EXPECT_EQ(unlock(1, block(2)), EHOSTUNREACH);
	EXPECT_EQ(unlock(1, block(2)), EPERM);
	EXPECT_EQ(unlock(2, block(3)), EHOSTUNREACH);
	EXPECT_TRUE(net->run_to_rest());
}

/** An access to a block of node 3 waits at node 1 for its only line, which waits for a lock of node 2. */
struct LatchRoom : LatchDeath {
	void SetUp() override
	{
		shape.lines = 1;
		make();
		result(write_lock(2, block()));
		ahead = &read(1, block());
		net->run();
	}
	void lose_home()
	{
		net->kill(3);
		net->tell_of(3);
	}
	Ask *ahead = nullptr;
};

TEST_F(LatchRoom, WhoWaitsForALineLearnsOfTheDeathOfTheHome)
{
	Ask &waits = read(1, block(1, 3));
	lose_home();
	EXPECT_TRUE(waits.is_over);
	EXPECT_EQ(waits.error, EHOSTUNREACH);
	Ask &late = read(1, block(1, 3));
	EXPECT_TRUE(late.is_over);
	EXPECT_EQ(late.error, EHOSTUNREACH);
	EXPECT_EQ(unlock(2, block()), 0);
	EXPECT_EQ(result(*ahead), 0U);
}

TEST_F(LatchRoom, WhatWaitedForALineIsNotWrittenToAnotherNode)
{
	Ask &waits = write(1, block(1, 3), 5);
	lose_home();
	net->run();
	sweep_all(3);
	net->revive(3);
	EXPECT_EQ(unlock(2, block()), 0);
	EXPECT_EQ(result(*ahead), 0U);
	EXPECT_EQ(error(waits), EHOSTUNREACH);
	EXPECT_EQ(reads(2, block(1, 3)), 0U);
}

/** A node has been declared dead without learning of it: the entries of its blocks name another writer, or none. */
TEST_F(LatchDeath, WhoIsDeclaredDeadLosesItsBlocks)
{
	writes(1, block(), 5);
	latch::Entry swept = net->entry(block());
	swept.writer = 0;
	net->write_entry(block(), swept);
	Ask &ask = read(2, block(2));
	net->run();
	node(1).flush();
	net->run();
	EXPECT_EQ(node(1).state(block()), latch::State::invalid);
	EXPECT_EQ(ask.error, 0);
	EXPECT_EQ(reads(1, block()), 0U);
	expect_rest();
}

struct LatchHostile : LatchNodes {
	Message message(Type type, std::uint8_t flags = 0)
	{
		Message message;
		message.type = static_cast<std::uint8_t>(type);
		message.flags = flags;
		message.block = block();
		return message;
	}
	void expect_refused(NodeId from, NodeId to, const Message &message)
	{
		const std::uint64_t before = node(to).stats().refused;
		net->inject({from, to}, message);
		net->run();
		EXPECT_EQ(node(to).stats().refused, before + 1) << int{message.type};
	}
};

TEST_F(LatchHostile, AnswersThatNobodyAskedFor)
{
	const std::vector<std::byte> bytes(block_size, std::byte{9});
	const std::vector types{
		Type::grant_read, Type::grant_write, Type::moved, Type::busy, Type::ack, Type{0}, Type{99}};
	for (const Type type : types) {
		Message forged = message(type);
		forged.data = bytes;
		expect_refused(2, 1, forged); /* it has no line */
	}
	writes(1, block(), 5);
	for (const Type type : types)
		expect_refused(2, 1, message(type));     /* its line is idle */
	expect_refused(2, 1, message(Type::invalidate)); /* it owns the block */
	EXPECT_EQ(reads(1, block()), 5U);
	result(write_lock(1, block()));
	Ask &ask = write(3, block(), 6);
	net->run();
	for (const Type type : types)
		expect_refused(2, 3, message(type));      /* node 1 was asked */
	expect_refused(1, 3, message(Type::grant_write)); /* without the data */
	Message copy = message(Type::grant_read);
	copy.data = bytes;
	expect_refused(1, 3, copy);                /* it has asked to write */
	expect_refused(1, 3, message(Type::busy)); /* it has not tried */
	EXPECT_FALSE(ask.is_over);
	EXPECT_EQ(unlock(1, block()), 0);
	EXPECT_EQ(result(ask), 6U);
	expect_rest();
}

TEST_F(LatchHostile, RequestsThatCannotBe)
{
	result(write_lock(1, block()));
	net->inject({2, 1}, message(Type::request));
	net->run();
	expect_refused(2, 1, message(Type::request)); /* twice */
	expect_refused(2, 1, message(Type::request, latch::exclusive));
	Message other = message(Type::request);
	EXPECT_EQ(unlock(1, block()), 0);
	node(1).hear(77, other);
	node(1).hear(no_node, other);
	node(1).hear(1, other);
	other.block = other.block + 8;
	node(1).hear(2, other);
	EXPECT_EQ(node(1).stats().refused, 6U);
	net->run();
	node(1).flush();
	expect_rest();
}

TEST_F(LatchHostile, AWithdrawalByWhoIsNotTheHome)
{
	writes(1, block(), 5);
	expect_refused(2, 1, message(Type::withdrawn));
	EXPECT_EQ(node(1).state(block()), latch::State::exclusive);
	expect_rest();
}

TEST_F(LatchHostile, InvalidateOfWhatIsOwedToAnother)
{
	result(read_lock(1, block()));
	net->inject({2, 1}, message(Type::invalidate));
	net->run();
	expect_refused(3, 1, message(Type::invalidate));
	EXPECT_EQ(unlock(1, block()), 0);
	expect_rest();
}

TEST_F(LatchHostile, EntriesThatCannotBe)
{
	for (const std::uint16_t nonsense : {65, 0xffff}) {
		latch::Entry entry = net->entry(block());
		entry.writer = nonsense;
		net->write_entry(block(), entry);
		EXPECT_EQ(error(read(1, block())), EPROTO);
		EXPECT_EQ(error(write(1, block(), 5)), EPROTO);
		entry.writer = 0;
		entry.waiter = nonsense;
		net->write_entry(block(), entry);
		EXPECT_EQ(error(read(1, block())), EPROTO);
		entry.waiter = 0;
		net->write_entry(block(), entry);
	}
	EXPECT_EQ(node(1).stats().refused, 6U);
	EXPECT_EQ(reads(1, block()), 0U);
	expect_rest();
}

/** Checks that an invalid waiter does not keep the owner from writing back. */
TEST_F(LatchHostile, WaiterThatCannotBe)
{
	writes(1, block(), 5);
	latch::Entry entry = net->entry(block());
	entry.waiter = 0xffff;
	net->write_entry(block(), entry);
	EXPECT_EQ(error(read(2, block())), EPROTO);
	node(1).flush();
	net->run();
	entry = net->entry(block());
	EXPECT_EQ(entry.writer, 0U);
	entry.waiter = 0;
	net->write_entry(block(), entry);
	EXPECT_EQ(reads(2, block()), 5U);
	expect_rest();
}

TEST_F(LatchHostile, PointersThatLeadNowhere)
{
	latch::Entry entry = net->entry(block());
	entry.value = {0x1234, block_size, 3};
	net->write_entry(block(), entry);
	Ask &other = read(1, block(3)), &wild = read(1, block());
	EXPECT_EQ(error(wild), EPROTO);
	EXPECT_EQ(other.error, 0);
	EXPECT_EQ(error(read(2, block(2))), 0) << "others have their queue pairs";
	Ask &late = read(1, block(2));
	net->run();
	EXPECT_FALSE(late.is_over) << "the device has ended the queue pair";
	net->mend_pair(1, 0);
	EXPECT_EQ(result(late), 0U);
	/* A node that has claimed the block does not remain its writer. */
	EXPECT_EQ(error(write(1, block(), 5)), EPROTO);
	net->mend_pair(1, 0);
	EXPECT_TRUE(net->run_to_rest());
	EXPECT_EQ(net->entry(block()).writer, 0U);
	/* Same for the home itself. */
	EXPECT_EQ(error(write(0, block(), 5)), EPROTO);
	net->mend_pair(0, 0);
	EXPECT_TRUE(net->run_to_rest());
	EXPECT_EQ(net->entry(block()).writer, 0U);
	/* A pointer that is not a buffer's is not given back. */
	entry.value = {net->lent(0).device.region().address + 8, 4, 3};
	net->write_entry(block(), entry);
	EXPECT_EQ(reads(2, block()) >> 32, 0U) << "what the buffer is too short for is zeros";
	writes(2, block(), 5);
	node(2).flush();
	net->run();
	EXPECT_EQ(node(2).stats().refused, 1U);
	EXPECT_EQ(node(2).freed_buffers(), 0U);
	EXPECT_EQ(reads(2, block()), 5U);
}

} // namespace
