/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Agreement of the latch protocol's nodes on the deaths of others, without a network. */
#include "gam/membership/farewells.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <tuple>

using namespace prism::gam;

namespace
{

constexpr NodeId nodes = 4;

View view_of(std::uint64_t epoch, const std::set<NodeId> &dead, NodeId count = nodes)
{
	View view;
	view.epoch = epoch;
	for (NodeId id = 0; id < count; id++)
		view.members.push_back(
			{{id, id + 1U}, dead.contains(id) ? NodeState::dead : NodeState::serving, 0, "", 0, 0});
	return view;
}

struct FarewellsTest : testing::Test {
	struct Node final : Farewells::Host {
		Node(FarewellsTest &test, NodeId self) : all(test), id(self), farewells(self, *this) {}
		void tell(NodeId to, Farewells::Word word, std::uint64_t incarnation) override
		{
			all.messages.emplace_back(id, to, word, incarnation);
		}
		bool has_let_go(NodeId dead) override { return !holds.contains(dead); }
		void sweep(NodeId dead) override
		{
			EXPECT_TRUE(all.nobody_holds(dead)) << "swept while a node can still name the dead";
			sweeps.insert(dead);
		}
		bool is_sweeping(NodeId /*dead*/) override { return is_slow; }
		void over(NodeId dead) override
		{
			EXPECT_TRUE(all.all_have_swept(dead)) << "over before all homes have swept";
			ended.insert(dead);
		}

		FarewellsTest &all;
		const NodeId id;
		Farewells farewells;
		std::set<NodeId> holds, sweeps, ended;
		bool is_slow = false;
		bool is_dead = false;
	};

	std::deque<std::tuple<NodeId, NodeId, Farewells::Word, std::uint64_t>> messages;
	std::map<NodeId, std::unique_ptr<Node>> all;

	void SetUp() override
	{
		for (NodeId id = 0; id < nodes; id++)
			all[id] = std::make_unique<Node>(*this, id);
	}
	[[nodiscard]] bool nobody_holds(NodeId dead) const
	{
		for (const auto &[id, node] : all) {
			if (!node->is_dead && node->holds.contains(dead))
				return false;
		}
		return true;
	}
	[[nodiscard]] bool all_have_swept(NodeId dead) const
	{
		for (const auto &[id, node] : all) {
			if (!node->is_dead && !node->sweeps.contains(dead))
				return false;
		}
		return true;
	}
	void adopt(const View &view)
	{
		for (const Member &member : view.members)
			all[member.life.node]->is_dead |= !member.live();
		for (auto &[id, node] : all) {
			if (!node->is_dead)
				node->farewells.adopt(view);
		}
	}
	void run()
	{
		for (int round = 0; round < 20; round++) {
			for (auto &[id, node] : all) {
				if (!node->is_dead)
					node->farewells.step();
			}
			for (; !messages.empty(); messages.pop_front()) {
				const auto [from, to, word, incarnation] = messages.front();
				if (!all[from]->is_dead && !all[to]->is_dead)
					all[to]->farewells.hear(from, word, incarnation);
			}
		}
	}
	[[nodiscard]] std::size_t ended(NodeId dead) const
	{
		std::size_t count = 0;
		for (const auto &[id, node] : all)
			count += node->ended.contains(dead);
		return count;
	}
};

TEST_F(FarewellsTest, AllLetGoThenAllSweepThenItIsOver)
{
	all[1]->holds = {3};
	adopt(view_of(10, {3}));
	run();
	EXPECT_TRUE(all[0]->sweeps.empty());
	all[1]->holds.clear();
	all[2]->is_slow = true;
	run();
	EXPECT_TRUE(all[0]->sweeps.contains(3));
	EXPECT_EQ(ended(3), 0U);
	EXPECT_TRUE(all[0]->farewells.is_waiting());
	all[2]->is_slow = false;
	run();
	EXPECT_EQ(ended(3), 3U);
	EXPECT_FALSE(all[0]->farewells.is_waiting());
}

TEST_F(FarewellsTest, WhoDiesMeanwhileIsNotWaitedFor)
{
	all[1]->holds = {3};
	adopt(view_of(10, {3}));
	run();
	EXPECT_EQ(ended(3), 0U);
	adopt(view_of(11, {1, 3}));
	run();
	EXPECT_EQ(ended(3), 2U);
	EXPECT_EQ(ended(1), 2U);
}

TEST_F(FarewellsTest, WhoIsLeftAloneWaitsForNobody)
{
	adopt(view_of(10, {1, 2, 3}));
	run();
	EXPECT_EQ(all[0]->ended, (std::set<NodeId>{1, 2, 3}));
}

TEST_F(FarewellsTest, WhoJoinsIsToldAgain)
{
	adopt(view_of(10, {3}));
	run();
	EXPECT_EQ(ended(3), 3U);
	all[4] = std::make_unique<Node>(*this, NodeId{4}); /* the number is not free yet */
	adopt(view_of(12, {3}, 5));
	run();
	EXPECT_EQ(all[4]->ended.size(), 0U);
	for (NodeId id = 0; id < 3; id++)
		all[id]->farewells.met(4);
	run();
	EXPECT_EQ(all[4]->ended.count(3), 1U);
}

TEST_F(FarewellsTest, WhatCannotBeIsForgotten)
{
	Farewells &farewells = all[0]->farewells;
	farewells.hear(max_nodes, Farewells::Word::let_go, 1);
	for (std::uint64_t incarnation = 0; incarnation < 100000; incarnation++)
		farewells.hear(1, Farewells::Word::swept, incarnation << 20);
	EXPECT_FALSE(farewells.is_waiting());
	adopt(view_of(std::uint64_t{100000} << 20, {}));
	adopt(view_of((std::uint64_t{100000} << 20) + 1, {3}));
	run();
	EXPECT_EQ(ended(3), 3U);
}

/** Tested with a node that joined and died before this node heard of it. */
TEST_F(FarewellsTest, WhoInventsDeathsKeepsNobodyElseFromBeingHeard)
{
	constexpr std::uint64_t late = 20;
	Farewells &farewells = all[0]->farewells;
	farewells.adopt(view_of(9, {}, 3));
	for (std::uint64_t incarnation = late + 1; incarnation < 100000; incarnation++)
		farewells.hear(1, Farewells::Word::swept, incarnation);
	for (const NodeId other : {2, 1})
		farewells.hear(other, Farewells::Word::let_go, late);
	View view = view_of(late + 1, {3});
	view.members[3].life.incarnation = late;
	farewells.adopt(view);
	farewells.step();
	EXPECT_TRUE(all[0]->sweeps.contains(3));
}

TEST_F(FarewellsTest, HearsBeforeItIsToldOfTheDeath)
{
	all[0]->farewells.adopt(view_of(9, {}));
	for (const NodeId other : {1, 2})
		all[0]->farewells.hear(other, Farewells::Word::let_go, 4);
	EXPECT_FALSE(all[0]->farewells.is_waiting());
	all[0]->farewells.adopt(view_of(10, {3}));
	all[0]->farewells.step();
	EXPECT_TRUE(all[0]->sweeps.contains(3));
}

} // namespace
