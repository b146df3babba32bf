/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A home's search for lost buffers while nodes write and die: any order of steps that queue pairs and messages allow.
 */
#include "gam/one_sided/lost_buffers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace prism::gam;

namespace
{

/** Faults of a node that the world must detect. */
enum class Fault : std::uint8_t {
	none,
	settles_at_once,    /* does not wait for its chains */
	settles_in_silence, /* does not report before it answers */
};

using Buffer = int;
constexpr Buffer no_buffer = -1;

class World final : latch::LostBuffers::Host
{
public:
	static constexpr std::size_t entry_count = 3;
	static constexpr Buffer buffer_count = 40;
	static constexpr std::size_t node_count = 4;

	World(unsigned seed, Fault fault) : random_(seed), fault_(fault), search_(*this)
	{
		for (Buffer buffer = 0; buffer < buffer_count; buffer++)
			free_.push_back(buffer);
	}

	/** Runs, kills all nodes but the first, and returns true if exactly the buffers in entries are not free then.
	 */
	bool run()
	{
		for (int step = 0; step < 3000 && is_sound_; step++) {
			take_a_step();
			if (step % 400 == 399)
				kill(1 + pick(node_count - 1));
		}
		stops_ = true;
		search_.search();
		for (int step = 0; step < 3000 && is_sound_; step++)
			take_a_step();
		std::size_t used = 0;
		for (const Buffer each : entries_)
			used += each != no_buffer;
		return is_sound_ && !search_.is_searching() && free_.size() + used == buffer_count;
	}

private:
	/* An ALLOCATE and a CAS that installs the buffer */
	struct Chain {
		std::size_t entry = 0;
		int executed = 0; /* requests */
		Buffer taken = no_buffer, replaced = no_buffer;
	};
	struct Message {
		std::vector<Buffer> report;
		std::uint64_t settled = 0; /* round; 0: a report */
	};
	struct Node {
		bool is_dead = false;
		std::deque<Chain> chains; /* end in order */
		std::uint64_t posted = 0, ended = 0;
		std::vector<Buffer> replaced;
		std::deque<Message> sent;
		std::optional<std::pair<std::uint64_t, std::uint64_t>> question; /* round, chains */
	};

	std::size_t pick(std::size_t count) { return random_() % count; }
	void take_a_step()
	{
		Node &node = nodes_[pick(node_count)];
		switch (node.is_dead ? 5 : pick(7)) {
		case 0:
			if (!stops_ && node.chains.size() < 4) {
				node.chains.push_back({pick(entry_count)});
				node.posted++;
			}
			break;
		case 1:
			execute(node);
			break;
		case 2:
			end(node);
			break;
		case 3:
			answer(node);
			break;
		case 4:
			deliver(node);
			break;
		case 6:
			if (pick(20) == 0 || stops_)
				report(node);
			break;
		default:
			search_.step();
		}
	}
	void execute(Node &node)
	{
		for (Chain &chain : node.chains) {
			if (chain.executed == 2)
				continue;
			if (chain.executed++ == 0 && !free_.empty()) {
				chain.taken = free_.front();
				free_.pop_front();
				handed_out_.insert(chain.taken);
			} else if (chain.executed == 2 && chain.taken != no_buffer) {
				chain.replaced = std::exchange(entries_[chain.entry], chain.taken);
			}
			return;
		}
	}
	static void end(Node &node)
	{
		if (node.chains.empty() || node.chains.front().executed < 2)
			return;
		if (node.chains.front().replaced != no_buffer)
			node.replaced.push_back(node.chains.front().replaced);
		node.chains.pop_front();
		node.ended++;
	}
	static void report(Node &node) { node.sent.push_back({std::exchange(node.replaced, {}), 0}); }
	void answer(Node &node)
	{
		if (!node.question || (node.ended < node.question->second && fault_ != Fault::settles_at_once))
			return;
		if (fault_ != Fault::settles_in_silence)
			report(node);
		node.sent.push_back({{}, node.question->first});
		node.question.reset();
	}
	void deliver(Node &node)
	{
		if (node.sent.empty())
			return;
		const Message message = std::move(node.sent.front());
		node.sent.pop_front();
		if (message.settled)
			search_.hear(static_cast<NodeId>(&node - nodes_.data()), message.settled);
		for (const Buffer buffer : message.report)
			give_back(buffer);
	}
	void give_back(Buffer buffer)
	{
		is_sound_ &= handed_out_.erase(buffer) == 1; /* otherwise freed twice */
		marked_.erase(buffer);
		free_.push_back(buffer);
	}
	void kill(std::size_t id)
	{
		nodes_[id] = Node();
		nodes_[id].is_dead = true;
		search_.forget(static_cast<NodeId>(id));
		search_.search();
	}

	/* LostBuffers::Host */
	bool mark() override
	{
		if (pick(3) == 0)
			return false;
		marked_ = handed_out_;
		next_ = 0;
		return true;
	}
	bool spare_some() override
	{
		marked_.erase(entries_[next_++]);
		return next_ == entry_count;
	}
	void collect() override
	{
		for (const Buffer buffer : std::set(marked_)) {
			for (const Buffer each : entries_)
				is_sound_ &= each != buffer;
			give_back(buffer);
		}
	}
	std::uint64_t reachable() override
	{
		std::uint64_t all = 0;
		for (std::size_t id = 0; id < node_count; id++)
			all |= nodes_[id].is_dead ? 0 : bit(static_cast<NodeId>(id));
		return all;
	}
	void ask(NodeId node, std::uint64_t round) override { nodes_[node].question = {round, nodes_[node].posted}; }

	std::mt19937 random_;
	const Fault fault_;
	latch::LostBuffers search_;
	std::array<Node, node_count> nodes_;
	std::array<Buffer, entry_count> entries_{no_buffer, no_buffer, no_buffer};
	std::deque<Buffer> free_;
	std::set<Buffer> handed_out_, marked_;
	std::size_t next_ = 0;
	bool stops_ = false;
	bool is_sound_ = true;
};

constexpr unsigned seeds = 300;

unsigned sound_runs(Fault fault)
{
	unsigned sound = 0;
	for (unsigned seed = 1; seed <= seeds; seed++)
		sound += World(seed, fault).run();
	return sound;
}

TEST(LostBuffers, AllAreFoundAndNoneIsFreedThatIsInUse)
{
	EXPECT_EQ(sound_runs(Fault::none), seeds);
}

TEST(LostBuffers, ControlNodesThatDoNotSettleAreNoticed)
{
	EXPECT_LT(sound_runs(Fault::settles_at_once), seeds);
	EXPECT_LT(sound_runs(Fault::settles_in_silence), seeds);
}

TEST(LostBuffers, AnAnswerToAnEarlierRoundIsIgnored)
{
	struct Home final : latch::LostBuffers::Host {
		bool mark() override { return true; }
		bool spare_some() override { return true; }
		void collect() override { collected = true; }
		std::uint64_t reachable() override { return bit(0) | bit(1); }
		void ask(NodeId /*node*/, std::uint64_t round) override { asked = round; }
		std::uint64_t asked = 0;
		bool collected = false;
	} home;
	latch::LostBuffers search(home);
	search.step();
	EXPECT_FALSE(search.is_searching());
	search.search();
	search.step();
	const std::uint64_t first = home.asked;
	search.hear(0, first);
	search.hear(1, first - 1);
	search.hear(max_nodes, first);
	search.step();
	EXPECT_EQ(home.asked, first) << "node 1 has not settled";
	search.hear(1, first);
	search.step();
	EXPECT_NE(home.asked, first);
	search.hear(0, home.asked);
	search.forget(1);
	search.step();
	EXPECT_TRUE(home.collected);
	EXPECT_FALSE(search.is_searching());
}

} // namespace
