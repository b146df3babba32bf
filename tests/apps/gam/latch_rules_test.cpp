/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rules of a node, each forced by holding messages or chains back: races, locks, tries, fairness, lack of room. */
#include "latch_nodes.hpp"

#include <gtest/gtest.h>

using namespace gam_test;

namespace
{

struct LatchRules : LatchNodes {
	void evict(NodeId id)
	{
		node(id).flush();
		net->run();
	}
	latch::Entry entry() { return net->entry(block()); }
	void expect_no_refusal() { EXPECT_EQ(total().refused, 0U); }
	/** Checks that @p ask waits for another node; on_time() does not wake it. */
	void expect_waits(const Ask &ask)
	{
		net->run();
		EXPECT_FALSE(ask.is_over);
	}
};

TEST_F(LatchRules, InvalidatedFetchServesItsReadOnce)
{
	net->hold_answers(1);
	Ask &ask = read(1, block());
	net->run();
	Ask &second = write(2, block(), 5);
	net->run();
	EXPECT_TRUE(second.is_over) << "whoever fetches acknowledges";
	net->release_chains(1);
	EXPECT_EQ(error(ask), 0);
	EXPECT_EQ(ask.value, 0U) << "it was read before";
	EXPECT_EQ(node(1).state(block()), latch::State::invalid);
	EXPECT_EQ(reads(1, block()), 5U);
	expect_rest();
	expect_no_refusal();
}

TEST_F(LatchRules, InvalidatedFetchOfALockStartsOver)
{
	net->hold_answers(1);
	Ask &lock = read_lock(1, block());
	net->run();
	writes(2, block(), 5);
	net->release_chains(1);
	EXPECT_EQ(error(lock), 0);
	EXPECT_EQ(node(1).state(block()), latch::State::shared);
	EXPECT_EQ(reads(1, block()), 5U);
	EXPECT_EQ(unlock(1, block()), 0);
	expect_rest();
}

/** Lets the reader learn of the next writer before it gets its copy. */
void grant_that_is_overtaken(LatchRules &test, std::uint64_t value, AccessKind kind)
{
	test.result(test.write_lock(1, test.block()));
	Ask &ask = test.begin(2, kind, test.block());
	test.net->run();
	Ask &write = test.write(3, test.block(), value);
	test.net->run();
	test.net->hold({1, 2});
	EXPECT_EQ(test.unlock(1, test.block()), 0);
	test.net->run();
	EXPECT_TRUE(write.is_over);
	EXPECT_FALSE(ask.is_over);
	test.net->release({1, 2});
	EXPECT_EQ(test.error(ask), 0);
	test.expect_no_refusal();
}

TEST_F(LatchRules, InvalidatedGrantServesItsReadOnce)
{
	grant_that_is_overtaken(*this, 5, AccessKind::read);
	EXPECT_EQ(asked[asked.size() - 3]->value, 0U);
	EXPECT_EQ(node(2).state(block()), latch::State::invalid);
	EXPECT_EQ(reads(2, block()), 5U);
	expect_rest();
}

TEST_F(LatchRules, InvalidatedGrantOfALockStartsOver)
{
	grant_that_is_overtaken(*this, 5, AccessKind::read_lock);
	EXPECT_EQ(reads(2, block()), 5U);
	EXPECT_EQ(unlock(2, block()), 0);
	expect_rest();
}

/** Checks that an INVALIDATE of an earlier owner does not discard a later owner's grant. */
TEST_F(LatchRules, OlderInvalidateDoesNotSpoilAGrant)
{
	for (const std::uint32_t before : {0U, 0xfffffffeU, 0xffffffffU}) { /* versions wrap */
		make();
		latch::Entry start = entry();
		start.value.tag = before;
		net->write_entry(block(), start);
		reads(2, block()); /* its bit stays in the entry */
		evict(2);
		net->hold({1, 2}); /* the claimer's INVALIDATE is late */
		Ask &write = this->write(1, block(), 5);
		net->run();
		Ask &read = this->read(2, block());
		net->run();
		net->release({1, 2});
		EXPECT_EQ(error(write), 0);
		EXPECT_EQ(error(read), 0);
		EXPECT_EQ(read.value, 5U);
		EXPECT_EQ(node(2).state(block()), latch::State::shared);
		EXPECT_EQ(entry().value.tag, before + 1);
		expect_rest();
		expect_no_refusal();
	}
}

TEST_F(LatchRules, UpgradeWhoseCopyWentReadsAsWriter)
{
	reads(1, block());
	net->hold_posts(1);
	Ask &ask = add(1, block(), 1);
	net->run();
	writes(2, block(), 5);
	evict(2);
	net->release_chains(1);
	EXPECT_EQ(result(ask), 5U);
	EXPECT_EQ(reads(3, block()), 6U);
	expect_rest();
	expect_no_refusal();
}

TEST_F(LatchRules, UpgradeThatFindsAnotherWriterAsksIt)
{
	reads(1, block());
	reads(2, block());
	Ask &first = add(1, block(), 1), &second = add(2, block(), 1);
	net->run();
	EXPECT_EQ(error(first), 0);
	EXPECT_EQ(error(second), 0);
	EXPECT_EQ(first.old_value + second.old_value, 1U);
	expect_rest();
	expect_no_refusal();
}

TEST_F(LatchRules, RequestToWhoHasLeftIsSentOn)
{
	writes(1, block(), 5);
	net->hold({2, 1});
	Ask &ask = read(2, block());
	net->run();
	evict(1);
	net->release({2, 1});
	EXPECT_EQ(error(ask), 0);
	EXPECT_EQ(ask.value, 5U);
	EXPECT_EQ(total().messages, 2U) << "the request, and MOVED";
	expect_rest();
}

TEST_F(LatchRules, RequestToWhoClaimsWaits)
{
	net->hold_answers(1);
	Ask &write = this->write(1, block(), 5);
	net->run();
	Ask &read = this->read(2, block());
	expect_waits(read);
	net->release_chains(1);
	EXPECT_EQ(error(write), 0);
	EXPECT_EQ(error(read), 0);
	EXPECT_EQ(read.value, 5U);
	expect_rest();
}

/** Checks that the line has its new state from the moment at which the change is posted. */
TEST_F(LatchRules, InvalidateComesBeforeTheDowngradeIsKnown)
{
	writes(1, block(), 5);
	net->hold_answers(1);
	Ask &write = this->write(2, block(), 6), &read = this->read(1, block());
	EXPECT_EQ(error(read), 0);
	EXPECT_FALSE(write.is_over);
	net->run();
	net->release_chains(1);
	EXPECT_EQ(error(write), 0);
	/* A copy stays here; it is invalidated before this node knows that it has handed out another. */
	Ask &copy = this->read(1, block());
	EXPECT_EQ(error(copy), 0);
	EXPECT_EQ(copy.value, 6U);
	net->hold_answers(2);
	writes(3, block(), 7);
	net->release_chains(2);
	EXPECT_EQ(reads(1, block()), 7U);
	expect_rest();
	expect_no_refusal();
}

TEST_F(LatchRules, LocksPin)
{
	result(read_lock(1, block()));
	Ask &write = this->write(2, block(), 5);
	expect_waits(write);
	EXPECT_EQ(reads(1, block()), 0U) << "who holds the lock has a copy";
	node(1).flush();
	EXPECT_EQ(node(1).state(block()), latch::State::shared);
	EXPECT_EQ(unlock(1, block()), 0);
	EXPECT_EQ(error(write), 0);
	expect_rest();

	result(write_lock(2, block()));
	Ask &read = this->read(1, block());
	expect_waits(read);
	writes(2, block(), 6);
	EXPECT_EQ(unlock(2, block()), 0);
	EXPECT_EQ(error(read), 0);
	EXPECT_EQ(read.value, 6U);
	expect_rest();
	expect_no_refusal();
}

TEST_F(LatchRules, WhatIsLockedForReadingIsReadElsewhere)
{
	writes(1, block(), 5);
	result(read_lock(1, block()));
	EXPECT_EQ(result(read_lock(2, block())), 0U);
	EXPECT_EQ(reads(3, block()), 5U);
	EXPECT_EQ(node(1).state(block()), latch::State::shared);
	Ask &write = this->write(3, block(), 6);
	expect_waits(write);
	EXPECT_EQ(unlock(1, block()), 0);
	expect_waits(write);
	EXPECT_EQ(unlock(2, block()), 0);
	EXPECT_EQ(error(write), 0);
	expect_rest();
}

TEST_F(LatchRules, LocksOfThreads)
{
	result(write_lock(1, block(), 1));
	EXPECT_EQ(error(write_lock(1, block(), 1)), EDEADLK);
	EXPECT_EQ(error(write_lock(1, block(), 2, true)), EBUSY);
	EXPECT_EQ(unlock(1, block(), 2), EPERM);
	EXPECT_EQ(unlock(1, block(2), 1), EPERM);
	Ask &second = write_lock(1, block(), 2), &third = write_lock(1, block(), 3);
	expect_waits(second);
	EXPECT_EQ(unlock(1, block(), 1), 0);
	EXPECT_TRUE(second.is_over);
	expect_waits(third);
	EXPECT_EQ(unlock(1, block(), 2), 0);
	EXPECT_TRUE(third.is_over);
	EXPECT_EQ(unlock(1, block(), 3), 0);

	result(read_lock(1, block(), 1));
	result(read_lock(1, block(), 2));
	EXPECT_EQ(error(begin(1, AccessKind::write, block(), 5, 1)), EDEADLK)
		<< "two of them would wait for each other";
	Ask &write = begin(1, AccessKind::write, block(), 5, 3);
	expect_waits(write);
	EXPECT_EQ(error(begin(1, AccessKind::read, block(), 0, 2)), 0) << "a holder passes what it holds back";
	EXPECT_EQ(unlock(1, block(), 1), 0);
	EXPECT_EQ(unlock(1, block(), 2), 0);
	EXPECT_EQ(error(write), 0);
	expect_rest();
}

TEST_F(LatchRules, NoReadPassesALock)
{
	result(begin(1, AccessKind::write, block(), 4, 1));
	EXPECT_EQ(result(begin(1, AccessKind::read, block(), 0, 2)), 4U);
	result(write_lock(1, block(), 1));
	Ask &read = begin(1, AccessKind::read, block(), 0, 2);
	expect_waits(read);
	result(begin(1, AccessKind::write, block(), 5, 1));
	EXPECT_EQ(unlock(1, block(), 1), 0);
	EXPECT_EQ(result(read), 5U);
	expect_rest();
}

TEST_F(LatchRules, TriesAreBusy)
{
	result(write_lock(1, block()));
	EXPECT_EQ(error(write_lock(2, block(), 1, true)), EBUSY);
	EXPECT_EQ(error(read_lock(2, block(), 1, true)), EBUSY);
	EXPECT_EQ(unlock(1, block()), 0);
	result(write_lock(2, block(), 1, true));
	EXPECT_EQ(unlock(2, block()), 0);
	expect_rest();
	expect_no_refusal();
}

/** Checks that a claim refused because of a sharer's lock is undone, and that everybody can go on. */
TEST_F(LatchRules, TriesThatASharerRefusesAreUndone)
{
	result(read_lock(1, block()));
	reads(3, block());
	EXPECT_EQ(error(write_lock(2, block(), 1, true)), EBUSY);
	EXPECT_EQ(entry().writer, 0U);
	EXPECT_EQ(node(3).state(block()), latch::State::invalid) << "who has acknowledged has let go";
	EXPECT_EQ(node(1).state(block()), latch::State::shared);
	EXPECT_EQ(unlock(1, block()), 0);
	result(write_lock(2, block(), 1, true));
	EXPECT_EQ(unlock(2, block()), 0);
	expect_rest();
	expect_no_refusal();
}

/** Lets another node claim the block after the undo, before this node knows that it is undone. */
TEST_F(LatchRules, InvalidateMeetsAnUndo)
{
	reads(2, block());
	result(read_lock(1, block()));
	net->hold({1, 2});
	Ask &tried = write_lock(2, block(), 1, true);
	net->run();
	net->hold_answers(2);
	net->release({1, 2});
	net->run();
	EXPECT_EQ(entry().writer, 0U);
	Ask &write = this->write(3, block(), 5);
	net->run();
	EXPECT_EQ(unlock(1, block()), 0);
	EXPECT_EQ(error(write), 0);
	net->release_chains(2);
	EXPECT_EQ(error(tried), EBUSY);
	expect_rest();
	expect_no_refusal();
}

/** Checks that a node turned away too often is next: others' claims miss, and the owner sees the waiter. */
TEST_F(LatchRules, WaiterIsNext)
{
	shape.patience = 1;
	make();
	writes(1, block(), 5);
	net->hold({2, 1});
	net->hold({2, 3});
	Ask &waiter = add(2, block(), 1);
	net->run();
	evict(1);
	writes(3, block(), 10);
	net->release({2, 1});
	net->run(); /* moved: node 2 waits now; its request to node 3 is held */
	EXPECT_EQ(entry().waiter, latch::mark(2));
	evict(3);
	EXPECT_EQ(entry().writer, 0U);
	Ask &other = add(1, block(), 100);
	net->run();
	EXPECT_FALSE(other.is_over);
	EXPECT_EQ(begin(1, AccessKind::read, block(), 0, 2).is_over, false);
	EXPECT_EQ(error(write_lock(0, block(), 1, true)), EBUSY);
	net->release({2, 3});
	EXPECT_EQ(result(waiter), 10U);
	EXPECT_EQ(result(other), 11U);
	expect_rest();
	expect_no_refusal();
}

TEST_F(LatchRules, OwnerServesTheWaiterBeforeItsQueue)
{
	result(write_lock(1, block()));
	Ask &first = add(2, block(), 1);
	net->run();
	Ask &second = add(3, block(), 10);
	net->run();
	latch::Entry marked = entry();
	marked.waiter = latch::mark(3);
	net->write_entry(block(), marked);
	EXPECT_EQ(unlock(1, block()), 0);
	EXPECT_EQ(result(second), 0U);
	EXPECT_EQ(result(first), 10U);
	expect_rest();
}

TEST_F(LatchRules, NoBufferIsTriedAgain)
{
	writes(1, block(), 5);
	const std::deque<std::uint64_t> all = std::exchange(net->lent(0).device.free, {});
	Ask &read = this->read(2, block());
	net->run();
	net->tick();
	net->run();
	EXPECT_FALSE(read.is_over);
	EXPECT_EQ(node(1).state(block()), latch::State::exclusive) << "the owner is who it was";
	net->lent(0).device.free = all;
	EXPECT_EQ(result(read), 5U);
	expect_rest();
	expect_no_refusal();
}

TEST_F(LatchRules, FullSendQueuesAreTriedAgain)
{
	net->full_queues = 3;
	writes(1, block(), 5);
	net->full_queues = 2;
	EXPECT_EQ(reads(2, block()), 5U);
	net->full_queues = 2;
	node(2).flush();
	expect_rest();
}

TEST_F(LatchRules, CacheMakesRoom)
{
	shape.lines = 2;
	make();
	for (std::uint64_t number = 1; number < shape.blocks; number++)
		writes(1, block(number), number);
	for (std::uint64_t number = 1; number < shape.blocks; number++)
		EXPECT_EQ(reads(1, block(number)), number);
	result(read_lock(1, block(1)));
	result(read_lock(1, block(2)));
	EXPECT_EQ(error(read(1, block(3))), ENOBUFS);
	EXPECT_EQ(unlock(1, block(1)), 0);
	EXPECT_EQ(reads(1, block(3)), 3U);
	EXPECT_EQ(unlock(1, block(2)), 0);
	expect_rest();
}

/** Two nodes hold locks that the lines of the other wait for. */
TEST_F(LatchRules, WhoHoldsALockDoesNotWaitForALineForGood)
{
	shape.lines = 2;
	make();
	result(write_lock(1, block(1)));
	result(write_lock(2, block(2)));
	Ask &lock = write_lock(1, block(2), 2), &theirs = write_lock(2, block(1));
	EXPECT_TRUE(net->run());
	Ask &patient = read(1, block(3));
	room_until = Time(net->now()) + std::chrono::seconds(1);
	Ask &holder = write_lock(1, block(3)), &write_it = write(1, block(4), 4);
	EXPECT_TRUE(net->run());
	(void)node(1).on_time(room_until - Time(1));
	EXPECT_FALSE(holder.is_over || write_it.is_over);
	(void)node(1).on_time(room_until);
	EXPECT_EQ(error(holder), ENOBUFS);
	EXPECT_EQ(error(write_it), ENOBUFS);
	EXPECT_FALSE(patient.is_over || lock.is_over);
	EXPECT_EQ(unlock(1, block(1)), 0);
	result(theirs);
	EXPECT_EQ(result(patient), 0U);
	EXPECT_EQ(unlock(2, block(2)), 0);
	result(lock);
	expect_rest();
}

TEST_F(LatchRules, UncachedReadOfWhatIsWrittenElsewhere)
{
	writes(1, block(), 5);
	Ask &ask = begin(2, AccessKind::read, block(), 0, 1, false, true);
	EXPECT_EQ(result(ask), 5U);
	EXPECT_EQ(node(2).state(block()), latch::State::invalid);
	expect_rest();
}

TEST_F(LatchRules, OnlyWhatIsLentCanBeAskedFor)
{
	net->is_allocated = [](Address) { return false; };
	EXPECT_EQ(error(read(1, block(0))), EFAULT);
	EXPECT_EQ(error(write(0, block(0), 5)), EFAULT) << "the home itself";
	EXPECT_EQ(error(read(1, block(shape.blocks))), EFAULT);
	EXPECT_EQ(error(read(1, block(1, 9))), EHOSTUNREACH);
	EXPECT_EQ(error(begin(1, AccessKind::read, block() + (block_size - 4))), EINVAL);
	net->is_allocated = [](Address) { return true; };
	writes(0, block(0), 5); /* lends it */
	EXPECT_EQ(reads(1, block(0)), 5U);
	net->is_allocated = [](Address) { return false; };
	node(0).withdraw(block(0));
	EXPECT_TRUE(net->run_to_rest());
	EXPECT_EQ(error(read(2, block(0))), EFAULT);
	expect_rest();
}

TEST_F(LatchRules, WhoHasWhatIsFreedGivesItUp)
{
	writes(3, block(), 5);
	EXPECT_EQ(reads(0, block()), 5U);
	EXPECT_EQ(reads(1, block()), 5U); /* node 1 has a copy */
	writes(3, block(2), 6);           /* has not been written back */
	result(read_lock(2, block(3)));
	net->hold_answers(2);
	Ask &late = read(2, block()); /* has its copy already, but does not know */
	net->run();
	net->is_allocated = [](Address) { return false; };
	for (const std::uint64_t number : {1, 2, 3})
		node(0).withdraw(block(number));
	net->run();
	net->release_chains(2);
	EXPECT_TRUE(net->run_to_rest());
	EXPECT_EQ(late.error, 0);
	for (const NodeId id : {0, 1, 2, 3}) {
		EXPECT_EQ(error(read(id, block())), EFAULT) << id;
		EXPECT_EQ(error(read(id, block(2))), EFAULT) << id;
	}
	EXPECT_EQ(error(begin(2, AccessKind::read, block(3))), 0) << "locked";
	EXPECT_EQ(unlock(2, block(3)), 0);
	EXPECT_EQ(error(read(2, block(3))), EFAULT);
	expect_rest();
}

/** Checks that a freed block is given up even if the writer, which the home has told, has handed it on since. */
TEST_F(LatchRules, WhatIsFreedIsGivenUpByWhoeverItIsGivenTo)
{
	for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
		make();
		net->is_allocated = [](Address) { return true; };
		writes(1, block(), 5);
		net->hold_posts(1);
		Ask &ask = begin(2, kind, block(), 6);
		net->run();
		net->is_allocated = [](Address) { return false; };
		node(0).withdraw(block());
		net->run();
		net->release_chains(1);
		EXPECT_TRUE(net->run_to_rest());
		EXPECT_EQ(error(ask), 0);
		for (const NodeId id : {1, 2})
			EXPECT_EQ(error(read(id, block())), EFAULT) << id;
		expect_rest();
	}
}

/** A large piece has many blocks, and a node that takes no messages now must not lose its connection for them. */
TEST_F(LatchRules, WhoHasNoRoomIsToldLaterOfWhatIsFreed)
{
	reads(1, block());
	reads(1, block(2));
	net->has_room = [](Net::Pair pair) { return pair.second != 1; };
	net->is_allocated = [](Address) { return false; };
	for (const std::uint64_t number : {1, 2})
		node(0).withdraw(block(number));
	net->count();
	net->run();
	EXPECT_TRUE(net->count().empty());
	EXPECT_EQ(node(1).state(block()), latch::State::shared);
	net->has_room = [](Net::Pair) { return true; };
	EXPECT_TRUE(net->run_to_rest());
	for (const std::uint64_t number : {1, 2})
		EXPECT_EQ(error(read(1, block(number))), EFAULT);
	expect_rest();
}

/** Checks that a refused node leaves no mark; else all would wait for it once the block is allocated again. */
TEST_F(LatchRules, WhoIsRefusedLeavesNoMark)
{
	const auto expect_gone = [this](Ask &ask) {
		EXPECT_EQ(error(ask), EFAULT);
		expect_rest();
		net->is_allocated = [](Address) { return true; };
		EXPECT_TRUE(node(0).lend(block()) || net->run_to_rest());
		writes(3, block(), 7);
		EXPECT_EQ(reads(2, block()), 7U);
		expect_rest();
	};
	net->is_allocated = [](Address) { return false; };
	node(0).withdraw(block());
	net->run();
	latch::Entry marked = net->entry(block());
	marked.waiter = latch::mark(1); /* it has waited for its turn */
	net->write_entry(block(), marked);
	expect_gone(read(1, block()));

	net->hold_answers(1);
	Ask &claims = write(1, block(2), 5);
	net->run();
	net->break_pair(1, 0); /* executed, but node 1 does not know */
	net->mend_pair(1, 0);
	net->is_allocated = [](Address) { return false; };
	node(0).withdraw(block(2));
	net->run();
	EXPECT_EQ(latch::node_of(net->entry(block(2)).writer), 1);
	net->release_chains(1);
	net->run();
	net->tick();
	EXPECT_EQ(error(claims), EFAULT);
	expect_rest();
}

TEST_F(LatchRules, HeldWhileAllMessagesWait)
{
	reads(1, block());
	net->hold({1, 2});
	Ask &write = this->write(2, block(), 5);
	expect_waits(write);
	EXPECT_EQ(node(2).state(block()), latch::State::invalid) << "it owns when all have let go";
	net->release({1, 2});
	EXPECT_EQ(error(write), 0);
	expect_rest();
}

} // namespace
