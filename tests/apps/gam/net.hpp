/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes of any protocol, joined in memory: messages between two of them keep their order; those of different pairs
 * overtake each other at random, by seed, or as a test wants.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gam/coherence/coherence.hpp"

namespace gam_test
{

using prism::gam::Access;
using prism::gam::Address;
using prism::gam::Coherence;
using prism::gam::Message;
using prism::gam::NodeId;

class Net
{
public:
	/** Sender and receiver. */
	using Pair = std::pair<NodeId, NodeId>;
	using Make = std::function<std::unique_ptr<Coherence>(NodeId, Coherence::Host &)>;

	/** @p make: makes the protocol's object for each of @p nodes. */
	Net(std::size_t nodes, const Make &make, std::uint64_t seed = 1) : Net(seed) { add_nodes(nodes, make); }
	virtual ~Net() = default;
	Net(const Net &) = delete;
	Net &operator=(const Net &) = delete;

	[[nodiscard]] std::size_t size() const noexcept { return stations_.size(); }
	[[nodiscard]] Coherence &node(NodeId id) { return *stations_[id]->node; }

	/** Holds messages of @p pair until release(). */
	void hold(Pair pair) { held_.insert(pair); }
	void release(Pair pair) { held_.erase(pair); }
	void release_all() { held_.clear(); }

	/** Delivers one message of a random pair. Returns false if none can be delivered. */
	virtual bool step()
	{
		const std::vector<Pair> pairs = ready();
		if (pairs.empty())
			return false;
		deliver(pairs[random_() % pairs.size()]);
		return true;
	}

	/** Runs until nothing moves. Returns false if @p steps do not suffice. */
	bool run(std::size_t steps = 1'000'000)
	{
		while (steps-- > 0) {
			if (!step())
				return true;
		}
		return false;
	}

	/** Delivers the first message of @p pair, even if it is held. Returns false if there is none. */
	bool deliver(Pair pair)
	{
		auto &messages = under_way_[pair];
		if (messages.empty())
			return false;
		const std::vector<std::byte> bytes = std::move(messages.front().bytes);
		messages.pop_front();
		const auto message = Message::parse(bytes);
		count_delivery(pair);
		if (!dead_.contains(pair.second) && !intercept(pair, *message))
			node(pair.second).hear(pair.first, *message);
		return true;
	}

	/** Kills @p id: messages to it are lost. Messages that it has sent may still arrive until tell(). */
	void kill(NodeId id)
	{
		dead_.insert(id);
		for (auto &[pair, messages] : under_way_) {
			if (pair.second == id)
				messages.clear();
		}
	}
	[[nodiscard]] bool is_dead(NodeId id) const { return dead_.contains(id); }
	/** Tells @p id that @p dead is dead; no more messages of that node arrive. */
	virtual void tell(NodeId id, NodeId dead)
	{
		under_way_[{dead, id}].clear();
		if (!dead_.contains(id))
			node(id).lost(dead);
	}
	/** Gives the number of a dead node to another one, which make() makes. */
	virtual void revive(NodeId id)
	{
		for (auto &[pair, messages] : under_way_) {
			if (pair.first == id || pair.second == id)
				messages.clear();
		}
		dead_.erase(id);
		stations_[id]->node = make_(id, *stations_[id]);
	}
	/** Tells all live nodes. */
	void tell_of(NodeId dead)
	{
		for (const auto &station : stations_)
			tell(station->id, dead);
	}

	/** Returns the numbers of messages sent since the last call, by type. */
	std::map<std::uint8_t, std::size_t> count() { return std::exchange(sent_, {}); }
	[[nodiscard]] std::size_t under_way() const
	{
		std::size_t all = 0;
		for (const auto &[pair, messages] : under_way_)
			all += messages.size();
		return all;
	}
	[[nodiscard]] std::size_t under_way(Pair pair) const
	{
		const auto found = under_way_.find(pair);
		return found == under_way_.end() ? 0 : found->second.size();
	}
	/** Return the numbers of deliveries from or to @p id, and in total. */
	[[nodiscard]] std::uint64_t delivered_of(NodeId id) const
	{
		const auto found = delivered_.find(id);
		return found == delivered_.end() ? 0 : found->second;
	}
	[[nodiscard]] std::uint64_t delivered() const
	{
		std::uint64_t all = 0;
		for (const auto &[id, count] : delivered_)
			all += count;
		return all / 2;
	}
	/** Adds a message that no node has sent. */
	void inject(Pair pair, const Message &message)
	{
		std::vector<std::byte> bytes(message.size());
		message.serialize(bytes.data());
		under_way_[pair].push_back({now_, std::move(bytes)});
	}

	/** Called with each access that ends by Host::ended(). */
	std::function<void(NodeId, Access &)> on_ended = [](NodeId, Access &) {};
	/** Returns true to keep the message from the protocol's object. */
	std::function<bool(Pair, const Message &)> intercept = [](Pair, const Message &) { return false; };
	/** Answers Host::has_room(). */
	std::function<bool(Pair)> has_room = [](Pair) { return true; };
	/** Answers Host::is_allocated() for the blocks of a home. */
	std::function<bool(Address)> is_allocated = [](Address) { return true; };

protected:
	explicit Net(std::uint64_t seed) : random_(seed) {}
	/** Call once. */
	void add_nodes(std::size_t nodes, const Make &make)
	{
		make_ = make;
		for (NodeId id = 0; id < nodes; id++)
			stations_.push_back(std::make_unique<Station>(*this, id));
		for (const auto &station : stations_)
			station->node = make(station->id, *station);
	}

	[[nodiscard]] bool is_held(Pair pair) const { return held_.contains(pair); }
	/** Returns the pairs whose next message is not held. */
	[[nodiscard]] std::vector<Pair> ready() const
	{
		std::vector<Pair> pairs;
		for (const auto &[pair, messages] : under_way_) {
			if (!messages.empty() && !is_held(pair))
				pairs.push_back(pair);
		}
		return pairs;
	}
	/** Returns the time at which the next message of @p pair was sent. */
	[[nodiscard]] std::uint64_t sent_at(Pair pair) const { return under_way_.at(pair).front().sent; }
	void count_delivery(Pair pair)
	{
		delivered_[pair.first]++;
		delivered_[pair.second]++;
	}

	std::uint64_t now_ = 0; /* for networks with a clock */

private:
	struct Letter {
		std::uint64_t sent;
		std::vector<std::byte> bytes;
	};
	struct Station final : Coherence::Host {
		Station(Net &around, NodeId number) : net(around), id(number) {}
		void send(NodeId to, const Message &message) override
		{
			net.sent_[message.type]++;
			if (!net.is_dead(to))
				net.inject({id, to}, message);
		}
		[[nodiscard]] bool has_room(NodeId to) const override { return net.has_room({id, to}); }
		void ended(Access &access) override { net.on_ended(id, access); }
		[[nodiscard]] bool is_allocated(Address block) const override { return net.is_allocated(block); }

		Net &net;
		const NodeId id;
		std::unique_ptr<Coherence> node;
	};

	Make make_;
	std::vector<std::unique_ptr<Station>> stations_;
	std::map<Pair, std::deque<Letter>> under_way_;
	std::set<Pair> held_;
	std::set<NodeId> dead_;
	std::map<std::uint8_t, std::size_t> sent_;
	std::map<NodeId, std::uint64_t> delivered_;
	std::mt19937_64 random_;
};

} // namespace gam_test
