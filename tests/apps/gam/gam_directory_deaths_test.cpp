/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Deaths of nodes: node 0 is the home, unless it is the one that dies. */
#include "directory_nodes.hpp"

#include <cerrno>

using namespace gam_test;

namespace
{

struct DirectoryDeaths : DirectoryNodes {
	const Address at = block();

	void die(NodeId id)
	{
		net->release_all();
		net->kill(id);
		net->tell_of(id);
		EXPECT_TRUE(net->run());
	}
	std::uint64_t lost_values()
	{
		std::uint64_t all = 0;
		for (NodeId id = 0; id < net->size(); id++)
			all += net->is_dead(id) ? 0 : node(id).stats().lost_values;
		return all;
	}
	/** Checks that the block is usable: lets each live node write it in turn and all others read it. */
	void expect_usable()
	{
		std::uint64_t value = 100;
		for (NodeId id = 0; id < net->size(); id++) {
			if (net->is_dead(id))
				continue;
			writes(id, at, ++value);
			for (NodeId reader = 0; reader < net->size(); reader++) {
				if (!net->is_dead(reader)) {
					EXPECT_EQ(reads(reader, at), value);
				}
			}
		}
		expect_rest();
	}
};

TEST_F(DirectoryDeaths, OfASharer)
{
	reads(1, at);
	reads(2, at);
	die(2);
	EXPECT_EQ(node(0).entry(at)->sharers, bit(1));
	EXPECT_EQ(lost_values(), 0U);
	expect_usable();
}

TEST_F(DirectoryDeaths, OfTheOwner)
{
	writes(0, at, 5);
	writes(2, at, 6);
	die(2);
	EXPECT_EQ(reads(1, at), 5U) << "what the home has";
	EXPECT_EQ(lost_values(), 1U);
	expect_usable();
}

/**
 * Checks a write-back by a node that has handed the block over: until the data has passed the home, the home does not
 * have it.
 */
TEST_F(DirectoryDeaths, OfOneThatHasWrittenBackWhatOthersHaveAskedFor)
{
	options.through_home = true;
	for (const bool writes_it : {false, true}) {
		make();
		writes(0, at, 5);
		writes(2, at, 6);
		net->hold({2, 0});
		Ask &other = writes_it ? add(1, at, 10) : read(1, at);
		EXPECT_TRUE(net->run());
		Ask &written_back = begin(2, AccessKind::write_back, at);
		EXPECT_TRUE(net->run());
		EXPECT_FALSE(written_back.is_over);
		net->release_all();
		EXPECT_EQ(error(written_back), 0);
		EXPECT_EQ(result(other), 6U);
		die(2);
		EXPECT_EQ(reads(1, at), writes_it ? 16U : 6U);
		EXPECT_EQ(lost_values(), 0U);
		expect_usable();
	}
}

/**
 * Checks that an eviction already begun counts as a write-back, and that a node that never had the block waits for
 * none.
 */
TEST_F(DirectoryDeaths, OfOneThatHasWrittenBackWhatItEvicts)
{
	writes(2, at, 6);
	node(2).flush();
	Ask &written_back = begin(2, AccessKind::write_back, at);
	EXPECT_FALSE(written_back.is_over);
	EXPECT_EQ(error(written_back), 0);
	EXPECT_EQ(error(begin(3, AccessKind::write_back, at)), 0);
	die(2);
	EXPECT_EQ(reads(1, at), 6U);
	EXPECT_EQ(error(begin(1, AccessKind::write_back, block(1, 2))), EHOSTUNREACH);
	expect_usable();
}

TEST_F(DirectoryDeaths, OfOneThatIsToAcknowledge)
{
	reads(1, at);
	reads(2, at);
	net->hold({0, 2});
	Ask &write = this->write(1, at, 7);
	EXPECT_TRUE(net->run());
	EXPECT_FALSE(write.is_over);
	die(2);
	EXPECT_TRUE(write.is_over);
	expect_usable();
}

TEST_F(DirectoryDeaths, OfTheHome)
{
	reads(1, at);
	writes(2, block(2), 1);
	result(write_lock(3, block(3)));
	net->hold({1, 0});
	Ask &upgrade = write(1, at, 7);
	Ask &behind = read(1, at);
	Ask &miss = read(1, block(4));
	die(0);
	EXPECT_EQ(error(upgrade), EHOSTUNREACH);
	EXPECT_EQ(error(behind), EHOSTUNREACH);
	EXPECT_EQ(error(miss), EHOSTUNREACH);
	EXPECT_EQ(error(read(2, block(2))), EHOSTUNREACH);
	EXPECT_EQ(error(read(1, at)), EHOSTUNREACH);
	EXPECT_EQ(begin(3, AccessKind::unlock, block(3)).error, EHOSTUNREACH);
	for (const NodeId id : {1, 2, 3})
		EXPECT_TRUE(node(id).at_rest());
}

/* Else their holders would read and write the block of another node, which has got the number. */
TEST_F(DirectoryDeaths, LocksOfADeadHomeFailUntilTheyAreGivenBack)
{
	result(write_lock(3, at));
	result(read_lock(1, block(2), 1));
	result(read_lock(1, block(2), 2));
	die(0);
	net->revive(0);
	for (const NodeId id : {1, 2, 3})
		node(id).joined(0);
	EXPECT_EQ(error(write(3, at, 7)), EHOSTUNREACH);
	EXPECT_EQ(error(add(3, at, 7)), EHOSTUNREACH);
	EXPECT_EQ(error(begin(3, AccessKind::read, at, 0, 2)), EHOSTUNREACH) << "another thread";
	EXPECT_EQ(unlock(3, at, 2), EPERM);
	EXPECT_EQ(unlock(3, at), EHOSTUNREACH);
	EXPECT_EQ(unlock(3, at), EPERM);
	EXPECT_EQ(unlock(1, block(2), 1), EHOSTUNREACH);
	EXPECT_EQ(error(read(1, block(2))), EHOSTUNREACH);
	EXPECT_EQ(unlock(1, block(2), 2), EHOSTUNREACH);
	EXPECT_EQ(reads(1, block(2)), 0U);
	EXPECT_EQ(reads(3, at), 0U);
	expect_usable();
}

/* Else the home that has returned waits for good: the holder of the lock would refuse to be asked again. */
TEST_F(DirectoryDeaths, OfAHomeWithALogThatWaitsForALock)
{
	options.through_home = true;
	make();
	result(write_lock(3, at));
	result(write(3, at, 7));
	write(1, at, 8);
	EXPECT_TRUE(net->run());
	for (const NodeId id : {1, 2, 3})
		node(id).set_loggers(bit(0));
	die(0);
	net->revive(0);
	directory::Restored restored;
	restored.owner = 3;
	EXPECT_TRUE(node(0).restore(at, restored));
	for (const NodeId id : {1, 2, 3})
		node(id).joined(0);
	Ask &again = add(1, at, 8);
	EXPECT_TRUE(net->run());
	EXPECT_FALSE(again.is_over);
	EXPECT_EQ(unlock(3, at), 0);
	EXPECT_EQ(result(again), 7U);
	expect_usable();
}

TEST_F(DirectoryDeaths, OfTheHomeWhileOthersWaitForALine)
{
	lines = 1;
	make();
	net->hold({1, 0});
	Ask &first = read(1, at);
	Ask &second = read(1, block(2));
	Ask &third = read(1, block(2, 3));
	die(0);
	EXPECT_EQ(error(first), EHOSTUNREACH);
	EXPECT_EQ(error(second), EHOSTUNREACH);
	EXPECT_EQ(error(third), 0) << "another home";
	expect_rest();
}

TEST_F(DirectoryDeaths, OfOneThatAsks)
{
	writes(2, at, 6);
	for (const bool writes_it : {false, true}) {
		net->hold({0, 2});
		writes_it ? write(1, at, 1) : read(1, at);
		Ask &waits = read(3, at);
		EXPECT_TRUE(net->run());
		EXPECT_FALSE(waits.is_over);
		die(1);
		EXPECT_EQ(result(waits), 6U);
		EXPECT_EQ(lost_values(), 0U) << "the owner does not hand it to the dead";
		make();
		writes(2, at, 6);
	}
	expect_usable();
}

TEST_F(DirectoryDeaths, OfOneThatHasBeenHandedTheBlock)
{
	writes(0, at, 5);
	writes(2, at, 6);
	net->hold({2, 0});
	write(1, at, 1);
	Ask &waits = read(3, at);
	EXPECT_TRUE(net->run());
	die(1);
	EXPECT_EQ(result(waits), 5U);
	EXPECT_EQ(lost_values(), 1U);
	expect_usable();
}

/**
 * Death of the owner at each point of a hand-over: parameters say which of its messages have arrived and who learns of
 * its death first.
 */
struct DirectoryDyingOwner : DirectoryDeaths, testing::WithParamInterface<std::tuple<bool, bool, bool, bool>> {
};

INSTANTIATE_TEST_SUITE_P(Points, DirectoryDyingOwner,
	testing::Combine(testing::Bool(), testing::Bool(), testing::Bool(), testing::Bool()));

TEST_P(DirectoryDyingOwner, ItsBlockIsUsableAndTheRequestEnds)
{
	const auto [writes_it, has_told_the_home, has_told_the_other, home_is_first] = GetParam();
	writes(0, at, 5);
	writes(2, at, 6);
	net->hold({2, 0});
	net->hold({2, 1});
	Ask &ask = writes_it ? add(1, at, 10) : read(1, at);
	EXPECT_TRUE(net->run());
	if (has_told_the_home) {
		EXPECT_TRUE(net->deliver({2, 0}));
	}
	if (has_told_the_other) {
		EXPECT_TRUE(net->deliver({2, 1}));
	}
	net->kill(2);
	node(home_is_first ? 0 : 1).lost(2);
	EXPECT_TRUE(net->run());
	node(home_is_first ? 1 : 0).lost(2);
	node(3).lost(2);
	const std::uint64_t value = result(ask);
	EXPECT_TRUE(value == 5 || value == 6) << value;
	if (has_told_the_home && has_told_the_other) {
		EXPECT_EQ(value, 6U);
		EXPECT_EQ(lost_values(), 0U);
	}
	EXPECT_EQ(reads(3, at), reads(1, at));
	expect_usable();
}

TEST_F(DirectoryDeaths, OfTheOwnerWhenTheReaderHasGoneOnAlready)
{
	/* The reader has the data, drops it and asks again; the data never reaches the home. */
	for (const bool writes_it : {false, true}) {
		for (const bool evicts : {false, true}) {
			make();
			writes(0, at, 5);
			writes(2, at, 6);
			net->hold({2, 0});
			EXPECT_EQ(reads(1, at), 6U);
			net->hold({1, 0});
			if (evicts)
				node(1).flush();
			Ask &next = writes_it ? add(1, at, 1) : read(1, at);
			net->kill(2);
			net->tell_of(2);
			net->release_all();
			const std::uint64_t value = result(next);
			EXPECT_EQ(value, !writes_it && !evicts ? 6U : 5U);
			expect_usable();
		}
	}
}

TEST_F(DirectoryDeaths, TheRequesterKnowsBeforeTheHomeHearsOfTheTransfer)
{
	for (const bool writes_it : {false, true}) {
		make();
		writes(0, at, 5);
		writes(2, at, 6);
		net->hold({2, 0});
		net->hold({2, 1});
		Ask &ask = writes_it ? add(1, at, 10) : read(1, at);
		EXPECT_TRUE(net->run());
		node(1).lost(2); /* messages of node 2 to it are dropped from now on */
		EXPECT_TRUE(net->run());
		EXPECT_TRUE(net->deliver({2, 0})) << "it still comes to the home";
		EXPECT_TRUE(net->run());
		net->kill(2);
		node(0).lost(2);
		node(3).lost(2);
		EXPECT_EQ(result(ask), writes_it ? 5U : 6U) << "the home has the data of a read";
		expect_usable();
	}
}

} // namespace
