/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes of the latch protocol on a Net. Beside messages, requests to the memory of homes move: each is executed at its
 * own time, in the order of its queue pair, and its chain completes at another. Reports of free buffers move, too. All
 * of these move in any order, by seed, or in the order of a clock.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/gam/simulated/lent_memory.hpp"
#include "net.hpp"

namespace gam_test
{

namespace latch = prism::gam::latch;
using prism::gam::Latch;
using prism::gam::simulated::ChainUnderWay;
using prism::gam::simulated::LentMemory;

/** At rest: returns why @p entry, which is that of @p block, and node @p id disagree; empty if they agree. */
inline std::string disagreement_of(const latch::Entry &entry, Latch &node, NodeId id, Address block)
{
	const latch::State state = node.state(block);
	if ((latch::node_of(entry.writer) == id) != (state == latch::State::exclusive))
		return "an entry and a line do not agree about the writer";
	if (state == latch::State::shared && !(entry.sharers & prism::gam::bit(id)))
		return "an entry does not know of a sharer";
	return {};
}

class LatchNet : public Net
{
public:
	static constexpr std::uint64_t hop = 16; /* time */

	struct Shape {
		std::size_t nodes = 4;
		std::size_t lines = 8;
		std::uint64_t blocks = 8; /* of each home */
		std::uint64_t spares = 64;
		std::uint64_t first_lent = 1; /* block; those before it are not lent at first */
		std::uint64_t seed = 0;       /* of any order. 0: all that moves takes a hop */
		unsigned patience = 4;
		std::uint64_t rest = 10 * hop;
		unsigned full = 0;            /* one of so many posts finds the queue full; 0: none */
		bool ends_queue_pairs = true; /* of the dead, as soon as their death is known */
		latch::Rules rules;
	};

	explicit LatchNet(const Shape &shape) : Net(shape.seed), shape_(shape), random_(shape.seed), homes_(shape.nodes)
	{
		add_nodes(shape.nodes, [this](NodeId id, Coherence::Host &host) { return make(id, host); });
	}

	[[nodiscard]] Latch &latch(NodeId id) { return static_cast<Latch &>(node(id)); }
	[[nodiscard]] LentMemory &lent(NodeId home) const { return homes_[home]->lent; }
	[[nodiscard]] latch::Entry entry(Address at) const { return lent(at.home()).region.entry(at.block_number()); }
	/** Overwrites an entry, as a hostile node may. */
	void write_entry(Address at, const latch::Entry &entry)
	{
		LentMemory &home = lent(at.home());
		std::memcpy(&home.bytes.span()[home.region.layout().entry(at.block_number())], &entry, sizeof(entry));
	}
	/** Returns a number that no other life of a node has. */
	[[nodiscard]] std::uint64_t incarnation(NodeId id) const { return homes_[id]->incarnation; }

	/* Time */
	[[nodiscard]] std::uint64_t now() const { return now_; }
	[[nodiscard]] std::mt19937_64 &random() { return random_; }
	void pass(std::uint64_t time) { now_ += time; }
	/** Does @p what at @p time, in any order. */
	void at(std::uint64_t time, std::function<void()> what) { timers_.emplace(time, std::move(what)); }
	/** Moves something. Returns false if nothing can. */
	bool step() override
	{
		const bool moved = shape_.seed ? move_or_wait() : move_first();
		if (moved)
			after_step();
		return moved;
	}
	/** Runs until all live nodes are at rest. Returns false if @p steps do not suffice. */
	bool run_to_rest(std::size_t steps = 1'000'000)
	{
		while (steps-- > 0) {
			const bool moved = step();
			if (!moved && is_at_rest())
				return true;
			if (!moved || steps % 64 == 0)
				tick(!moved);
		}
		return false;
	}
	void tick(bool is_idle = true)
	{
		now_ += is_idle ? 50 * hop : 0;
		for (NodeId id = 0; id < size(); id++) {
			if (!is_dead(id))
				(void)node(id).on_time(prism::gam::Time(now_));
		}
	}
	/** Moves something, in any order. Returns false if nothing can move. */
	bool move()
	{
		switch (random_() % 8) {
		case 0:
			return move_report() || move_lane() || Net::step();
		case 1:
		case 2:
		case 3:
			return Net::step() || move_lane() || move_report();
		default:
			return move_lane() || Net::step() || move_report();
		}
	}
	/** Returns true if anything is under way. */
	[[nodiscard]] bool is_moving() const
	{
		return under_way() || !reports_.empty() || std::ranges::any_of(lanes_, [](const auto &each) {
			return !each.second.posted.empty() || !each.second.executed.empty();
		});
	}
	/** Returns true if all live nodes are at rest. */
	[[nodiscard]] bool is_at_rest()
	{
		for (NodeId id = 0; id < size(); id++) {
			if (!is_dead(id) && !node(id).at_rest())
				return false;
		}
		return true;
	}

	/** Hold back the completions of @p id's chains, or even their execution, until release_chains(). */
	void hold_answers(NodeId id) { held_chains_.insert({id, true}); }
	void hold_posts(NodeId id) { held_chains_.insert({id, false}); }
	void release_chains(NodeId id) { held_chains_.erase(id); }

	/* Deaths */
	void tell(NodeId id, NodeId dead) override
	{
		if (is_dead(id))
			return;
		const Life gone = life(dead);
		if (shape_.ends_queue_pairs)
			lanes_[{gone, life(id)}].responder.failed = true;
		homes_[id]->known_dead[dead] = true;
		std::erase_if(
			reports_, [&](const Report &report) { return report.from == gone && report.home.first == id; });
		Net::tell(id, dead);
	}
	void revive(NodeId id) override
	{
		Net::revive(id);
		for (NodeId other = 0; other < size(); other++) {
			homes_[id]->known_dead[other] = is_dead(other);
			homes_[other]->known_dead[id] = false;
		}
	}

	/* End of a queue pair between two live nodes: */
	/** Ends it: no request of @p from to @p home is executed any more, and nobody knows which ones were. */
	void break_pair(NodeId from, NodeId home) { end(lane(from, home)); }
	[[nodiscard]] bool is_broken(NodeId from, NodeId home) { return lane(from, home).is_broken; }
	/** Replaces it by a new one. */
	void mend_pair(NodeId from, NodeId home)
	{
		lane(from, home).is_broken = false;
		lane(from, home).responder = {};
	}

	/** At rest: returns why the home of @p block and node @p id disagree about it; empty if they agree. */
	[[nodiscard]] std::string disagreement(NodeId id, Address block)
	{
		return disagreement_of(entry(block), latch(id), id, block);
	}
	/** At rest: returns an error in the entries and buffers of live homes. @p lost: buffers may be in no place. */
	[[nodiscard]] std::string disorder(bool lost)
	{
		for (NodeId home = 0; home < size(); home++) {
			const std::string what = is_dead(home) ? "" : disorder_of(home, lost);
			if (!what.empty())
				return what;
		}
		return {};
	}

	std::function<void()> after_step = [] {};
	/** Called when a buffer is given back that is in use or free. */
	std::function<void()> on_freed_twice = [] {};
	std::size_t full_queues = 0; /* posts still to be answered EAGAIN */
	std::uint64_t posts = 0;     /* all, also those refused */

private:
	/** Node and incarnation. */
	using Life = std::pair<NodeId, std::uint64_t>;
	/** Poster and home. */
	using QueuePair = std::pair<Life, Life>;
	struct Timed {
		std::uint64_t due;
		ChainUnderWay chain;
	};
	/** Chains of a queue pair. */
	struct Lane {
		std::deque<Timed> posted;
		std::deque<Timed> executed;
		prism::gam::simulated::Responder responder;
		bool is_broken = false;
	};
	/** Queue pair, and whether a chain of it completes; else a request is executed. */
	struct Ready {
		QueuePair pair;
		bool completes;
		std::uint64_t due;
	};
	struct Report {
		Life from, home;
		std::uint64_t address;
		std::uint64_t due;
	};

	/** Life of a node, without the protocol's object. */
	struct Home final : latch::Homes {
		Home(LatchNet &around, NodeId number, std::uint64_t life_number)
			: net(around), id(number), incarnation(life_number),
			  lent({net.shape_.blocks, net.shape_.spares}, id),
			  working(net.shape_.lines * latch::WorkingMemory::bytes_of_line)
		{
			lent.region.lend(net.shape_.first_lent, net.shape_.blocks - net.shape_.first_lent);
		}

		[[nodiscard]] const latch::HomeMemory *find(NodeId home) const noexcept override
		{
			return home < net.size() && !known_dead[home] ? &net.lent(home).described : nullptr;
		}
		int post(NodeId home, const prism::Chain &chain, std::uint64_t token) noexcept override
		{
			net.posts++;
			return known_dead[home] ? ENOTCONN : net.post(net.lane(id, home), chain, token);
		}
		void give_back(NodeId home, std::uint64_t address) noexcept override
		{
			net.reports_.push_back({net.life(id), net.life(home), address, net.now_ + hop});
		}

		LatchNet &net;
		const NodeId id;
		const std::uint64_t incarnation;
		LentMemory lent;
		prism::gam::simulated::AlignedBytes working;
		std::array<bool, prism::gam::max_nodes> known_dead{};
	};

	/** Makes a new life. An earlier one stays, for its requests that are under way. */
	std::unique_ptr<Coherence> make(NodeId id, Coherence::Host &host)
	{
		if (homes_[id])
			graves_.push_back(std::move(homes_[id]));
		homes_[id] = std::make_unique<Home>(*this, id, ++lives_);
		latch::Options options;
		options.self = id;
		options.memory = homes_[id]->working.working();
		options.region = &homes_[id]->lent.region;
		options.patience = shape_.patience;
		options.rest = prism::gam::Time(shape_.rest);
		options.rules = shape_.rules;
		return std::make_unique<Latch>(options, host, *homes_[id]);
	}
	[[nodiscard]] Life life(NodeId id) const { return {id, incarnation(id)}; }
	[[nodiscard]] bool lives(const Life &life) const
	{
		return incarnation(life.first) == life.second && !is_dead(life.first);
	}
	[[nodiscard]] Lane &lane(NodeId from, NodeId home) { return lanes_[{life(from), life(home)}]; }

	/** Moves something in any order, or runs a timer: one that is due, or the next one if nothing else moves. */
	bool move_or_wait()
	{
		now_++;
		const bool is_due = !timers_.empty() && timers_.begin()->first <= now_;
		if (!is_due && move())
			return true;
		if (timers_.empty())
			return false;
		auto first = timers_.extract(timers_.begin());
		now_ = std::max(now_, first.key());
		first.mapped()();
		return true;
	}
	/** Moves what is due first. */
	bool move_first()
	{
		std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
		std::function<void()> move;
		const auto offer = [&](std::uint64_t due, auto what) {
			if (due < first) {
				first = due;
				move = what;
			}
		};
		for (const Pair &pair : ready())
			offer(sent_at(pair) + hop, [this, pair] { deliver(pair); });
		for (const Ready &ready : ready_lanes())
			offer(ready.due, [this, ready] { move_lane(ready); });
		for (std::size_t place = 0; place < reports_.size(); place++)
			offer(reports_[place].due, [this, place] { move_report(place); });
		if (!move)
			return false;
		now_ = std::max(now_, first);
		move();
		return true;
	}

	int post(Lane &lane, const prism::Chain &chain, std::uint64_t token)
	{
		if (shape_.full && random_() % shape_.full == 0)
			return EAGAIN;
		if (full_queues || lane.is_broken) {
			full_queues -= full_queues > 0;
			return EAGAIN;
		}
		lane.posted.push_back({now_ + hop, ChainUnderWay(token, chain)});
		return 0;
	}
	[[nodiscard]] std::vector<Ready> ready_lanes() const
	{
		std::vector<Ready> all;
		for (const auto &[pair, lane] : lanes_) {
			if (is_held({pair.first.first, pair.second.first}))
				continue;
			const auto held = held_chains_.find(pair.first.first);
			if (!lane.posted.empty() && (held == held_chains_.end() || held->second))
				all.push_back({pair, false, lane.posted.front().due});
			if (!lane.executed.empty() && held == held_chains_.end())
				all.push_back({pair, true, lane.executed.front().due});
		}
		return all;
	}
	bool move_lane()
	{
		const std::vector<Ready> all = ready_lanes();
		if (all.empty())
			return false;
		move_lane(all[random_() % all.size()]);
		return true;
	}
	/** Executes one request, or completes one chain. */
	void move_lane(const Ready &ready)
	{
		count_delivery({ready.pair.first.first, ready.pair.second.first});
		Lane &lane = lanes_[ready.pair];
		if (ready.completes)
			complete(ready.pair.first, lane);
		else
			execute(ready.pair.second, lane);
	}
	void execute(const Life &home, Lane &lane)
	{
		lane.responder.failed |= !lives(home);
		Timed &first = lane.posted.front();
		if (!first.chain.execute(lent(home.first).device, lane.responder))
			end(lane);
		if (!first.chain.is_executed())
			return;
		first.due = now_ + hop;
		lane.executed.push_back(std::move(first));
		lane.posted.pop_front();
	}
	void complete(const Life &poster, Lane &lane)
	{
		const ChainUnderWay chain = std::move(lane.executed.front().chain);
		lane.executed.pop_front();
		if (lives(poster))
			latch(poster.first).completed(chain.token(), chain.deliver());
	}
	static void end(Lane &lane)
	{
		lane.is_broken = true;
		for (auto *const chains : {&lane.posted, &lane.executed}) {
			for (Timed &timed : *chains)
				timed.chain.fail();
		}
	}

	bool move_report()
	{
		if (reports_.empty())
			return false;
		move_report(random_() % reports_.size());
		return true;
	}
	void move_report(std::size_t place)
	{
		const Report report = reports_[place];
		reports_.erase(reports_.begin() + static_cast<std::ptrdiff_t>(place));
		if (lives(report.home))
			free(lent(report.home.first), report.address);
	}
	void free(LentMemory &home, std::uint64_t address)
	{
		bool is_used = std::ranges::find(home.device.free, address) != home.device.free.end();
		for (std::uint64_t block = 0; block < shape_.blocks; block++)
			is_used |= home.region.entry(block).value.ptr == address;
		if (is_used)
			on_freed_twice();
		else
			home.device.free.push_back(address);
	}

	[[nodiscard]] std::string disorder_of(NodeId home, bool lost)
	{
		std::set<std::uint64_t> buffers(lent(home).device.free.begin(), lent(home).device.free.end());
		std::size_t count = lent(home).device.free.size();
		for (std::uint64_t block = 0; block < shape_.blocks; block++) {
			const latch::Entry entry = lent(home).region.entry(block);
			if (entry.waiter)
				return "an entry has a waiter, and nobody waits";
			for (NodeId id = 0; id < size(); id++) {
				const bool names =
					latch::node_of(entry.writer) == id || (entry.sharers & prism::gam::bit(id));
				if (is_dead(id) && names)
					return "an entry names a dead node";
			}
			count += entry.value.ptr != 0;
			buffers.insert(entry.value.ptr);
			buffers.erase(0);
		}
		if (buffers.size() != count)
			return "a buffer is in two places";
		return lost || count == shape_.blocks + shape_.spares ? "" : "a buffer is lost";
	}

	const Shape shape_;
	std::mt19937_64 random_;
	std::multimap<std::uint64_t, std::function<void()>> timers_;
	std::vector<std::unique_ptr<Home>> homes_;
	std::vector<std::unique_ptr<Home>> graves_;
	std::uint64_t lives_ = 0;
	std::map<QueuePair, Lane> lanes_;
	std::map<NodeId, bool> held_chains_; /* true: only their answers */
	std::vector<Report> reports_;
};

} // namespace gam_test
