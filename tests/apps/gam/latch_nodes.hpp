/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes that speak the latch protocol, in virtual time: a message, a chain on its way and its answer take a hop each.
 * Messages between two nodes keep their order, as do the chains of a queue pair; all else is reordered by a seed.
 */
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "begin.hpp"
#include "gam/one_sided/latch.hpp"
#include "one_sided.hpp"

namespace gam_test
{

using namespace prism::gam;

/** Access of 8 bytes, and its result. */
struct LatchAsk : Access {
	bool is_over = false;
	std::uint64_t value = 0; /* read, or to be written */
	NodeId node = 0;
	std::uint64_t began = 0; /* for tests */
};

class LatchNet
{
public:
	struct Shape {
		std::size_t nodes = 4;
		std::size_t lines = 8;
		std::uint64_t blocks = 8; /* of each home */
		std::uint64_t spares = 64;
		std::uint64_t seed = 0; /* 0: all hops take the same time */
		unsigned patience = 4;
	};

	static constexpr std::uint64_t hop = 1000;

	explicit LatchNet(const Shape &shape) : shape_(shape), random_(shape.seed)
	{
		for (NodeId id = 0; id < shape.nodes; id++)
			nodes_.push_back(std::make_unique<Node>(*this, id));
		for (const auto &node : nodes_)
			node->make();
	}
	LatchNet(const LatchNet &) = delete;
	LatchNet &operator=(const LatchNet &) = delete;

	[[nodiscard]] std::size_t size() const { return nodes_.size(); }
	Latch &node(NodeId id) { return *nodes_[id]->latch; }
	[[nodiscard]] latch::Entry entry(Address at) const
	{
		return nodes_[at.home()]->region.entry(at.block_number());
	}
	/** Overwrites an entry, as a hostile node may. */
	void write_entry(Address at, const latch::Entry &entry)
	{
		std::memcpy(&nodes_[at.home()]->aligned[nodes_[at.home()]->region.layout().entry(at.block_number())],
			&entry, sizeof(entry));
	}
	latch::Region &region(NodeId home) { return nodes_[home]->region; }
	OneSidedMemory &device(NodeId home) { return nodes_[home]->device; }
	[[nodiscard]] std::uint64_t now() const { return now_; }

	void begin(NodeId id, LatchAsk &ask)
	{
		ask.node = id;
		ask.is_over = prism::gam::begin(node(id), ask);
		if (ask.is_over)
			on_over(ask);
	}

	void at(std::uint64_t time, std::function<void()> what) { events_.emplace(time, std::move(what)); }

	/** Runs the next event. Returns false if there is none. */
	bool step()
	{
		if (events_.empty())
			return false;
		auto first = events_.extract(events_.begin());
		now_ = std::max(now_, first.key());
		first.mapped()();
		after_step();
		return true;
	}
	/** Runs until all live nodes are at rest. Returns false if @p steps do not suffice. */
	bool run(std::size_t steps = 1'000'000)
	{
		while (steps-- > 0) {
			if (!step() && is_at_rest())
				return true;
			if (events_.empty() || steps % 64 == 0)
				tick();
		}
		return false;
	}
	/** Runs until nothing moves by itself; does not call on_time(). */
	void drain()
	{
		while (step()) {}
	}
	void tick()
	{
		now_ += events_.empty() ? 50 * hop : 0;
		for (const auto &each : nodes_) {
			if (!each->is_dead)
				(void)each->latch->on_time(Time(now_));
		}
	}
	[[nodiscard]] bool is_at_rest() const
	{
		return std::all_of(nodes_.begin(), nodes_.end(),
			[](const auto &each) { return each->is_dead || each->latch->at_rest(); });
	}

	/** Holds messages from one node to another until release(). */
	void hold(NodeId from, NodeId to) { held_.insert({from, to}); }
	void release(NodeId from, NodeId to)
	{
		held_.erase({from, to});
		auto waiting = std::exchange(waiting_[{from, to}], {});
		for (auto &what : waiting)
			at(arrival(from, to), std::move(what));
	}
	/** Hold back the completions of @p id's chains, or even their execution, until release_chains(). */
	void hold_answers(NodeId id) { held_chains_.insert({id, true}); }
	void hold_posts(NodeId id) { held_chains_.insert({id, false}); }
	void release_chains(NodeId id)
	{
		held_chains_.erase(id);
		for (auto &what : std::exchange(waiting_chains_[id], {}))
			at(now_ + hop, std::move(what));
	}
	void inject(NodeId from, NodeId to, const Message &message)
	{
		std::vector<std::byte> bytes(message.size());
		message.serialize(bytes.data());
		auto deliver = [this, from, to, bytes] {
			Node &target = *nodes_[to];
			if (!target.is_dead && !target.cut_off.contains(from))
				target.latch->hear(from, *Message::parse(bytes));
		};
		if (held_.contains({from, to}))
			waiting_[{from, to}].push_back(std::move(deliver));
		else
			at(arrival(from, to), std::move(deliver));
	}

	/* Death, in this order: */
	/** Stops the node; its messages and chains are still under way. */
	void kill(NodeId id) { nodes_[id]->is_dead = true; }
	[[nodiscard]] bool is_dead(NodeId id) const { return nodes_[id]->is_dead; }
	/** Ends its queue pairs: neither its chains nor those of others to it are executed any more. */
	void end_queue_pairs(NodeId dead)
	{
		for (const auto &each : nodes_) {
			each->responders[dead].failed = true;
			nodes_[dead]->responders[each->id].failed = true;
		}
	}
	void tell_of(NodeId dead, NodeId id)
	{
		if (nodes_[id]->is_dead)
			return;
		nodes_[id]->cut_off.insert(dead);
		node(id).lost(dead);
	}

	/* End of a queue pair between two live nodes: */
	/** Ends it: no request of @p from to @p home is executed any more, and nobody knows which ones were. */
	void break_pair(NodeId from, NodeId home) { broken_.insert({from, home}); }
	[[nodiscard]] bool is_broken(NodeId from, NodeId home) const { return broken_.contains({from, home}); }
	/** Replaces it by a new one. */
	void mend_pair(NodeId from, NodeId home)
	{
		broken_.erase({from, home});
		lives_[{from, home}]++;
		nodes_[home]->responders[from] = {};
	}

	std::function<void(LatchAsk &)> on_over = [](LatchAsk &) {};
	std::function<void()> after_step = [] {};
	std::function<bool(Address)> is_allocated = [](Address) { return true; };
	std::size_t full_queues = 0; /* posts still to be answered EAGAIN */
	std::size_t freed_twice = 0;

private:
	struct Node final : Coherence::Host, latch::Homes {
		Node(LatchNet &around, NodeId number)
			: net(around), id(number), layout{net.shape_.blocks, net.shape_.spares},
			  memory(layout.bytes() + block_size), aligned(align(memory)), region(aligned, layout),
			  device(aligned, id + 1U),
			  working(net.shape_.lines * latch::WorkingMemory::bytes_of_line + block_size)
		{
			const std::uint64_t first = device.region().address + layout.buffers();
			for (std::uint64_t i = 0; i < layout.buffer_count(); i++)
				device.free.push_back(first + i * block_size);
			described = {device.region(), layout, OneSidedMemory::free_list};
		}
		void make()
		{
			latch::Options options;
			options.self = id;
			options.memory.bytes = align(working);
			options.memory.address = reinterpret_cast<std::uint64_t>(options.memory.bytes.data());
			options.region = &region;
			options.patience = net.shape_.patience;
			options.rest = Time(10 * hop);
			latch = std::make_unique<Latch>(options, *this, *this);
		}
		static std::span<std::byte> align(std::vector<std::byte> &bytes)
		{
			const auto address = reinterpret_cast<std::uint64_t>(bytes.data());
			const std::uint64_t skip = (block_size - address % block_size) % block_size;
			return std::span(bytes).subspan(skip, bytes.size() - block_size);
		}

		void send(NodeId to, const Message &message) override
		{
			if (to < net.size())
				net.inject(id, to, message);
		}
		void ended(Access &access) override
		{
			auto &ask = static_cast<LatchAsk &>(access);
			ask.is_over = true;
			net.on_over(ask);
		}
		[[nodiscard]] bool is_allocated(Address block) const override { return net.is_allocated(block); }

		[[nodiscard]] const latch::HomeMemory *find(NodeId home) const noexcept override
		{
			return home < net.size() ? &net.nodes_[home]->described : nullptr;
		}
		int post(NodeId home, const prism::Chain &chain, std::uint64_t token) noexcept override
		{
			if (net.full_queues) {
				net.full_queues--;
				return EAGAIN;
			}
			if (net.is_broken(id, home))
				return EAGAIN;
			net.post(*this, *net.nodes_[home], Recorder::requests_of(chain), token);
			return 0;
		}
		void give_back(NodeId home, std::uint64_t address) noexcept override
		{
			net.at(net.now_ + net.delay(), [this, home, address] { net.free(home, address); });
		}

		LatchNet &net;
		const NodeId id;
		const latch::Layout layout;
		std::vector<std::byte> memory;
		std::span<std::byte> aligned;
		latch::Region region;
		OneSidedMemory device;
		std::vector<std::byte> working;
		latch::HomeMemory described;
		std::map<NodeId, Responder> responders;
		std::unique_ptr<Latch> latch;
		std::set<NodeId> cut_off;
		bool is_dead = false;
	};
	using Pair = std::pair<NodeId, NodeId>;

	std::uint64_t delay() { return shape_.seed ? 1 + random_() % (2 * hop) : hop; }
	std::uint64_t in_order(std::uint64_t &last, std::uint64_t time) { return last = std::max(last, time); }
	std::uint64_t arrival(NodeId from, NodeId to) { return in_order(messages_[{from, to}], now_ + delay()); }

	void post(Node &from, Node &home, const std::vector<Request> &requests, std::uint64_t token)
	{
		const auto held = held_chains_.find(from.id);
		if (held != held_chains_.end() && !held->second) {
			waiting_chains_[from.id].push_back(
				[this, &from, &home, requests, token] { post(from, home, requests, token); });
			return;
		}
		struct Progress {
			std::vector<Answer> answers;
			bool refused = false;
		};
		const auto progress = std::make_shared<Progress>();
		const Pair pair{from.id, home.id};
		const auto has_ended = [this, pair, life = lives_[pair]] {
			return broken_.contains(pair) || lives_[pair] != life;
		};
		std::uint64_t time = now_ + delay();
		for (const Request &request : requests) {
			time = in_order(executed_[pair], time);
			at(time, [this, pair, &from, &home, request, progress, has_ended] {
				Responder &responder = home.responders[from.id];
				Responder ended{.failed = true};
				const bool failed = has_ended() || responder.failed;
				progress->answers.push_back(home.device.execute(request, failed ? ended : responder));
				if (!progress->answers.back().failed || failed)
					return;
				progress->refused = true;
				break_pair(pair.first, pair.second);
			});
			time += shape_.seed ? random_() % hop : 0;
		}
		auto complete = [&from, progress, token, has_ended] {
			latch::Outcome outcome;
			outcome.failed = has_ended();
			outcome.refused = progress->refused;
			for (const Answer &answer : progress->answers) {
				outcome.failed |= answer.failed;
				answer.deliver();
			}
			outcome.status = progress->answers.back().status;
			outcome.bytes = static_cast<std::uint32_t>(progress->answers.back().bytes.size());
			if (!from.is_dead)
				from.latch->completed(token, outcome);
		};
		at(in_order(answered_[pair], executed_[pair] + delay()), [this, &from, complete] {
			if (held_chains_.contains(from.id))
				waiting_chains_[from.id].push_back(complete);
			else
				complete();
		});
	}

	void free(NodeId home, std::uint64_t address)
	{
		auto &list = nodes_[home]->device.free;
		const bool is_free = std::find(list.begin(), list.end(), address) != list.end();
		bool is_reachable = false;
		for (std::uint64_t block = 0; block < shape_.blocks; block++)
			is_reachable |= nodes_[home]->region.entry(block).value.ptr == address;
		if (is_free || is_reachable)
			freed_twice++;
		else
			list.push_back(address);
	}

	Shape shape_;
	std::mt19937_64 random_;
	std::uint64_t now_ = 0;
	std::multimap<std::uint64_t, std::function<void()>> events_;
	std::map<Pair, std::uint64_t> messages_, executed_, answered_;
	std::set<Pair> held_, broken_;
	std::map<Pair, unsigned> lives_; /* number of replacements of queue pairs */
	std::map<Pair, std::vector<std::function<void()>>> waiting_;
	std::map<NodeId, bool> held_chains_; /* true: only their answers */
	std::map<NodeId, std::vector<std::function<void()>>> waiting_chains_;
	std::vector<std::unique_ptr<Node>> nodes_;
};

struct LatchNodes : testing::Test {
	LatchNet::Shape shape;
	std::unique_ptr<LatchNet> net;
	std::vector<std::unique_ptr<LatchAsk>> asked;

	void make()
	{
		net = std::make_unique<LatchNet>(shape);
		for (NodeId id = 0; id < shape.nodes; id++)
			net->region(id).lend(1, shape.blocks - 1);
	}
	void SetUp() override { make(); }

	static Address block(std::uint64_t number = 1, NodeId home = 0) { return {home, number * block_size}; }
	Latch &node(NodeId id) { return net->node(id); }

	LatchAsk &begin(NodeId id, AccessKind kind, Address at, std::uint64_t value = 0, ThreadId thread = 1,
		bool tries = false, bool uncached = false)
	{
		LatchAsk &ask = *asked.emplace_back(std::make_unique<LatchAsk>());
		ask.kind = kind;
		ask.function = Function::add;
		ask.at = at;
		ask.length = sizeof(ask.value);
		ask.bytes = reinterpret_cast<std::byte *>(&ask.value);
		ask.value = ask.operand = value;
		ask.thread = thread;
		ask.tries = tries;
		ask.uncached = uncached;
		net->begin(id, ask);
		return ask;
	}
	LatchAsk &read(NodeId id, Address at) { return begin(id, AccessKind::read, at); }
	LatchAsk &write(NodeId id, Address at, std::uint64_t value) { return begin(id, AccessKind::write, at, value); }
	LatchAsk &add(NodeId id, Address at, std::uint64_t value) { return begin(id, AccessKind::atomic, at, value); }
	LatchAsk &read_lock(NodeId id, Address at, ThreadId thread = 1, bool tries = false)
	{
		return begin(id, AccessKind::read_lock, at, 0, thread, tries);
	}
	LatchAsk &write_lock(NodeId id, Address at, ThreadId thread = 1, bool tries = false)
	{
		return begin(id, AccessKind::write_lock, at, 0, thread, tries);
	}
	int unlock(NodeId id, Address at, ThreadId thread = 1)
	{
		LatchAsk &ask = begin(id, AccessKind::unlock, at, 0, thread);
		EXPECT_TRUE(ask.is_over) << "nothing waits to unlock";
		return ask.error;
	}

	/** Runs until only held messages and chains are left; @p ask must be over then. Returns its value. */
	std::uint64_t result(LatchAsk &ask)
	{
		net->drain();
		for (int turns = 0; turns < 100 && !ask.is_over; turns++) {
			net->tick();
			net->drain();
		}
		EXPECT_TRUE(ask.is_over);
		EXPECT_EQ(ask.error, 0);
		return ask.kind == AccessKind::atomic ? ask.old_value : ask.value;
	}
	int error(LatchAsk &ask)
	{
		net->drain();
		EXPECT_TRUE(ask.is_over);
		return ask.error;
	}
	std::uint64_t reads(NodeId id, Address at) { return result(read(id, at)); }
	void writes(NodeId id, Address at, std::uint64_t value) { result(write(id, at, value)); }

	CoherenceStats total()
	{
		CoherenceStats sum;
		for (NodeId id = 0; id < net->size(); id++)
			sum += node(id).stats();
		return sum;
	}

	/**
	 * Checks that lines and entries agree, and that each buffer is either reachable or free, once. @p lost: some
	 * may be neither.
	 */
	void expect_rest(bool lost = false)
	{
		EXPECT_TRUE(net->run());
		EXPECT_EQ(net->freed_twice, 0U);
		for (NodeId home = 0; home < net->size(); home++) {
			if (net->is_dead(home))
				continue;
			std::set<std::uint64_t> buffers(net->device(home).free.begin(), net->device(home).free.end());
			std::size_t count = net->device(home).free.size();
			for (std::uint64_t number = 0; number < shape.blocks; number++) {
				expect_agreement(block(number, home));
				if (const std::uint64_t buffer = net->entry(block(number, home)).value.ptr) {
					buffers.insert(buffer);
					count++;
				}
			}
			EXPECT_EQ(buffers.size(), count) << "a buffer is in two places";
			EXPECT_TRUE(lost || count == shape.blocks + shape.spares) << "a buffer is lost: " << count;
		}
	}
	void expect_agreement(Address at)
	{
		const latch::Entry entry = net->entry(at);
		EXPECT_EQ(entry.waiter, 0);
		for (NodeId id = 0; id < net->size(); id++) {
			if (net->is_dead(id))
				continue;
			const latch::State state = node(id).state(at);
			EXPECT_EQ(latch::node_of(entry.writer) == id, state == latch::State::exclusive)
				<< "node " << id << " block " << at.value;
			EXPECT_TRUE(state != latch::State::shared || (entry.sharers & bit(id)))
				<< "node " << id << " block " << at.value;
		}
	}
};

} // namespace gam_test
