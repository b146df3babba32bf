/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Random walks of several nodes and threads, by seed. After each event, one node may write or several may read, and a
 * hit would find the last write performed. In the end all accesses have ended, lines agree with entries, and each
 * buffer is either reachable or free, once.
 */
#include "latch_nodes.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

using namespace gam_test;

namespace
{

/** Values written to a block, in the order of the writes; each value is written once. */
class Written
{
public:
	[[nodiscard]] std::size_t count() const { return values_.size(); }
	[[nodiscard]] std::uint64_t last() const { return values_.back().value; }
	void add(std::uint64_t value, NodeId by) { values_.push_back({value, by}); }
	/** Returns true if @p value was current at any moment since the list had @p began values. */
	[[nodiscard]] bool was_there(std::uint64_t value, std::size_t began) const
	{
		return place(value, began - 1) != values_.size();
	}
	void see(std::uint64_t value) { seen_ = std::max(seen_, place(value, 0)); }
	/**
	 * Drops all values after @p value. Returns false if nodes other than @p dead have seen or written any of them.
	 */
	bool lose_after(std::uint64_t value, NodeId dead)
	{
		const std::size_t kept = place(value, 0);
		bool sound = kept < values_.size() && seen_ <= kept;
		for (std::size_t i = kept + 1; i < values_.size(); i++)
			sound &= values_[i].by == dead;
		values_.resize(std::min(kept + 1, values_.size()));
		return sound;
	}

private:
	struct Value {
		std::uint64_t value;
		NodeId by;
	};
	[[nodiscard]] std::size_t place(std::uint64_t value, std::size_t from) const
	{
		while (from < values_.size() && values_[from].value != value)
			from++;
		return from;
	}

	std::vector<Value> values_{{0, no_node}};
	std::size_t seen_ = 0;
};

/** Thread of a node: one access at a time, one lock at a time. */
struct Walker {
	NodeId node = 0;
	ThreadId thread = 0;
	std::size_t left = 0;
	std::optional<Address> locked;
	bool locked_to_write = false;
	std::unique_ptr<Ask> ask;
};

struct LatchWalk : LatchNodes {
	struct Plan {
		std::size_t threads = 2;   /* of each node */
		std::size_t accesses = 40; /* of each thread */
		std::uint64_t used = 2;    /* blocks */
		bool locks = true;
		bool tries = true;
		bool uncached = true;
		bool breaks = false; /* queue pairs, which are replaced later */
		std::optional<NodeId> dies;
	};

	std::mt19937_64 random;
	Plan plan;
	std::deque<Walker> walkers;
	std::map<std::uint64_t, Written> written;
	std::uint64_t next_value = 1;
	std::size_t performed = 0, busy = 0, no_room = 0, breaks = 0;

	void SetUp() override {}

	[[nodiscard]] Address any_block()
	{
		const std::uint64_t number = random() % plan.used;
		const auto home = static_cast<NodeId>(plan.dies ? 0 : number % shape.nodes);
		return block(1 + number, home);
	}
	std::vector<Address> all_blocks()
	{
		std::vector<Address> all;
		for (std::uint64_t number = 0; number < plan.used; number++)
			all.push_back(block(1 + number, static_cast<NodeId>(plan.dies ? 0 : number % shape.nodes)));
		return all;
	}

	void walk(std::uint64_t seed)
	{
		SCOPED_TRACE("seed " + std::to_string(seed));
		shape.seed = seed;
		random.seed(seed);
		asked.clear();
		walkers.clear();
		written.clear();
		make();
		on_over = [this](Ask &ask) { over(ask); };
		net->after_step = [this] { check_hits(); };
		for (NodeId id = 0; id < shape.nodes; id++) {
			for (ThreadId thread = 1; thread <= plan.threads; thread++) {
				Walker &walker = walkers.emplace_back();
				walker.node = id;
				walker.thread = thread;
				walker.left = plan.accesses;
				walker.ask = std::make_unique<Ask>();
				walker.ask->context = &walker;
				go_on(walker);
			}
		}
		if (plan.dies)
			net->at(random() % (40 * LatchNet::hop * plan.accesses / 10), [this] { die(); });
		run_to_the_end();
		for (const Walker &walker : walkers)
			EXPECT_TRUE(walker.left == 0 || net->is_dead(walker.node))
				<< "node " << walker.node << " thread " << walker.thread << " has " << walker.left;
		expect_rest(plan.dies.has_value() || plan.breaks);
		EXPECT_EQ(total().refused, 0U);
		EXPECT_EQ(total().events, 0U);
	}
	[[nodiscard]] bool all_done() const
	{
		return std::all_of(walkers.begin(), walkers.end(),
			[this](const Walker &walker) { return !walker.left || net->is_dead(walker.node); });
	}
	void run_to_the_end()
	{
		for (std::size_t steps = 0; steps < 200'000 && !(all_done() && swept_all() && net->is_at_rest());
			steps++) {
			if (!net->step() || steps % 64 == 0)
				net->tick();
			if (plan.breaks && random() % 60 == 0)
				break_pair();
			if (HasFailure())
				return;
		}
	}

	void break_pair()
	{
		const auto from = static_cast<NodeId>(random() % shape.nodes),
			   home = static_cast<NodeId>(random() % shape.nodes);
		if (net->is_broken(from, home) || net->is_dead(from) || net->is_dead(home))
			return;
		net->break_pair(from, home);
		net->at(net->now() + random() % (20 * LatchNet::hop), [this, from, home] {
			breaks++;
			if (!net->is_dead(from) && !net->is_dead(home))
				net->mend_pair(from, home);
		});
	}
	void go_on(Walker &walker)
	{
		net->at(net->now() + random() % (4 * LatchNet::hop), [this, &walker] { next_access(walker); });
	}
	void next_access(Walker &walker)
	{
		if (net->is_dead(walker.node) || !walker.left)
			return;
		Ask &ask = *walker.ask;
		ask = Ask();
		ask.context = &walker;
		ask.thread = walker.thread;
		ask.length = sizeof(ask.value);
		ask.bytes = reinterpret_cast<std::byte *>(&ask.value);
		if (walker.locked)
			inside(walker, ask);
		else
			outside(walker, ask);
		ask.began = written[ask.at.value].count();
		if (ask.kind == AccessKind::write || ask.kind == AccessKind::atomic)
			ask.value = ask.operand = next_value++;
		if (random() % 20 == 0)
			node(walker.node).flush();
		begin(walker.node, ask);
	}
	void outside(Walker &walker, Ask &ask)
	{
		constexpr std::array kinds{AccessKind::read, AccessKind::write, AccessKind::atomic,
			AccessKind::read_lock, AccessKind::write_lock};
		ask.kind = kinds[random() % (plan.locks && walker.left > 1 ? 5 : 3)];
		ask.at = any_block();
		ask.function = Function::swap;
		ask.tries = plan.tries && is_lock(ask.kind) && random() % 2;
		ask.uncached = plan.uncached && ask.kind <= AccessKind::write && random() % 4 == 0;
	}
	void inside(Walker &walker, Ask &ask)
	{
		ask.at = *walker.locked;
		ask.kind = AccessKind::read;
		if (random() % 3 == 0 || walker.left == 1) {
			ask.kind = AccessKind::unlock;
			walker.locked.reset();
		} else if (walker.locked_to_write && random() % 2) {
			ask.kind = AccessKind::write;
		}
	}

	void over(Ask &ask)
	{
		Walker &walker = *static_cast<Walker *>(ask.context);
		if (ask.error)
			ASSERT_TRUE((ask.error == EBUSY && ask.tries) || ask.error == ENOBUFS) << ask.error;
		else
			check(walker, ask);
		busy += ask.error == EBUSY;
		no_room += ask.error == ENOBUFS;
		walker.left--;
		if (walker.left)
			go_on(walker);
	}
	void check(Walker &walker, Ask &ask)
	{
		Written &of_block = written[ask.at.value];
		performed++;
		switch (ask.kind) {
		case AccessKind::read:
			ASSERT_TRUE(of_block.was_there(ask.value, ask.began)) << ask.value << " is not of its time";
			if (!plan.dies || *plan.dies != walker.node)
				of_block.see(ask.value);
			break;
		case AccessKind::atomic:
			ASSERT_EQ(ask.old_value, of_block.last());
			[[fallthrough]];
		case AccessKind::write:
			check_lock(walker, ask, true);
			of_block.add(ask.value, walker.node);
			break;
		case AccessKind::read_lock:
		case AccessKind::write_lock:
			check_lock(walker, ask, ask.kind == AccessKind::write_lock);
			walker.locked = ask.at;
			walker.locked_to_write = ask.kind == AccessKind::write_lock;
			break;
		case AccessKind::unlock:
		case AccessKind::write_back:
			break;
		}
	}
	void check_lock(const Walker &walker, const Ask &ask, bool exclusive)
	{
		for (const Walker &other : walkers) {
			const bool holds = &other != &walker && other.locked == ask.at && !net->is_dead(other.node);
			ASSERT_FALSE(holds && (exclusive || other.locked_to_write))
				<< "node " << other.node << " thread " << other.thread << " holds the lock";
		}
	}

	void check_hits()
	{
		for (const Address at : all_blocks()) {
			std::size_t writers = 0, holders = 0;
			for (NodeId id = 0; id < shape.nodes; id++) {
				const std::byte *data = nullptr;
				const latch::State state = node(id).state(at, &data);
				if (net->is_dead(id) || !data)
					continue;
				std::uint64_t value = 0;
				std::memcpy(&value, data, sizeof(value));
				ASSERT_EQ(value, written[at.value].last()) << "node " << id << " block " << at.value;
				holders++;
				writers += state == latch::State::exclusive;
			}
			ASSERT_TRUE(!writers || holders == 1) << writers << " writers, " << holders << " holders";
		}
	}

	/* A death, step by step */
	std::size_t told = 0;
	bool is_swept = false;
	[[nodiscard]] bool swept_all() const { return !plan.dies || is_swept; }
	[[nodiscard]] std::uint64_t soon() { return net->now() + random() % (20 * LatchNet::hop); }
	void die()
	{
		told = 0;
		is_swept = false;
		net->kill(*plan.dies);
		net->at(soon(), [this] {
			for (NodeId id = 0; id < shape.nodes; id++) {
				if (id != *plan.dies)
					net->at(soon(), [this, id] {
						net->tell(id, *plan.dies);
						confirm(id);
					});
			}
		});
	}
	void confirm(NodeId id)
	{
		if (!node(id).has_let_go(*plan.dies))
			return net->at(net->now() + LatchNet::hop, [this, id] { confirm(id); });
		if (++told == shape.nodes - 1)
			sweep();
	}
	void sweep()
	{
		for (const Address at : all_blocks()) {
			const latch::Entry entry = net->entry(at);
			std::uint64_t value = 0;
			if (entry.value.ptr)
				std::memcpy(&value, reinterpret_cast<const void *>(entry.value.ptr), sizeof(value));
			const bool loses = latch::node_of(entry.writer) == *plan.dies;
			ASSERT_TRUE(!loses || written[at.value].lose_after(value, *plan.dies)) << at.value;
		}
		for (const Walker &walker : walkers) /* lost values no longer count */
			walker.ask->began =
				std::min<std::uint64_t>(walker.ask->began, written[walker.ask->at.value].count());
		node(0).sweep(*plan.dies);
		end_of_sweep();
	}
	void end_of_sweep()
	{
		if (node(0).is_sweeping())
			return net->at(net->now() + LatchNet::hop, [this] { end_of_sweep(); });
		for (NodeId id = 0; id < shape.nodes; id++) {
			if (id != *plan.dies)
				node(id).swept(*plan.dies);
		}
		for (const Address at : all_blocks()) {
			const latch::Entry entry = net->entry(at);
			EXPECT_TRUE(latch::node_of(entry.writer) != *plan.dies &&
				    latch::node_of(entry.waiter) != *plan.dies && !(entry.sharers & bit(*plan.dies)));
		}
		is_swept = true;
	}

	void walk_all(std::uint64_t seeds, std::uint64_t first = 1)
	{
		for (std::uint64_t seed = first; seed < first + seeds && !HasFailure(); seed++)
			walk(seed);
		EXPECT_GT(performed, 0U);
	}
};

TEST_F(LatchWalk, ReadsAndWrites)
{
	shape.nodes = 3;
	plan.locks = plan.uncached = false;
	walk_all(300);
}

TEST_F(LatchWalk, LocksAndUncached)
{
	shape.nodes = 4;
	plan.tries = false;
	walk_all(200);
}

TEST_F(LatchWalk, Tries)
{
	shape.nodes = 3;
	walk_all(300);
	EXPECT_GT(busy, 0U);
}

/** Turns each node away soon, after which it becomes the waiter itself. */
TEST_F(LatchWalk, Waiters)
{
	shape.nodes = 4;
	shape.patience = 1;
	plan.used = 1;
	walk_all(300);
}

/** Tests blocks that push each other out, an empty free list and full send queues. */
TEST_F(LatchWalk, LittleRoom)
{
	shape.nodes = 3;
	shape.lines = 2;
	shape.spares = 1;
	plan.used = 6;
	shape.full = 50;
	walk_all(200);
}

TEST_F(LatchWalk, ManyThreads)
{
	shape.nodes = 2;
	plan.threads = 6;
	plan.used = 3;
	walk_all(100);
}

/** Ends queue pairs between live nodes: only buffers are lost. */
TEST_F(LatchWalk, QueuePairsEnd)
{
	shape.nodes = 3;
	shape.lines = 3;
	shape.spares = 1000;
	plan.used = 4;
	plan.breaks = true;
	walk_all(400);
	EXPECT_GT(breaks, 1000U);
}

TEST_F(LatchWalk, QueuePairsEndAndOneNodeDies)
{
	shape.nodes = 4;
	shape.spares = 1000;
	plan.breaks = true;
	plan.dies = NodeId{2};
	shape.patience = 2;
	walk_all(400);
}

TEST_F(LatchWalk, OneNodeDies)
{
	shape.nodes = 4;
	plan.dies = NodeId{2};
	shape.patience = 2;
	walk_all(400);
}

} // namespace
