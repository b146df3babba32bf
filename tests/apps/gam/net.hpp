/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes of any protocol, joined in memory: messages between two of them keep their order, and those of different pairs
 * overtake each other as a seeded random, or a test, has it.
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
	/** From one node to another. */
	using Pair = std::pair<NodeId, NodeId>;
	using Make = std::function<std::unique_ptr<Coherence>(NodeId, Coherence::Host &)>;

	/** @p make: the object of each of @p nodes. */
	Net(std::size_t nodes, const Make &make, std::uint64_t seed = 1) : make_(make), random_(seed)
	{
		for (NodeId id = 0; id < nodes; id++)
			stations_.push_back(std::make_unique<Station>(*this, id));
		for (const auto &station : stations_)
			station->node = make(station->id, *station);
	}
	Net(const Net &) = delete;
	Net &operator=(const Net &) = delete;

	[[nodiscard]] std::size_t size() const noexcept { return stations_.size(); }
	[[nodiscard]] Coherence &node(NodeId id) { return *stations_[id]->node; }

	/** Messages of @p pair stay where they are, until release(). */
	void hold(Pair pair) { held_.insert(pair); }
	void release(Pair pair) { held_.erase(pair); }
	void release_all() { held_.clear(); }

	/** Delivers one message of a pair picked at random. False: none can be. */
	bool step()
	{
		std::vector<Pair> ready;
		for (const auto &[pair, messages] : under_way_) {
			if (!messages.empty() && !held_.contains(pair))
				ready.push_back(pair);
		}
		if (ready.empty())
			return false;
		deliver(ready[random_() % ready.size()]);
		return true;
	}

	/** Until nothing moves. Bounded: false if it does not end. */
	bool run(std::size_t steps = 1'000'000)
	{
		while (steps-- > 0) {
			if (!step())
				return true;
		}
		return false;
	}

	/** The first message of @p pair, whether held or not. False: there is none. */
	bool deliver(Pair pair)
	{
		auto &messages = under_way_[pair];
		if (messages.empty())
			return false;
		const std::vector<std::byte> bytes = std::move(messages.front());
		messages.pop_front();
		const auto message = Message::parse(bytes);
		delivered_[pair.first]++;
		delivered_[pair.second]++;
		if (!dead_.contains(pair.second) && !intercept(pair, *message))
			node(pair.second).hear(pair.first, *message);
		return true;
	}

	/** @p id dies: what is sent to it is lost. What it has sent may still come, until tell(). */
	void kill(NodeId id)
	{
		dead_.insert(id);
		for (auto &[pair, messages] : under_way_) {
			if (pair.second == id)
				messages.clear();
		}
	}
	[[nodiscard]] bool is_dead(NodeId id) const { return dead_.contains(id); }
	/** @p id learns that @p dead is; nothing of that comes any more. */
	void tell(NodeId id, NodeId dead)
	{
		under_way_[{dead, id}].clear();
		if (!dead_.contains(id))
			node(id).lost(dead);
	}
	/** The number of a dead node is given to another, which make() makes. */
	void revive(NodeId id)
	{
		for (auto &[pair, messages] : under_way_) {
			if (pair.first == id || pair.second == id)
				messages.clear();
		}
		dead_.erase(id);
		stations_[id]->node = make_(id, *stations_[id]);
	}
	/** Tells all that live. */
	void tell_of(NodeId dead)
	{
		for (const auto &station : stations_)
			tell(station->id, dead);
	}

	/** What has been sent since count() was called last, by type. */
	std::map<std::uint8_t, std::size_t> count() { return std::exchange(sent_, {}); }
	[[nodiscard]] std::size_t under_way() const
	{
		std::size_t all = 0;
		for (const auto &[pair, messages] : under_way_)
			all += messages.size();
		return all;
	}
	/** Messages that have come, from @p id or to it, and all. */
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
	/** A message that has not come from a node. */
	void inject(Pair pair, const Message &message)
	{
		std::vector<std::byte> bytes(message.size());
		message.serialize(bytes.data());
		under_way_[pair].push_back(std::move(bytes));
	}

	/** Called with each access that ends by Host::ended(). */
	std::function<void(NodeId, Access &)> on_ended = [](NodeId, Access &) {};
	/** True: the message was not for the protocol's object. */
	std::function<bool(Pair, const Message &)> intercept = [](Pair, const Message &) { return false; };
	/** Of the blocks of a home. */
	std::function<bool(Address)> is_allocated = [](Address) { return true; };

private:
	struct Station final : Coherence::Host {
		Station(Net &around, NodeId number) : net(around), id(number) {}
		void send(NodeId to, const Message &message) override
		{
			net.sent_[message.type]++;
			if (!net.is_dead(to))
				net.inject({id, to}, message);
		}
		void ended(Access &access) override { net.on_ended(id, access); }
		[[nodiscard]] bool is_allocated(Address block) const override { return net.is_allocated(block); }

		Net &net;
		const NodeId id;
		std::unique_ptr<Coherence> node;
	};

	const Make make_;
	std::vector<std::unique_ptr<Station>> stations_;
	std::map<Pair, std::deque<std::vector<std::byte>>> under_way_;
	std::set<Pair> held_;
	std::set<NodeId> dead_;
	std::map<std::uint8_t, std::size_t> sent_;
	std::map<NodeId, std::uint64_t> delivered_;
	std::mt19937_64 random_;
};

} // namespace gam_test
