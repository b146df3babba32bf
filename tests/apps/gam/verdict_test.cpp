/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Verdicts on single blocks of a recovering home, and what its log tells for them. */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gam/membership/logged_blocks.hpp"
#include "gam/membership/verdict.hpp"

using namespace prism;
using namespace prism::gam;

namespace
{

constexpr std::uint64_t nodes(std::initializer_list<NodeId> list)
{
	std::uint64_t set = 0;
	for (const NodeId node : list)
		set |= std::uint64_t{1} << node;
	return set;
}

Evidence evidence_of(std::optional<std::uint64_t> own, std::vector<Transfer> transfers, std::vector<Claim> claims)
{
	Evidence evidence;
	evidence.own = own;
	std::copy(transfers.begin(), transfers.end(), evidence.transfers.begin());
	evidence.claims = std::move(claims);
	return evidence;
}

using Kind = Verdict::Kind;

TEST(Verdict, NeverGivenToAnybody)
{
	EXPECT_EQ(decide(evidence_of({}, {}, {}), {}).kind, Kind::own);
	const Verdict verdict = decide(evidence_of(0, {}, {}), {});
	EXPECT_EQ(verdict.kind, Kind::own);
	EXPECT_EQ(verdict.next, 1U);
}

TEST(Verdict, TheOwnerKeepsIt)
{
	const Verdict verdict = decide(evidence_of(1, {{2, 9, 3}}, {{3, Holding::dirty, 2}}), {nodes({3}), 0, 0});
	EXPECT_EQ(verdict.kind, Kind::owned);
	EXPECT_EQ(verdict.node, 3);
	EXPECT_EQ(verdict.counter, 2U);
}

TEST(Verdict, NobodyOwnsWhatItHasNotGot)
{
	/* Holders of another term, on another node, and older than a value of the home's own */
	const Witnesses all{nodes({3, 4}), 0, 0};
	EXPECT_NE(decide(evidence_of(1, {{2, 9, 3}}, {{3, Holding::dirty, 1}}), all).kind, Kind::owned);
	EXPECT_NE(decide(evidence_of(1, {{2, 9, 3}}, {{4, Holding::dirty, 2}}), all).kind, Kind::owned);
	EXPECT_NE(decide(evidence_of(1, {{2, 9, 3}}, {{3, Holding::dirty, 77}}), all).kind, Kind::owned);
	EXPECT_NE(decide(evidence_of(3, {{2, 9, 3}}, {{3, Holding::dirty, 2}}), all).kind, Kind::owned);
	EXPECT_LT(decide(evidence_of(1, {{2, 9, 3}}, {{3, Holding::dirty, ~0ULL}}), all).next, 5U);
}

TEST(Verdict, TheOwnersLogHasIt)
{
	const Verdict verdict = decide(evidence_of(1, {{2, 9, 3}}, {{3, Holding::logged, 2}}), {nodes({3}), 0, 0});
	EXPECT_EQ(verdict.kind, Kind::taken);
	EXPECT_EQ(verdict.node, 3);
	EXPECT_EQ(verdict.next, 3U);
}

TEST(Verdict, TheGrantNeverArrived)
{
	const Witnesses all{nodes({3, 4}), 0, 0};
	EXPECT_EQ(decide(evidence_of(1, {{2, 9, 3}}, {}), all).kind, Kind::own);
	const Verdict before = decide(evidence_of(1, {{3, 9, 3}, {2, 8, 4}}, {{4, Holding::logged, 2}}), all);
	EXPECT_EQ(before.kind, Kind::taken);
	EXPECT_EQ(before.node, 4);
	const Verdict still = decide(evidence_of(1, {{3, 9, 3}, {2, 8, 4}}, {{4, Holding::dirty, 2}}), all);
	EXPECT_EQ(still.kind, Kind::owned);
	EXPECT_EQ(still.node, 4);
	EXPECT_EQ(still.counter, 2U);
	EXPECT_EQ(still.next, 4U);
	/* Both have nothing, which is impossible. */
	EXPECT_EQ(decide(evidence_of(1, {{3, 9, 3}, {2, 8, 4}}, {}), all).kind, Kind::lost);
}

/* Tests lines of an owner that was evicting them, and has not heard that the home had given the block to others. */
TEST(Verdict, AnOwnerThatHasGivenItBack)
{
	const auto evidence = [](std::vector<Claim> others) {
		others.push_back({4, Holding::dirty, 2});
		return evidence_of(1, {{4, 9, 3}, {2, 8, 4}}, std::move(others));
	};
	const Witnesses all{nodes({3, 4, 5}), 0, 0};
	EXPECT_EQ(decide(evidence({{3, Holding::dirty, 4}}), all).node, 3);
	const Verdict logged = decide(evidence({{3, Holding::logged, 4}}), all);
	EXPECT_EQ(logged.kind, Kind::taken);
	EXPECT_EQ(logged.node, 3);
	EXPECT_EQ(decide(evidence({}), {nodes({4, 5}), 0, 0}).kind, Kind::waits);
	EXPECT_EQ(decide(evidence({}), {nodes({4, 5}), 0, nodes({3})}).kind, Kind::lost);
	EXPECT_EQ(decide(evidence({}), all).kind, Kind::owned) << "nobody has had it since";
	/* A copy of the home's term keeps the reader's lock. */
	const Verdict copied =
		decide(evidence_of(1, {{2, 8, 4}}, {{4, Holding::dirty, 2}, {5, Holding::shared, 3}}), all);
	EXPECT_EQ(copied.kind, Kind::taken);
	EXPECT_EQ(copied.node, 5);
	EXPECT_EQ(copied.sharers, nodes({5}));
	EXPECT_EQ(copied.next, 3U);
}

TEST(Verdict, WaitsForWhoAloneCanKnow)
{
	const auto evidence = evidence_of(1, {{2, 9, 3}}, {});
	EXPECT_EQ(decide(evidence, {nodes({4}), 0, 0}).kind, Kind::waits);
	EXPECT_EQ(decide(evidence, {nodes({4}), 0, 0}).node, 3);
	EXPECT_EQ(decide(evidence, {nodes({4}), 0, nodes({3})}).kind, Kind::lost);
	EXPECT_EQ(decide(evidence_of(3, {{2, 9, 3}}, {}), {}).kind, Kind::own); /* the home has written since */
}

TEST(Verdict, WaitsForTheOwnerBeforeOneThatIsLost)
{
	/* 3, without a log, has got the block from 4, which is away with the newest value that is left. */
	auto evidence = evidence_of(1, {{3, 9, 3}, {2, 8, 4}}, {});
	const Verdict waits = decide(evidence, {nodes({5}), 0, nodes({3})});
	EXPECT_EQ(waits.kind, Kind::waits);
	EXPECT_EQ(waits.node, 4);
	EXPECT_EQ(decide(evidence, {0, 0, nodes({3, 4})}).kind, Kind::lost);
	evidence.claims = {{4, Holding::logged, 2}};
	const Verdict returned = decide(evidence, {nodes({4}), 0, nodes({3})});
	EXPECT_EQ(returned.kind, Kind::lost);
	EXPECT_EQ(returned.node, 4);
	/* The home has written after that owner. */
	EXPECT_EQ(decide(evidence_of(2, {{3, 9, 3}, {1, 8, 4}}, {}), {0, 0, nodes({3})}).kind, Kind::lost);
}

TEST(Verdict, AStrangerWithTheOwnersNumber)
{
	auto evidence = evidence_of(1, {{2, 9, 3, true, 5}}, {});
	Witnesses witnesses{nodes({3}), 0, 0};
	for (const std::uint64_t since : {0, 4, 5}) { /* 0: its log does not tell */
		witnesses.since[3] = since;
		EXPECT_EQ(decide(evidence, witnesses).kind, Kind::own) << since;
	}
	witnesses.life[3] = 4; /* a new master has given the number before it knew this home */
	EXPECT_EQ(decide(evidence, witnesses).kind, Kind::lost);
	witnesses.life[3] = 5;
	EXPECT_EQ(decide(evidence, witnesses).kind, Kind::own);
	witnesses.since[3] = 6;
	EXPECT_EQ(decide(evidence, witnesses).kind, Kind::lost);
	evidence.transfers[1] = {1, 8, 4, true, 4};
	evidence.own.reset();
	EXPECT_EQ(decide(evidence, witnesses).kind, Kind::waits) << "for the owner before";
	evidence.transfers[0].owner_life = 0;
	EXPECT_EQ(decide(evidence, witnesses).kind, Kind::waits);
	EXPECT_EQ(decide(evidence_of(1, {{2, 9, 3}}, {}), witnesses).kind, Kind::own) << "the transfer does not tell";
}

TEST(Verdict, ClaimsOfLaterTermsThanTheLogKnows)
{
	/* The log is an older copy. */
	for (const Claim &later : {Claim{4, Holding::dirty, 7}, {4, Holding::logged, 7}, {4, Holding::shared, 7},
		     {4, Holding::dirty, 3}, {4, Holding::logged, 3}}) {
		auto evidence = evidence_of(1, {{2, 9, 3}}, {later, {3, Holding::logged, 2}});
		const Verdict verdict = decide(evidence, {nodes({3, 4}), 0, 0});
		EXPECT_EQ(verdict.kind, Kind::lost);
		EXPECT_EQ(verdict.node, 3) << "not the one that nobody has given the block to";
		EXPECT_EQ(verdict.next, later.counter + 1);
		EXPECT_EQ(decide(evidence_of(3, {{2, 9, 3}}, {later}), {}).kind,
			later.counter > 3 ? Kind::lost : Kind::own);
		EXPECT_EQ(decide(evidence_of(1, {{2, 9, 3}}, {later}), {}).kind, Kind::waits);
		EXPECT_EQ(decide(evidence_of(1, {{2, 9, 3}}, {later, {3, Holding::dirty, 2}}), {}).kind, Kind::owned)
			<< "its term has not ended";
		/* Of a former node with the home's number */
		evidence = evidence_of({}, {}, {later});
		evidence.allocated = false;
		EXPECT_EQ(decide(evidence, {nodes({4}), 0, 0}).kind, Kind::own);
		EXPECT_EQ(decide(evidence, {nodes({4}), 0, 0}).next, later.counter + 1);
	}
}

TEST(LoggedBlocks, OwnersThatKeepLogsAndMayHaveNewerValues)
{
	LoggedBlocks blocks(2);
	std::uint64_t sequence = 0;
	const auto transfer = [&](std::uint64_t number, std::uint64_t counter, NodeId owner, bool owner_logs = true) {
		sequence++;
		blocks.add({EntryKind::transfer, owner, Address(2, number * block_size), counter, sequence, sequence,
			{}, owner_logs});
	};
	EXPECT_EQ(blocks.owners_with_logs(), 0U);
	transfer(0, 1, 3);
	transfer(0, 2, 4, false); /* a node without a log; it may not have got the block */
	EXPECT_EQ(blocks.owners_with_logs(), nodes({3}));
	transfer(1, 5, 6);
	blocks.set_value(1, 6, std::array<std::byte, block_size>{});
	EXPECT_EQ(blocks.owners_with_logs(), nodes({3})) << "the home has written since";
	transfer(1, 7, 8);
	EXPECT_EQ(blocks.owners_with_logs(), nodes({3, 8}));
	transfer(0, 3, 5);
	EXPECT_EQ(blocks.owners_with_logs(), nodes({5, 8})) << "the term of 3 has ended";
}

TEST(Verdict, CopiesHaveTheValueOfTheDead)
{
	const Verdict verdict = decide(
		evidence_of(1, {{2, 9, 3}}, {{4, Holding::shared, 2}, {5, Holding::shared, 3}}), {nodes({4, 5}), 0, 0});
	EXPECT_EQ(verdict.kind, Kind::taken);
	EXPECT_EQ(verdict.holding, Holding::shared);
	EXPECT_EQ(verdict.sharers, nodes({4, 5}));
	/* A copy older than the last transfer does not count. */
	const Verdict old = decide(evidence_of(1, {{2, 9, 3}}, {{4, Holding::shared, 1}}), {nodes({4}), 0, 0});
	EXPECT_EQ(old.kind, Kind::waits);
	EXPECT_EQ(old.sharers, 0U);
}

TEST(Verdict, GapsInLogs)
{
	auto evidence = evidence_of(1, {{2, 9, 3}}, {{3, Holding::logged_doubtful, 2}});
	EXPECT_EQ(decide(evidence, {nodes({3}), nodes({3}), 0}).kind, Kind::lost);
	EXPECT_EQ(decide(evidence, {nodes({3}), nodes({3}), 0}).node, 3);
	evidence.claims.clear();
	EXPECT_EQ(decide(evidence, {nodes({3}), nodes({3}), 0}).kind, Kind::lost);
	evidence = evidence_of(1, {}, {});
	evidence.doubtful = true;
	EXPECT_EQ(decide(evidence, {}).kind, Kind::lost);
	evidence.claims = {{3, Holding::dirty, 7}};
	EXPECT_EQ(decide(evidence, {nodes({3}), 0, 0}).kind, Kind::owned);
	EXPECT_EQ(decide(evidence, {nodes({3}), 0, 0}).next, 8U);
}

} // namespace
