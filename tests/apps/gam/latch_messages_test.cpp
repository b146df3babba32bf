/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Costs of each access in requests, messages and hops, as in docs/prism-gam.md. The home's processor takes no part. */
#include "latch_nodes.hpp"

#include <gtest/gtest.h>

using namespace gam_test;

namespace
{

struct LatchCosts : LatchNodes {
	struct Cost {
		std::uint64_t hops = 0, requests = 0, messages = 0;
		friend bool operator==(const Cost &, const Cost &) = default;
		friend void PrintTo(const Cost &cost, std::ostream *out)
		{
			*out << cost.hops << " hops, " << cost.requests << " requests, " << cost.messages
			     << " messages";
		}
	};

	/** Returns the cost of the access until it is over, and of its consequences. */
	template <typename Begin>
	Cost cost(Begin begin)
	{
		const CoherenceStats before = total();
		const std::uint64_t began = net->now();
		Ask &ask = begin();
		while (!ask.is_over && net->step()) {}
		EXPECT_TRUE(ask.is_over);
		EXPECT_EQ(ask.error, 0);
		const std::uint64_t hops = (net->now() - began) / LatchNet::hop;
		net->run();
		const CoherenceStats after = total();
		EXPECT_EQ(after.events, 0U);
		EXPECT_EQ(after.refused, 0U);
		return {hops, after.requests - before.requests, after.messages - before.messages};
	}
	/** Returns the cost of evicting all that @p id has. */
	Cost eviction(NodeId id)
	{
		const CoherenceStats before = total();
		const std::uint64_t began = net->now();
		node(id).flush();
		while (!node(id).at_rest() && net->step()) {}
		const std::uint64_t hops = (net->now() - began) / LatchNet::hop;
		net->run();
		const CoherenceStats after = total();
		return {hops, after.requests - before.requests, after.messages - before.messages};
	}
};

TEST_F(LatchCosts, ReadOfWhatNobodyWrites)
{
	EXPECT_EQ(cost([&]() -> auto & { return read(1, block()); }), (Cost{2, 2, 0}));
	EXPECT_EQ(cost([&]() -> auto & { return read(2, block()); }), (Cost{2, 2, 0}));
	EXPECT_EQ(cost([&]() -> auto & { return read(1, block()); }), (Cost{0, 0, 0}));
	expect_rest();
}

TEST_F(LatchCosts, WriteOfWhatNobodyHas)
{
	EXPECT_EQ(cost([&]() -> auto & { return write(1, block(), 5); }), (Cost{2, 2, 0}));
	EXPECT_EQ(cost([&]() -> auto & { return write(1, block(), 6); }), (Cost{0, 0, 0}));
	EXPECT_EQ(cost([&]() -> auto & { return read(1, block()); }), (Cost{0, 0, 0}));
	expect_rest();
}

TEST_F(LatchCosts, WriteTellsEachSharer)
{
	reads(1, block());
	reads(2, block());
	EXPECT_EQ(cost([&]() -> auto & { return write(3, block(), 5); }), (Cost{4, 2, 4}));
	expect_rest();
}

TEST_F(LatchCosts, UpgradeReadsNothing)
{
	reads(1, block());
	EXPECT_EQ(cost([&]() -> auto & { return write(1, block(), 5); }), (Cost{2, 1, 0}));
	reads(2, block(2));
	reads(1, block(2));
	EXPECT_EQ(cost([&]() -> auto & { return write(1, block(2), 5); }), (Cost{4, 1, 2}));
	expect_rest();
}

/** Counts the CAS that misses, the request, the owner's change of the entry and the grant. */
TEST_F(LatchCosts, WhatIsDirtyElsewhere)
{
	writes(1, block(), 5);
	EXPECT_EQ(cost([&]() -> auto & { return read(2, block()); }), (Cost{6, 2 + 3, 2}));
	EXPECT_EQ(asked.back()->value, 5U);
	writes(1, block(2), 6);
	EXPECT_EQ(cost([&]() -> auto & { return write(2, block(2), 7); }), (Cost{6, 2 + 3, 2}));
	expect_rest();
}

/* The write-back that makes room is under way before anybody waits for it. */
TEST_F(LatchCosts, AMissInAFullCacheWaitsForNoWriteBack)
{
	shape.lines = 16;
	shape.blocks = 64;
	make();
	std::uint64_t number = 1;
	for (; number <= 2 * shape.lines; number++)
		writes(1, block(number), number);
	for (; number < shape.blocks; number++)
		EXPECT_EQ(cost([&]() -> auto & { return write(1, block(number), number); }), (Cost{2, 2 + 2, 0}));
	expect_rest();
}

TEST_F(LatchCosts, EvictionOfACopyIsSilent)
{
	reads(1, block());
	EXPECT_EQ(eviction(1), (Cost{0, 0, 0}));
	EXPECT_EQ(node(1).stats().evictions_shared, 1U);
	EXPECT_EQ(node(1).state(block()), latch::State::invalid);
	expect_rest();
}

TEST_F(LatchCosts, EvictionOfADirtyBlock)
{
	writes(1, block(), 5);
	EXPECT_EQ(eviction(1), (Cost{2, 2, 0}));
	EXPECT_EQ(node(1).stats().evictions_dirty, 1U);
	EXPECT_EQ(node(1).freed_buffers(), 0U) << "it had none before";
	EXPECT_EQ(reads(2, block()), 5U);
	expect_rest();
}

TEST_F(LatchCosts, EvictionOfACleanOwnedBlock)
{
	result(write_lock(1, block()));
	EXPECT_EQ(unlock(1, block()), 0);
	EXPECT_EQ(eviction(1), (Cost{2, 1, 0}));
	expect_rest();
}

/** The home's processor learns only that the block's old buffer is free. */
TEST_F(LatchCosts, ReplacedBuffersAreReported)
{
	for (std::uint64_t value = 1; value <= 3; value++) {
		writes(1, block(), value);
		eviction(1);
	}
	EXPECT_EQ(node(1).freed_buffers(), 2U);
	EXPECT_EQ(net->entry(block()).value.tag, 3U);
	expect_rest();
}

TEST_F(LatchCosts, WritingBackAndKeeping)
{
	writes(1, block(), 5);
	const CoherenceStats before = total();
	node(1).install(block());
	EXPECT_TRUE(net->run_to_rest());
	EXPECT_EQ(total().requests - before.requests, 2U);
	EXPECT_EQ(node(1).state(block()), latch::State::exclusive);
	EXPECT_EQ(net->entry(block()).value.tag, 1U);
	EXPECT_EQ(eviction(1), (Cost{2, 1, 0})) << "it is clean";
	EXPECT_EQ(reads(2, block()), 5U);
	expect_rest();
}

TEST_F(LatchCosts, UncachedAccessesLeaveNoTrace)
{
	writes(1, block(), 5);
	eviction(1);
	EXPECT_EQ(cost([&]() -> auto & { return begin(2, AccessKind::read, block(), 0, 1, false, true); }),
		(Cost{2, 2, 0}));
	EXPECT_EQ(asked.back()->value, 5U);
	EXPECT_EQ(net->entry(block()).sharers, 0U);
	EXPECT_EQ(cost([&]() -> auto & { return begin(2, AccessKind::write, block(), 6, 1, false, true); }),
		(Cost{2, 4, 0}));
	EXPECT_EQ(net->entry(block()).writer, 0U);
	EXPECT_EQ(node(2).state(block()), latch::State::invalid);
	EXPECT_EQ(reads(3, block()), 6U);
	expect_rest();
}

/** Checks that the home pays like any other node. */
TEST_F(LatchCosts, TheHomeItself)
{
	EXPECT_EQ(cost([&]() -> auto & { return read(0, block()); }), (Cost{2, 2, 0}));
	EXPECT_EQ(cost([&]() -> auto & { return write(1, block(), 5); }), (Cost{4, 2, 2}));
	EXPECT_EQ(reads(0, block()), 5U);
	expect_rest();
}

TEST_F(LatchCosts, AllReadersAreServedAtOnce)
{
	result(write_lock(1, block()));
	Ask &first = read(2, block()), &second = read(3, block());
	net->run();
	const CoherenceStats before = total();
	EXPECT_EQ(unlock(1, block()), 0);
	net->run();
	EXPECT_TRUE(first.is_over && second.is_over);
	EXPECT_EQ(total().requests - before.requests, 1U);
	EXPECT_EQ(total().messages - before.messages, 2U);
	expect_rest();
}

} // namespace
