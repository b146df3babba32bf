/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes that hold messages back, as a peer takes no more of them, or a home keeps no more requests: what waits for room
 * goes on in turn, or out of turn. Then random walks of several nodes and threads, by seed: all accesses end, no two
 * threads hold a lock, and each block has the sum of what was added to it.
 */
#include "directory_nodes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <random>
#include <set>

#include "seeds.hpp"

using namespace gam_test;

namespace
{

struct DirectoryTurns : DirectoryNodes {
	const Address at = block();
	std::map<Net::Pair, std::size_t> most; /* messages that may be under way, if few */

	void SetUp() override { join_with_room(); }
	void join_with_room()
	{
		make();
		net->has_room = [this](Net::Pair pair) {
			return !most.contains(pair) || net->under_way(pair) < most[pair];
		};
	}
	/** From now on, @p count messages have room, and stay under way. */
	void give_room(Net::Pair pair, std::size_t count)
	{
		most[pair] = count;
		if (count)
			net->hold(pair);
	}
	void give_all_room()
	{
		most.clear();
		net->release_all();
		for (NodeId id = 0; id < net->size(); id++)
			(void)node(id).on_time({});
	}
};

/** A home that keeps one request of a node. */
struct DirectoryOneRequest : DirectoryTurns {
	const Address other = block(2);
	const Time second = std::chrono::seconds(1);

	void SetUp() override
	{
		options.requests = 1;
		options.through_home = true;
		join_with_room();
	}
	Ask &first_request()
	{
		net->hold({0, 2});
		Ask &ask = read(2, at);
		EXPECT_TRUE(net->run());
		return ask;
	}
};

/** Room for the request comes and goes without the node's noticing, but for an access that uses it. */
TEST_F(DirectoryOneRequest, WhatIsAskedOutOfTurnWaitsForRoomNoMore)
{
	Ask &ask = first_request();
	room_until = second;
	std::vector<Ask *> asks{&add(2, other, 1), &add(2, other, 1)};
	give_room({2, 0}, 0);
	EXPECT_TRUE(net->deliver({0, 2}));
	result(ask);
	give_room({2, 0}, 1);
	asks.push_back(&add(2, other, 1));
	EXPECT_EQ(net->under_way({2, 0}), 1U) << "the request is under way";
	EXPECT_EQ(node(2).on_time(second), Time::max()) << "nothing waits for room";
	room_until = Time::max();
	give_all_room();
	for (Ask *each : asks)
		result(*each);
	EXPECT_EQ(reads(0, other), 3U);
	expect_rest();
}

TEST_F(DirectoryOneRequest, AnAccessThatEndsLeavesNoTurn)
{
	Ask &ask = first_request();
	for (Time now = second; now < 10 * second; now += second) {
		room_until = now;
		EXPECT_EQ(node(2).on_time({}), Time::max()) << "nothing waits for room";
		Ask &late = read(2, other);
		EXPECT_EQ(node(2).on_time({}), Time()) << "it does";
		(void)node(2).on_time(now);
		EXPECT_EQ(error(late), ENOBUFS);
	}
	EXPECT_EQ(node(2).on_time({}), Time::max());
	give_all_room();
	result(ask);
	expect_rest();
}

/** The reader waits for room, and is gone; then a writer waits for a reader's lock, which is no matter of room. */
TEST_F(DirectoryOneRequest, WhatWaitsForALockDoesNotWaitForRoom)
{
	reads(2, other);
	Ask &ask = first_request();
	room_until = second;
	Ask &late = write(2, other, 1);
	room_until = Time::max();
	Ask &lock = read_lock(2, other, 2);
	room_until = 2 * second;
	Ask &waits = write(2, other, 2);
	(void)node(2).on_time(second);
	EXPECT_EQ(error(late), ENOBUFS);
	EXPECT_EQ(error(lock), 0);
	(void)node(2).on_time(2 * second);
	EXPECT_FALSE(waits.is_over);
	room_until = Time::max();
	EXPECT_EQ(unlock(2, other, 2), 0);
	give_all_room();
	result(ask);
	result(waits);
	EXPECT_EQ(reads(0, other), 2U);
	expect_rest();
}

/** Node 2 takes an answer that nobody else notices, and then no more. */
TEST_F(DirectoryTurns, ABlockOfTheHomeWaitsForWhomItNeeds)
{
	give_room({0, 2}, 0);
	give_room({0, 3}, 0);
	Ask &first = read(2, at), &second = read(3, at);
	EXPECT_TRUE(net->run());
	give_room({0, 2}, 1);
	Ask &third = read(1, at);
	EXPECT_TRUE(net->run());
	EXPECT_EQ(net->under_way({0, 2}), 1U) << "the first is answered, out of turn";
	most.erase({0, 3});
	(void)node(0).on_time({});
	result(second);
	result(third);
	give_all_room();
	result(first);
	expect_rest();
}

TEST_F(DirectoryTurns, ADemandWaitsForWhomItNeeds)
{
	writes(1, at, 7);
	give_room({1, 2}, 0);
	give_room({1, 3}, 0);
	Ask &first = read(2, at);
	EXPECT_TRUE(net->run());
	give_room({1, 2}, 1);
	Ask &lock = write_lock(1, at);
	EXPECT_EQ(net->under_way({1, 2}), 1U) << "the first has the value, out of turn";
	result(lock);
	Ask &second = read(3, at);
	EXPECT_TRUE(net->run());
	EXPECT_EQ(unlock(1, at), 0);
	most.erase({1, 3});
	(void)node(1).on_time({});
	EXPECT_EQ(result(second), 7U);
	give_all_room();
	result(first);
	expect_rest();
}

/** Thread of a node: one access at a time, two locks at most. */
struct Walker {
	NodeId node = 0;
	ThreadId thread = 0;
	std::vector<Address> locked{}; /* in order of addresses */
	std::set<Address> alone{};     /* of these, locked to write */
	Ask ask{};
};

struct DirectoryWalk : DirectoryTurns {
	struct Plan {
		std::uint64_t used = 2;   /* blocks of each home */
		std::size_t threads = 6;  /* of each node */
		std::size_t steps = 3000; /* after which all locks are given back */
		std::size_t lines = 64;   /* of each node */
		bool frees = false;       /* blocks, and allocates them again */
		bool dies = false;        /* one of the nodes */
	};

	Plan plan;
	std::mt19937_64 random;
	std::deque<Walker> walkers;
	std::map<Address, std::uint64_t> sums;
	std::set<Address> freed;
	Time now{};
	bool is_over = false; /* what is still to do is to unlock */
	std::size_t room = 0, added = 0, overdue = 0, busy = 0;

	void SetUp() override {}

	Address any_block() { return block(1 + random() % plan.used, static_cast<NodeId>(random() % nodes)); }
	bool one_in(std::size_t count) { return random() % count == 0; }
	bool is_dead(const Walker &walker) { return net->is_dead(walker.node); }
	bool is_idle(const Walker &walker) { return walker.ask.is_over && !is_dead(walker); }

	void walk(std::uint64_t seed)
	{
		SCOPED_TRACE("seed " + std::to_string(seed));
		random.seed(seed);
		begin_anew();
		for (std::size_t step = 0; step < plan.steps; step++) {
			now += Time(1);
			any_event();
			if (plan.dies && step == plan.steps / 2)
				die(static_cast<NodeId>(random() % nodes));
		}
		end_all();
		check_end();
	}
	void begin_anew()
	{
		walkers.clear();
		sums.clear();
		freed.clear();
		now = {};
		is_over = false;
		room = 1 + random() % 2;
		lines = plan.lines;
		options.requests = 1 + random() % 3;
		options.through_home = true;
		make();
		net->has_room = [this](Net::Pair pair) { return net->under_way(pair) < room; };
		net->is_allocated = [this](Address it) { return !freed.contains(it); };
		on_over = [this](Ask &ask) { over(ask); };
		for (NodeId id = 0; id < nodes; id++) {
			for (ThreadId thread = 1; thread <= plan.threads; thread++) {
				walkers.push_back({id, thread});
				walkers.back().ask.is_over = true;
			}
		}
	}
	void any_event()
	{
		const std::size_t kind = random() % 10;
		const auto one = static_cast<NodeId>(random() % nodes), another = static_cast<NodeId>(random() % nodes);
		if (kind < 5) {
			Walker &walker = walkers[random() % walkers.size()];
			if (is_idle(walker))
				next_access(walker);
		} else if (kind < 9) {
			(void)net->deliver({one, another});
		} else if (!net->is_dead(one)) {
			if (one_in(50))
				node(one).flush();
			(void)node(one).on_time(now);
		}
		if (plan.frees && one_in(200) && !freed.erase(block(1, one)))
			freed.insert(block(1, one));
	}
	void die(NodeId dead)
	{
		net->kill(dead);
		net->tell_of(dead);
	}

	void next_access(Walker &walker)
	{
		Ask &ask = walker.ask = Ask();
		ask.context = &walker;
		ask.thread = walker.thread;
		ask.length = sizeof(ask.value);
		ask.bytes = reinterpret_cast<std::byte *>(&ask.value);
		ask.operand = 1;
		if (!walker.locked.empty())
			inside(walker, ask);
		else
			outside(walker, ask);
		begin(walker.node, ask);
	}
	void outside(const Walker &walker, Ask &ask)
	{
		constexpr std::array kinds{AccessKind::atomic, AccessKind::atomic, AccessKind::atomic, AccessKind::read,
			AccessKind::read_lock, AccessKind::write_lock, AccessKind::write_back};
		ask.kind = kinds[random() % kinds.size()];
		ask.at = any_block();
		if (ask.kind == AccessKind::write_back && ask.at.home() == walker.node)
			ask.kind = AccessKind::read;
		ask.tries = is_lock(ask.kind) && one_in(2);
		ask.uncached = ask.kind <= AccessKind::atomic && one_in(4);
	}
	/** A thread that holds locks waits for room for a while only, and tries others' locks. */
	void inside(Walker &walker, Ask &ask)
	{
		ask.room_until = now + Time(1 + random() % 50);
		ask.at = std::max(any_block(), walker.locked.back()); /* all lock in one order */
		ask.kind = one_in(2) ? AccessKind::atomic : AccessKind::read;
		if (is_over || one_in(3)) {
			ask.kind = AccessKind::unlock;
			ask.at = walker.locked.back();
			walker.locked.pop_back();
		} else if (ask.at == walker.locked.back()) {
			ask.kind = AccessKind::read;
		} else if (walker.locked.size() < 2 && one_in(3)) {
			ask.kind = one_in(2) ? AccessKind::read_lock : AccessKind::write_lock;
			ask.tries = true;
		}
	}

	void over(Ask &ask)
	{
		if (ask.error)
			return check_error(ask);
		Walker &walker = *static_cast<Walker *>(ask.context);
		if (ask.kind == AccessKind::atomic) {
			sums[ask.at]++;
			added++;
		}
		if (is_lock(ask.kind))
			locked(walker, ask);
	}
	void check_error(const Ask &ask)
	{
		busy += ask.error == EBUSY;
		overdue += ask.error == ENOBUFS;
		/* All lines may be locked; a home that is asked again as a node has died counts both requests. */
		const bool may_be_early = plan.lines < plan.threads * nodes || plan.dies;
		const bool is_due = ask.error == ENOBUFS && (ask.room_until <= now || may_be_early);
		const bool is_lost = plan.dies && ask.error == EHOSTUNREACH;
		EXPECT_TRUE(
			is_due || is_lost || (ask.error == EBUSY && ask.tries) || (plan.frees && ask.error == EFAULT))
			<< ask.error;
	}
	void locked(Walker &walker, const Ask &ask)
	{
		const bool alone = ask.kind == AccessKind::write_lock;
		for (Walker &other : walkers) {
			const bool holds =
				!is_dead(other) && std::ranges::find(other.locked, ask.at) != other.locked.end();
			EXPECT_FALSE(holds && (alone || other.alone.contains(ask.at)));
		}
		walker.locked.push_back(ask.at);
		walker.alone.erase(ask.at);
		if (alone)
			walker.alone.insert(ask.at);
	}

	/** Gives all locks back, and runs until nothing moves. */
	void end_all()
	{
		is_over = true;
		for (std::size_t round = 0; round < 1000 && !HasFailure(); round++) {
			now += Time(1);
			for (Walker &walker : walkers) {
				if (is_idle(walker) && !walker.locked.empty())
					next_access(walker);
			}
			if (net->run() && is_at_rest())
				return;
			for (NodeId id = 0; id < nodes; id++) {
				if (!net->is_dead(id))
					(void)node(id).on_time(now);
			}
		}
	}
	bool is_at_rest()
	{
		for (NodeId id = 0; id < nodes; id++) {
			if (!net->is_dead(id) && !node(id).at_rest())
				return false;
		}
		return std::ranges::all_of(walkers, [this](const Walker &walker) {
			return is_dead(walker) || (walker.ask.is_over && walker.locked.empty());
		});
	}
	void check_end()
	{
		for (const Walker &walker : walkers)
			EXPECT_TRUE(is_dead(walker) || walker.ask.is_over)
				<< "thread " << walker.node << "." << walker.thread << " hangs";
		EXPECT_TRUE(is_at_rest());
		EXPECT_EQ(total().refused, 0U);
		if (HasFailure() || plan.dies)
			return;
		on_over = [](Ask &) {};
		net->has_room = [](Net::Pair) { return true; };
		freed.clear();
		for (const auto &[block, sum] : sums)
			EXPECT_EQ(reads(block.home(), block), sum) << block.value;
	}
	void walk_all(std::uint64_t usual)
	{
		const std::uint64_t seeds = prism::gam::test::simulated_seeds(usual);
		for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); seed++)
			walk(seed);
	}
	void expect_all_kinds() const
	{
		EXPECT_GT(added, 0U);
		EXPECT_GT(overdue, 0U);
		EXPECT_GT(busy, 0U);
	}
};

TEST_F(DirectoryWalk, LittleRoom)
{
	walk_all(200);
	expect_all_kinds();
}

TEST_F(DirectoryWalk, FewLines)
{
	plan.lines = 3;
	walk_all(200);
	expect_all_kinds();
}

TEST_F(DirectoryWalk, BlocksAreFreed)
{
	plan.frees = true;
	walk_all(200);
	expect_all_kinds();
}

TEST_F(DirectoryWalk, OneNodeDies)
{
	plan.dies = true;
	walk_all(200);
	expect_all_kinds();
}

/** The walks find that an access whose request is under way is ended. Its answer finds no access, or another's. */
TEST_F(DirectoryWalk, TheyFindATurnThatIsKept)
{
	const auto fails = [](int status) { return status != 0; };
	const auto walk_to_the_end = [this] {
		options.rules.asked_wait_no_more = false;
		walk_all(1000);
		std::_Exit(HasFailure());
	};
	EXPECT_EXIT(walk_to_the_end(), fails, "");
}

} // namespace
