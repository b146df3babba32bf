/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Table of races in docs/prism-gam.md, row by row. Node 0 is the home; messages are held back to force each race. */
#include "directory_nodes.hpp"

using namespace gam_test;

namespace
{

struct DirectoryRaces : DirectoryNodes {
	const Address at = block();

	/** Delivers all messages that are not held. Returns the numbers of messages sent, by type. */
	std::map<Type, std::size_t> move()
	{
		EXPECT_TRUE(net->run());
		return sent();
	}
	std::uint64_t after(Ask &ask)
	{
		net->release_all();
		return result(ask);
	}
};

TEST_F(DirectoryRaces, AnUpgradeIsOvertakenByAnotherNodesUpgrade)
{
	reads(1, at);
	reads(2, at);
	net->hold({1, 0});
	Ask &first = add(1, at, 1);
	Ask &second = add(2, at, 10);
	move();
	EXPECT_EQ(node(1).line(at), LineState::to_dirty);
	EXPECT_FALSE(second.is_over) << "before node 1 has acknowledged";
	net->release_all();
	/* Node 1 asked before it acknowledged: its UPGRADE waits, and finds the block dirty. */
	EXPECT_EQ(move()[Type::forward_write], 1U);
	EXPECT_EQ(result(second), 0U);
	EXPECT_EQ(result(first), 10U);
	expect_rest();
	EXPECT_EQ(reads(3, at), 11U);
}

TEST_F(DirectoryRaces, AnUpgradeByWhoHasLostItsCopyIsAWrite)
{
	reads(1, at);
	net->hold({1, 0});
	Ask &upgrade = add(1, at, 1);
	Ask &write = this->write(0, at, 10);
	move();
	EXPECT_FALSE(write.is_over);
	net->release_all();
	const auto messages = move();
	EXPECT_TRUE(messages.contains(Type::grant)) << "with the data";
	EXPECT_FALSE(messages.contains(Type::permission));
	EXPECT_TRUE(write.is_over);
	EXPECT_EQ(result(upgrade), 10U);
	expect_rest();
}

/** Tests requests of the home and of others while the owner evicts the block. */
TEST_F(DirectoryRaces, TheOwnerServesWhileItEvicts)
{
	for (const NodeId reader : {0, 1}) {
		for (const bool writes_it : {false, true}) {
			make();
			writes(2, at, 7);
			net->hold({2, 0});
			node(2).flush();
			Ask &ask = writes_it ? add(reader, at, 1) : read(reader, at);
			move();
			EXPECT_EQ(node(2).line(at), LineState::to_invalid);
			EXPECT_EQ(after(ask), 7U);
			expect_rest();
			EXPECT_EQ(node(2).line(at), LineState::invalid);
			EXPECT_EQ(reads(3, at), writes_it ? 8U : 7U);
		}
	}
}

TEST_F(DirectoryRaces, AnEvictionThatComesLateIsOnlyAcknowledged)
{
	writes(2, at, 7);
	net->hold({2, 0});
	node(2).flush();
	Ask &add = this->add(1, at, 1);
	move();
	/* The block has been handed over; the messages about the eviction and then the transfer have not arrived. */
	EXPECT_TRUE(net->deliver({2, 0}));
	EXPECT_EQ(node(0).entry(at)->owner, 2) << "until it says that it has handed the block over";
	EXPECT_EQ(after(add), 7U);
	EXPECT_EQ(node(0).entry(at)->owner, 1);
	expect_rest();
	EXPECT_EQ(reads(3, at), 8U);
}

TEST_F(DirectoryRaces, InvalidateMeetsNoLine)
{
	reads(1, at);
	net->hold({1, 0});
	node(1).flush();
	Ask &write = this->write(0, at, 3);
	const auto messages = move();
	EXPECT_EQ(messages.at(Type::ack), 1U);
	EXPECT_FALSE(write.is_over);
	after(write);
	expect_rest();
}

TEST_F(DirectoryRaces, InvalidateMeetsAReadOfWhatWasEvicted)
{
	reads(1, at);
	net->hold({1, 0});
	node(1).flush();
	Ask &read = this->read(1, at);
	Ask &write = this->write(0, at, 3);
	EXPECT_EQ(move()[Type::ack], 1U) << "at once";
	after(write);
	EXPECT_EQ(result(read), 3U);
	EXPECT_EQ(node(1).line(at), LineState::invalid) << "the copy was dropped";
	expect_rest();
}

/** Tests in which data of the former owner is still under way. */
struct DirectoryOvertaken : DirectoryRaces {
	void SetUp() override
	{
		DirectoryRaces::SetUp();
		writes(2, at, 7);
		net->hold({2, 1});
	}
};

TEST_F(DirectoryOvertaken, TheDataServesOnlyReadsThatWaitedBefore)
{
	Ask &before = read(1, at);
	Ask &lock = read_lock(1, at);
	move();
	writes(0, at, 8);
	EXPECT_FALSE(before.is_over);
	Ask &behind = read(1, at);
	EXPECT_EQ(after(before), 7U);
	EXPECT_EQ(result(behind), 8U) << "the write was over when it began";
	EXPECT_EQ(error(lock), 0);
	EXPECT_EQ(reads(1, at), 8U) << "a lock starts over";
	EXPECT_EQ(unlock(1, at), 0);
	expect_rest();
}

TEST_F(DirectoryOvertaken, AForwardMeetsAGrantThatIsOnItsWay)
{
	for (const bool writes_it : {false, true}) {
		make();
		writes(2, at, 7);
		net->hold({2, 1});
		Ask &first = add(1, at, 1);
		move();
		EXPECT_EQ(node(0).entry(at)->owner, 1);
		Ask &second = writes_it ? add(3, at, 10) : read(3, at);
		const auto messages = move();
		EXPECT_TRUE(messages.contains(writes_it ? Type::forward_write : Type::forward_read));
		EXPECT_FALSE(messages.contains(Type::transferred)) << "it waits";
		EXPECT_EQ(after(first), 7U);
		EXPECT_EQ(result(second), 8U);
		expect_rest();
	}
}

/** Tests a reader that gets the owner's data and sends its next request before the home has the data. */
TEST_F(DirectoryRaces, TheNextRequestOvertakesTheOwnersData)
{
	for (const bool evicts : {false, true}) {
		make();
		writes(2, at, 7);
		net->hold({2, 0});
		Ask &read = this->read(1, at);
		move();
		EXPECT_TRUE(read.is_over);
		if (evicts)
			node(1).flush();
		Ask &add = this->add(1, at, 1);
		const auto messages = move();
		EXPECT_TRUE(messages.contains(evicts ? Type::write : Type::upgrade));
		EXPECT_EQ(after(add), 7U);
		expect_rest();
		EXPECT_EQ(node(0).entry(at)->owner, 1);
	}
}

TEST_F(DirectoryRaces, AWriteBehindAReadOfTheSameNodeSeesItsOwnValue)
{
	Ask &before = read(1, at);
	Ask &write = this->write(1, at, 5);
	Ask &after_it = read(1, at);
	EXPECT_EQ(result(after_it), 5U);
	EXPECT_EQ(before.value, 0U);
	EXPECT_TRUE(write.is_over);
	expect_rest();
}

TEST_F(DirectoryRaces, NobodyAsksTwice)
{
	read(1, at);
	read(1, at);
	Ask &last = read(1, at + 8);
	result(last);
	EXPECT_EQ(sent(), (std::map<Type, std::size_t>{{Type::read, 1}, {Type::shared_data, 1}}));
}

TEST_F(DirectoryRaces, RequestsWaitInTheirOrder)
{
	reads(1, at);
	net->hold({1, 0});
	Ask &first = write(0, at, 1);
	net->run();
	Ask &second = add(2, at, 1);
	net->run();
	Ask &third = add(0, at, 1);
	Ask &fourth = add(3, at, 1);
	net->run();
	EXPECT_FALSE(first.is_over);
	EXPECT_EQ(after(second), 1U);
	EXPECT_EQ(result(third), 2U);
	EXPECT_EQ(result(fourth), 3U);
	expect_rest();
}

/* Caches that are too small ------------------------------------------------------------------------------------- */

struct DirectorySmall : DirectoryRaces {
	void SetUp() override
	{
		lines = 1;
		make();
	}
};

TEST_F(DirectorySmall, ACacheOfOneBlock)
{
	for (std::uint64_t number = 1; number < 8; number++)
		writes(1, block(number), number);
	for (std::uint64_t number = 1; number < 8; number++)
		EXPECT_EQ(reads(1, block(number)), number);
	expect_rest();
	EXPECT_EQ(node(1).stats().evictions_dirty, 7U);
	EXPECT_EQ(node(1).stats().evictions_shared, 6U);
}

TEST_F(DirectorySmall, ManyWaitForTheOneLine)
{
	std::vector<Ask *> asks;
	for (std::uint64_t number = 1; number < 8; number++) {
		asks.push_back(&write(1, block(number), number));
		asks.push_back(&read(1, block(number)));
	}
	for (Ask *ask : asks)
		result(*ask);
	for (std::size_t i = 1; i < asks.size(); i += 2)
		EXPECT_EQ(asks[i]->value, (i + 1) / 2);
	expect_rest();
}

/** Tests accesses that all wait for the only line. Once the block has it, a new write must not pass a waiting one. */
TEST_F(DirectorySmall, WritesOfABlockKeepTheirOrder)
{
	write(1, block(2), 1);
	std::vector<Ask *> asks{&write(1, at, 1), &write(1, block(3), 1), &write(1, at, 2)};
	while (node(1).line(at) == LineState::invalid)
		ASSERT_TRUE(net->step());
	asks.push_back(&write(1, at, 3));
	for (Ask *ask : asks)
		result(*ask);
	EXPECT_EQ(reads(2, at), 3U);
	expect_rest();
}

TEST_F(DirectorySmall, ALockedLineMakesNoRoom)
{
	result(write_lock(1, at));
	EXPECT_EQ(error(read(1, block(2))), ENOBUFS);
	EXPECT_EQ(unlock(1, at), 0);
	EXPECT_EQ(error(read(1, block(2))), 0);
	expect_rest();
}

/** Two nodes hold locks that the lines of the other wait for. */
TEST_F(DirectorySmall, WhoHoldsALockDoesNotWaitForALineForGood)
{
	const Address theirs = block(3), theirs_2 = block(4), wanted = block(5);
	lines = 3;
	options.limit = 3;
	make();
	result(write_lock(1, at));
	result(write_lock(2, theirs));
	result(write_lock(2, theirs_2));
	Ask &lock = write_lock(1, theirs, 2), &other = write_lock(1, theirs_2, 3), &theirs_too = write_lock(2, at);
	EXPECT_TRUE(net->run());
	Ask &patient = read(1, wanted);
	room_until = std::chrono::seconds(2);
	Ask &holder = write_lock(1, wanted), &write_it = write(1, block(6), 6);
	room_until = std::chrono::seconds(3);
	Ask &later = read(1, block(6));
	EXPECT_TRUE(net->run());
	EXPECT_EQ(node(1).on_time(std::chrono::seconds(1)), std::chrono::seconds(2));
	EXPECT_FALSE(holder.is_over || write_it.is_over);
	EXPECT_EQ(node(1).on_time(std::chrono::seconds(2)), std::chrono::seconds(3));
	EXPECT_EQ(error(holder), ENOBUFS);
	EXPECT_EQ(error(write_it), ENOBUFS);
	EXPECT_FALSE(later.is_over || patient.is_over || lock.is_over || other.is_over);
	EXPECT_EQ(unlock(1, at), 0);
	result(theirs_too);
	EXPECT_EQ(result(later), 0U);
	EXPECT_EQ(result(patient), 0U);
	EXPECT_EQ(node(1).on_time(std::chrono::seconds(4)), Time::max());
	EXPECT_EQ(unlock(2, theirs), 0);
	EXPECT_EQ(unlock(2, theirs_2), 0);
	result(lock);
	result(other);
	expect_rest();
}

TEST_F(DirectoryRaces, WhatIsBeyondTheLimitIsEvictedSixteenAtATime)
{
	lines = blocks;
	options.limit = 2;
	make();
	for (std::uint64_t number = 1; number < 9; number++)
		reads(1, block(number));
	EXPECT_EQ(node(1).on_time({}), Time::max());
	std::size_t left = 0;
	for (std::uint64_t number = 1; number < 9; number++)
		left += node(1).line(block(number)) == LineState::shared;
	EXPECT_EQ(left, 2U);
	EXPECT_EQ(node(1).line(block(8)), LineState::shared) << "used last";
	expect_rest();
}

/* Messages for which nobody waits --------------------------------------------------------------------------------- */

/** A home takes two messages at a time. */
struct DirectoryRoom : DirectoryRaces {
	static constexpr std::size_t most = 2;

	void limit_room()
	{
		net->has_room = [this](Net::Pair) { return net->under_way() < most; };
	}
	void tick(NodeId id)
	{
		net->run();
		(void)node(id).on_time({});
		EXPECT_LE(net->under_way(), most);
	}
};

TEST_F(DirectoryRoom, AllIsFlushedAsTheHomeTakesIt)
{
	for (std::uint64_t number = 1; number < 7; number++)
		writes(1, block(number), number);
	reads(1, block(7));
	limit_room();
	node(1).flush();
	EXPECT_EQ(net->under_way(), most);
	EXPECT_FALSE(node(1).is_flushed());
	for (int turns = 0; turns < 4; turns++)
		tick(1);
	EXPECT_TRUE(node(1).is_flushed());
	EXPECT_EQ(net->under_way(), 0U);
	for (std::uint64_t number = 1; number < 7; number++)
		EXPECT_EQ(reads(0, block(number)), number);
	EXPECT_EQ(node(1).line(block(7)), LineState::invalid);
	expect_rest();
}

/** Copies are dropped without an answer, so no number of answers bounds how many messages are under way. */
TEST_F(DirectoryRoom, AMissWaitsForRoomToEvict)
{
	lines = 2;
	options.limit = 2;
	make();
	reads(1, block(1));
	reads(1, block(2));
	net->has_room = [](Net::Pair pair) { return pair.second != 0; };
	Ask &ask = read(1, block(1, 2));
	net->run();
	EXPECT_FALSE(ask.is_over);
	EXPECT_EQ(net->under_way(), 0U);
	net->has_room = [](Net::Pair) { return true; };
	tick(1);
	EXPECT_EQ(result(ask), 0U);
	expect_rest();
}

/** Nothing is sent from one node to another until there is room, and then all of it. */
struct DirectoryFull : DirectoryRoom, testing::WithParamInterface<bool> {
	void fill(Net::Pair full)
	{
		net->has_room = [full](Net::Pair pair) { return pair != full; };
		net->count();
	}
	void make_room(NodeId id)
	{
		net->has_room = [](Net::Pair) { return true; };
		(void)node(id).on_time({});
	}
	void SetUp() override
	{
		options.through_home = GetParam();
		make();
	}
};
INSTANTIATE_TEST_SUITE_P(Ways, DirectoryFull, testing::Bool());

TEST_P(DirectoryFull, ARequesterIsAnsweredWhenItHasRoom)
{
	writes(2, block(3), 3);
	writes(0, block(1), 1);
	fill({0, 1});
	Ask &read_it = read(1, block(1)), &write_it = write(1, block(2), 2), &fetch_it = read(1, block(3));
	Ask &other = read(2, block(1));
	EXPECT_TRUE(net->run());
	EXPECT_FALSE(read_it.is_over || write_it.is_over || fetch_it.is_over || other.is_over);
	EXPECT_EQ(reads(2, block(4)), 0U) << "other blocks go on";
	EXPECT_EQ(node(0).on_time({}), Time{}) << "it looks again soon";
	make_room(0);
	EXPECT_EQ(result(read_it), 1U);
	EXPECT_EQ(result(write_it), 2U);
	EXPECT_EQ(result(fetch_it), 3U);
	EXPECT_EQ(result(other), 1U);
	expect_rest();
}

TEST_P(DirectoryFull, WhatTheOwnerHasIsFetchedBeforeTheRequesterHasRoom)
{
	writes(2, at, 2);
	Ask &ask = read(1, at);
	net->hold({2, 0});
	EXPECT_TRUE(net->run());
	fill({0, 1});
	net->release_all();
	EXPECT_TRUE(net->run());
	EXPECT_EQ(ask.is_over, !GetParam());
	make_room(0);
	EXPECT_EQ(result(ask), 2U);
	expect_rest();
}

TEST_P(DirectoryFull, AHomeDemandsWhenTheOwnerHasRoom)
{
	writes(2, at, 2);
	reads(2, block(2));
	fill({0, 2});
	Ask &mine = read(0, at), &write_it = write(1, block(2), 1);
	EXPECT_TRUE(net->run());
	EXPECT_FALSE(mine.is_over || write_it.is_over);
	EXPECT_EQ(sent().count(Type::invalidate), 0U);
	make_room(0);
	EXPECT_EQ(result(mine), 2U);
	result(write_it);
	expect_rest();
}

TEST_P(DirectoryFull, AnOwnerGivesWhenTheHomeHasRoom)
{
	for (std::uint64_t number = 1; number < 4; number++)
		writes(2, block(number), number);
	fill({2, 0});
	Ask &read_it = read(1, block(1)), &write_it = write(1, block(2), 5), &mine = write(0, block(3), 6);
	EXPECT_TRUE(net->run());
	Ask &behind = read(2, block(1));
	EXPECT_EQ(error(write_lock(2, block(2), 1, true)), EBUSY);
	EXPECT_FALSE(read_it.is_over || write_it.is_over || mine.is_over || behind.is_over);
	EXPECT_EQ(sent().count(Type::data), 0U);
	make_room(2);
	EXPECT_EQ(result(read_it), 1U);
	EXPECT_EQ(result(behind), 1U);
	result(write_it);
	result(mine);
	EXPECT_EQ(reads(2, block(2)), 5U);
	EXPECT_EQ(reads(2, block(3)), 6U);
	expect_rest();
}

TEST_P(DirectoryFull, AnOwnerThatEvictsGivesWhenTheHomeHasRoom)
{
	writes(2, at, 2);
	net->hold({0, 2});
	Ask &ask = write(1, at, 3);
	EXPECT_TRUE(net->run());
	node(2).flush();
	Ask &behind = read(2, at);
	fill({2, 0});
	net->release_all();
	EXPECT_TRUE(net->run());
	EXPECT_EQ(sent().count(Type::data), 0U);
	EXPECT_FALSE(ask.is_over || behind.is_over);
	make_room(2);
	result(ask);
	EXPECT_EQ(result(behind), 3U);
	expect_rest();
}

TEST_P(DirectoryFull, ANodeAsksWhenTheHomeHasRoom)
{
	reads(1, block(2));
	writes(1, block(3), 3);
	fill({1, 0});
	std::vector<Ask *> asks{&read(1, block(1)), &write(1, block(2), 2), &begin(1, AccessKind::write_back, block(3)),
		&begin(1, AccessKind::write, block(4), 4, 1, false, true)};
	EXPECT_TRUE(net->run());
	EXPECT_TRUE(sent().empty());
	writes(2, block(2), 1);
	make_room(1);
	for (Ask *ask : asks)
		result(*ask);
	EXPECT_EQ(reads(0, block(2)), 2U);
	EXPECT_EQ(reads(0, block(4)), 4U);
	expect_rest();
}

TEST_P(DirectoryFull, TheDeathOfWhoHasNoRoomEndsTheWait)
{
	writes(2, block(2), 2);
	fill({0, 1});
	read(1, at);
	Ask &other = write(2, at, 2);
	EXPECT_TRUE(net->run());
	EXPECT_FALSE(other.is_over);
	net->kill(1);
	net->tell_of(1);
	result(other);
	expect_rest();
}

TEST_F(DirectoryRoom, AHomeWithoutRoomKeepsNobodyFromOthers)
{
	lines = 2;
	options.limit = 2;
	make();
	reads(1, block(1)); /* the least recently used */
	reads(1, block(1, 2));
	net->has_room = [](Net::Pair pair) { return pair.second != 0; };
	EXPECT_EQ(reads(1, block(2, 2)), 0U);
	EXPECT_EQ(node(1).line(block(1)), LineState::shared);
	EXPECT_EQ(node(1).line(block(1, 2)), LineState::invalid);
	expect_rest();
}

} // namespace
