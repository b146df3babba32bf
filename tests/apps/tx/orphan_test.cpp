/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work of a live client for a dead one, on a carrier whose requests end when the test says so. */
#include <cstring>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tx/store/orphan_resolver.hpp"

namespace
{

using namespace prism;
using namespace prism::tx;

constexpr std::uint32_t lanes = 5;

class PatientCarrier final : public Carrier
{
public:
	PatientCarrier() { shard_.geometry = {.cells = 10, .clients = 4, .lanes = lanes}; }

	[[nodiscard]] Time now() const noexcept override { return {}; }
	[[nodiscard]] std::uint64_t clock() const noexcept override { return 1; }
	[[nodiscard]] std::size_t shards() const noexcept override { return 1; }
	[[nodiscard]] const ShardView *view(std::size_t) const noexcept override { return &shard_; }
	int post(std::uint32_t, Request &) noexcept override
	{
		posted++;
		return 0;
	}
	void release(std::size_t, std::uint64_t) noexcept override {}
	void report_now(std::size_t) noexcept override {}

	unsigned posted = 0;

private:
	ShardView shard_;
};

class OrphanTest : public testing::Test
{
protected:
	/** Ends the request under way; its memory is unchanged. */
	void step() { resolver.request_ended(Completion{}); }

	ClientState client;
	PatientCarrier carrier;
	ResolverMemory memory{};
	std::vector<std::uint64_t> ended; /* clients */
	OrphanResolver resolver{client, carrier, 0, memory, 0,
		[this](std::size_t, std::uint64_t number, int) { ended.push_back(number); }};
};

/* A client may leave hundreds of places: a shard that waits must not cut off the client that resolves them. */
TEST_F(OrphanTest, OnlyThePlaceThatIsWorkedOnCountsAsACommit)
{
	resolver.take(0, 2);
	resolver.take(0, 3);
	std::uint64_t asked = client.serial; /* a shard asks: operations that have begun by now are to be waited for */
	for (unsigned place = 0; place < 2 * lanes; place++) {
		EXPECT_EQ(carrier.posted, place + 1) << "the log of a place is read";
		EXPECT_LE(resolver.holding(), asked) << "it may still have installed something";
		step();
		EXPECT_GT(resolver.holding(), asked) << "what the shard has asked about is over";
		asked = client.serial;
	}
	EXPECT_EQ(ended, (std::vector<std::uint64_t>{2, 3}));
	EXPECT_EQ(resolver.holding(), std::numeric_limits<std::uint64_t>::max());
}

/* Within a place nothing has ended before its last entry. */
TEST_F(OrphanTest, APlaceCountsUntilItsLastEntryIsResolved)
{
	resolver.take(0, 0);
	const std::uint64_t asked = client.serial;
	for (unsigned entry = 0; entry < 3; entry++) {
		memory.log.entries[entry].version.committed = {.writer = 1, .clock = 7 + entry};
		memory.log.entries[entry].cell = entry;
	}
	for (unsigned request = 0; request < 1 + 3; request++) {
		EXPECT_LE(resolver.holding(), asked) << request;
		step();
	}
	EXPECT_GT(resolver.holding(), asked);
}

/* Else a shard that asks without end fills the client's memory. */
TEST_F(OrphanTest, WhatIsAskedAgainIsDoneOnceMore)
{
	for (unsigned i = 0; i < 1000; i++)
		resolver.take(0, 2);
	for (unsigned place = 0;
		place < 1000 * lanes && resolver.holding() != std::numeric_limits<std::uint64_t>::max(); place++)
		step();
	EXPECT_EQ(ended, (std::vector<std::uint64_t>{2, 2}));
}

} // namespace
