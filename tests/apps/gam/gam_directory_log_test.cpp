/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Entries that the directory protocol gives to its nodes' logs, and their moments: docs/gam-recovery.md, "Terms". */
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "directory_nodes.hpp"

using namespace gam_test;

namespace
{

struct Logged {
	NodeId owner = no_node; /* of a transfer */
	Address block;
	std::uint64_t counter = 0;
	std::uint64_t value = 0; /* first word of a value */
	bool owner_logs = true;

	bool operator==(const Logged &) const = default;
};

class Recorder final : public BlockLog
{
public:
	int wrote(Address block, std::uint64_t counter, Block data) noexcept override
	{
		if (error)
			return error;
		Logged logged{no_node, block, counter, 0};
		std::memcpy(&logged.value, data.data(), sizeof(logged.value));
		entries.push_back(logged);
		return 0;
	}
	int transfers(Address block, std::uint64_t counter, NodeId owner, bool owner_logs) noexcept override
	{
		if (error)
			return error;
		entries.push_back({owner, block, counter, 0, owner_logs});
		return 0;
	}
	int allocated(Address, std::uint64_t, std::uint32_t) noexcept override { return 0; }
	[[nodiscard]] bool durable() const noexcept override { return is_durable; }

	std::vector<Logged> take() { return std::exchange(entries, {}); }

	std::vector<Logged> entries;
	bool is_durable = false;
	int error = 0;
};

std::vector<Logged> list(std::initializer_list<Logged> entries)
{
	return entries;
}

struct DirectoryLog : DirectoryNodes {
	void SetUp() override
	{
		for (Recorder &recorder : recorders)
			logs.push_back(&recorder);
		make();
	}
	static Logged value(std::uint64_t counter, std::uint64_t number, Address at = block())
	{
		return {no_node, at, counter, number};
	}
	static Logged value_at(std::uint64_t counter, std::uint64_t number, Address at)
	{
		return {no_node, at, counter, number};
	}
	static Logged transfer(std::uint64_t counter, NodeId owner) { return {owner, block(), counter, 0}; }
	/* Checks that @p ask ends without an error */
	void done(const Ask &ask)
	{
		ASSERT_TRUE(net->run());
		ASSERT_TRUE(ask.is_over);
		ASSERT_EQ(ask.error, 0);
	}
	std::vector<Recorder> recorders = std::vector<Recorder>(nodes);
};

TEST_F(DirectoryLog, AnOwnerLogsBeforeAReaderGetsTheValue)
{
	done(write(1, block(), 11));
	EXPECT_EQ(recorders[0].take(), list({transfer(1, 1)}));
	EXPECT_TRUE(recorders[1].entries.empty());
	net->hold({1, 2});
	net->hold({1, 0});
	const Ask &reader = read(2, block());
	ASSERT_TRUE(net->run());
	EXPECT_FALSE(reader.is_over);
	EXPECT_EQ(recorders[1].take(), list({value(1, 11)}));
	net->release_all();
	done(reader);
	EXPECT_EQ(reader.value, 11U);
	EXPECT_TRUE(recorders[0].entries.empty());
	/* The home has begun a term of its own, so the next is the third. */
	done(write(3, block(), 33));
	EXPECT_EQ(recorders[0].take(), list({transfer(3, 3)}));
}

TEST_F(DirectoryLog, CopiesAreOfTheHomesTerm)
{
	for (const bool through_home : {false, true}) {
		options.through_home = through_home;
		make();
		done(write(1, block(), 11));
		done(read(2, block()));
		done(read(3, block()));
		for (NodeId id = 1; id < nodes; id++) {
			std::uint64_t found = 0;
			node(id).for_each_line(
				0, [&](Address, LineState, std::uint64_t term, const std::byte *) { found = term; });
			EXPECT_EQ(found, 2U) << id; /* the former owner's, too */
		}
	}
}

TEST_F(DirectoryLog, AnOwnerLogsEvenIfItHasWrittenNothing)
{
	done(write_lock(1, block()));
	ASSERT_EQ(unlock(1, block()), 0);
	EXPECT_TRUE(recorders[1].entries.empty());
	node(1).flush();
	EXPECT_EQ(recorders[1].take(), list({value(1, 0)}));
	ASSERT_TRUE(net->run());
	EXPECT_TRUE(recorders[1].entries.empty());
	/* A copy is not logged. */
	done(read(1, block()));
	node(1).flush();
	ASSERT_TRUE(net->run());
	EXPECT_TRUE(recorders[1].entries.empty());
}

TEST_F(DirectoryLog, TheHomeLogsWhatItHasWrittenWhenItLeaves)
{
	done(write(0, block(), 5));
	done(write(0, block(), 6));
	EXPECT_TRUE(recorders[0].entries.empty());
	done(read(1, block()));
	EXPECT_EQ(recorders[0].take(), list({value(0, 6)}));
	done(read(2, block()));
	EXPECT_TRUE(recorders[0].entries.empty());
	done(add(0, block(), 1));
	done(write(3, block(), 9));
	EXPECT_EQ(recorders[0].take(), list({value(0, 7), transfer(1, 3)}));
	/* Values written by others are in their logs. */
	done(read(0, block()));
	EXPECT_EQ(recorders[3].take(), list({value(1, 9)}));
	done(read(1, block()));
	EXPECT_TRUE(recorders[0].entries.empty());
	/* The home's own value belongs to its own term. */
	done(write(0, block(), 10));
	done(read(1, block()));
	EXPECT_EQ(recorders[0].take(), list({value(2, 10)}));
}

TEST_F(DirectoryLog, ATransferIsLoggedWhenTheTermBeforeHasEnded)
{
	done(write(1, block(), 11));
	recorders[0].take();
	net->hold({1, 0});
	const Ask &next = write(2, block(), 22);
	ASSERT_TRUE(net->run());
	EXPECT_EQ(recorders[1].take(), list({value(1, 11)}));
	EXPECT_TRUE(recorders[0].entries.empty());
	net->release_all();
	net->hold({0, 2});
	ASSERT_TRUE(net->run());
	/* ... and before the new owner's term begins. */
	EXPECT_EQ(recorders[0].take(), list({transfer(2, 2)}));
	EXPECT_FALSE(next.is_over);
	net->release_all();
	done(next);
	done(read(0, block()));
	EXPECT_EQ(recorders[2].take(), list({value(2, 22)}));
}

TEST_F(DirectoryLog, ATransferSaysIfTheOwnerKeepsALog)
{
	node(0).set_loggers(bit(0) | bit(2));
	done(write(1, block(), 11));
	done(write(2, block(), 22));
	EXPECT_EQ(recorders[0].take(), list({{1, block(), 1, 0, false}, {2, block(), 2, 0, true}}));
}

TEST_F(DirectoryLog, AnUpgradeBeginsATerm)
{
	done(read(1, block()));
	done(write(1, block(), 4));
	EXPECT_EQ(recorders[0].take(), list({transfer(1, 1)}));
	done(read(2, block()));
	EXPECT_EQ(recorders[1].take(), list({value(1, 4)}));
}

TEST_F(DirectoryLog, EvictionEndsATerm)
{
	done(write(1, block(), 4));
	recorders[0].take();
	net->hold({1, 0});
	node(1).flush();
	EXPECT_EQ(recorders[1].take(), list({value(1, 4)}));
	/* Meanwhile it serves others from the line, which is logged already. */
	const Ask &reader = read(2, block());
	ASSERT_TRUE(net->run());
	net->release_all();
	done(reader);
	EXPECT_EQ(reader.value, 4U);
	EXPECT_TRUE(recorders[1].entries.empty());
}

TEST_F(DirectoryLog, UncachedWritesAreTheHomes)
{
	done(begin(1, AccessKind::write, block(), 8, 1, false, true));
	EXPECT_EQ(recorders[0].take(), list({value(0, 8)}));
	EXPECT_TRUE(recorders[1].entries.empty());
}

TEST_F(DirectoryLog, WhatDiesWithAnOwnerBeginsATermOfTheHome)
{
	done(write(1, block(), 11));
	recorders[0].take();
	net->kill(1);
	net->tell_of(1);
	done(read(2, block()));
	/* Only the memory's value is left: it is logged as the newest. */
	EXPECT_EQ(recorders[0].take(), list({value(2, 0)}));
}

TEST_F(DirectoryLog, DurableWritesAreLoggedAtOnce)
{
	for (Recorder &recorder : recorders)
		recorder.is_durable = true;
	done(write(0, block(), 1));
	EXPECT_EQ(recorders[0].take(), list({value(0, 1)}));
	done(write(1, block(), 2));
	EXPECT_EQ(recorders[1].take(), list({value(1, 2)}));
	done(add(1, block(), 3));
	EXPECT_EQ(recorders[1].take(), list({value(1, 5)}));
	done(read(1, block()));
	EXPECT_TRUE(recorders[1].entries.empty());
}

TEST_F(DirectoryLog, LinesOfADeadHomeAreKept)
{
	const Address owned = block(1);
	const Address copied = block(2);
	const Address given_back = block(3);
	done(write(1, owned, 11));
	done(read(1, copied));
	done(write(1, given_back, 33));
	done(write_lock(1, owned)); /* so it is not evicted */
	net->kill(0);
	node(1).flush(); /* its data is lost on the way */
	net->tell_of(0);
	EXPECT_EQ(error(read(1, block(4))), EHOSTUNREACH);
	EXPECT_EQ(error(write(1, copied, 1)), EHOSTUNREACH);
	done(write(1, owned, 12));
	EXPECT_EQ(error(write(1, given_back, 34)), EHOSTUNREACH) << "another node may have it";
	EXPECT_EQ(error(read(1, given_back)), EHOSTUNREACH);
	ASSERT_EQ(unlock(1, owned), 0);
	node(1).flush();
	std::map<std::uint64_t, std::pair<LineState, std::uint64_t>> kept;
	node(1).for_each_line(0, [&](Address at, LineState state, std::uint64_t term, const std::byte *data) {
		ASSERT_EQ(term, 1U);
		std::uint64_t value = 0;
		std::memcpy(&value, data, sizeof(value));
		kept[at.block_number()] = {state, value};
	});
	using Kept = decltype(kept);
	EXPECT_EQ(kept, (Kept{{1, {LineState::dirty, 12}}, {3, {LineState::dirty, 33}}}));
	node(1).drop(given_back);
	EXPECT_EQ(node(1).line(given_back), LineState::invalid);
	EXPECT_EQ(error(read(1, given_back)), EHOSTUNREACH);
	/* After the home's return they are evicted like others. */
	node(1).joined(0);
	node(1).flush();
	EXPECT_EQ(node(1).line(owned), LineState::to_invalid);
}

TEST_F(DirectoryLog, AHomeThatIsAwayLeavesALineToOthers)
{
	for (lines = 1; lines < 10; lines++) {
		make();
		for (std::uint64_t number = 0; number < blocks; number++)
			done(write(1, block(number), number));
		(void)node(1).on_time({});
		EXPECT_TRUE(net->run());
		net->kill(0);
		net->tell_of(0);
		for (std::uint64_t number = 0; number < blocks; number++)
			done(write(1, block(number, 2), number));
		EXPECT_EQ(node(1).line(block(blocks - 1)), lines > 1 ? LineState::dirty : LineState::invalid);
	}
}

/** Tests a home that returns without having received the evicted line: its owner still has it. */
TEST_F(DirectoryLog, AnEvictionThatNoHomeHasSeen)
{
	done(write(1, block(), 11));
	net->kill(0);
	node(1).flush();
	net->tell_of(0);
	EXPECT_EQ(error(read(1, block())), EHOSTUNREACH);
	node(1).joined(0);
	EXPECT_EQ(read(1, block()).value, 11U);
	done(write(1, block(), 12));
	EXPECT_EQ(read(1, block()).value, 12U);
}

TEST_F(DirectoryLog, AHomeIsRestored)
{
	std::vector<std::byte> value(block_size);
	value[0] = std::byte{42};
	EXPECT_FALSE(node(0).restore(block(1, 2), {}));
	ASSERT_TRUE(node(0).restore(block(1), {.term = 5, .data = value}));
	ASSERT_TRUE(node(0).restore(block(2), {.term = 5, .waits = true, .data = {}}));
	ASSERT_TRUE(node(0).restore(block(3), {.term = 5, .is_logged = true, .data = value}));
	EXPECT_EQ(error(read(0, block(2))), EOWNERDEAD);
	EXPECT_EQ(error(read(1, block(2))), EOWNERDEAD);
	EXPECT_EQ(reads(1, block(3)), 42U);
	EXPECT_TRUE(recorders[0].entries.empty());
	/* A value that came from another node is logged as the home's before it leaves. */
	EXPECT_EQ(reads(1, block(1)), 42U);
	EXPECT_EQ(recorders[0].take(), list({value_at(5, 42, block(1))}));
	/* The block waits no longer. */
	ASSERT_TRUE(node(0).restore(block(2), {.term = 6, .data = value}));
	EXPECT_EQ(reads(1, block(2)), 42U);
	EXPECT_FALSE(node(0).restore(block(1, 1), {}));
}

TEST_F(DirectoryLog, ALogThatFails)
{
	for (Recorder &recorder : recorders) {
		recorder.is_durable = true;
		recorder.error = ENOSPC;
	}
	/* The writes are done but not durable, and report that. */
	EXPECT_EQ(write(0, block(), 1).error, ENOSPC);
	const Ask &remote = write(1, block(), 2);
	ASSERT_TRUE(net->run());
	EXPECT_EQ(remote.error, ENOSPC);
	const Ask &uncached = begin(2, AccessKind::write, block(2), 3, 1, false, true);
	ASSERT_TRUE(net->run());
	EXPECT_TRUE(uncached.is_over);
	EXPECT_EQ(uncached.error, ENOSPC);
	Ask &reader = read(3, block());
	done(reader);
	EXPECT_EQ(reader.value, 2U);
	/* Without the promise of durability the error is not reported. */
	for (Recorder &recorder : recorders)
		recorder.is_durable = false;
	done(write(1, block(), 4));
	EXPECT_EQ(node(0).stats().refused, 0U);
}

} // namespace
