/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes of the latch protocol in this process: homes are plain memory, and chains are delayed like messages. The thread
 * that polls a node executes the chains that the node has posted, a request at a time, so that others come between
 * them.
 */
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "bench/gam/simulated/lent_memory.hpp"
#include "cluster.hpp"
#include "gam/one_sided/latch.hpp"

namespace prism::gam::test
{

class LatchMaking final : public Making
{
public:
	explicit LatchMaking(const ClusterOptions &options, const latch::Rules &rules = {})
		: options_(options), rules_(rules)
	{
		for (NodeId self = 0; self < options.nodes; self++)
			ends_.push_back(std::make_unique<End>(*this, self));
	}

	Network &network(NodeId self, Network &messages) override
	{
		ends_[self]->messages = &messages;
		return *ends_[self];
	}
	std::unique_ptr<Coherence> make(NodeId self, Coherence::Host &host, std::size_t shard) override
	{
		End &end = *ends_[self];
		latch::Options latch;
		latch.self = self;
		latch.rules = rules_;
		latch.memory = end.working[shard]->working();
		latch.region = &end.lent.region;
		latch.rest = std::chrono::microseconds(1);
		latch.shards = options_.node.shards;
		latch.shard = shard;
		auto made = std::make_unique<Latch>(latch, host, end);
		end.shards[shard] = made.get();
		return made;
	}
	void start(NodeId self, Node &node) override { ends_[self]->node = &node; }

private:
	using Clock = LoopbackDelays::Clock;

	class End final : public Network, public latch::Homes
	{
	public:
		End(LatchMaking &around, NodeId self)
			: lent(around.layout(), self), shards(around.options_.node.shards), all_(around),
			  delays_(around.options_.delays), random_(delays_.seed * max_nodes + self),
			  lanes_(around.options_.nodes)
		{
			const std::size_t lines = around.options_.lines / shards.size();
			for (std::size_t shard = 0; shard < shards.size(); shard++)
				working.push_back(std::make_unique<simulated::AlignedBytes>(
					lines * latch::WorkingMemory::bytes_of_line));
		}

		/* Network */
		void send(NodeId to, const Message &message) noexcept override { messages->send(to, message); }
		void flush() noexcept override { messages->flush(); }
		std::size_t poll(Listener &listener) noexcept override
		{
			std::size_t count = messages->poll(listener);
			for (NodeId home = 0; node && home < lanes_.size(); home++)
				count += go_on(home);
			return count;
		}

		/* latch::Homes */
		[[nodiscard]] const latch::HomeMemory *find(NodeId home) const noexcept override
		{
			return home < all_.ends_.size() ? &all_.ends_[home]->lent.described : nullptr;
		}
		int post(NodeId home, const Chain &chain, std::uint64_t token) noexcept override
		{
			const std::scoped_lock guard(lock_);
			Lane &lane = lanes_[home];
			lane.chains.push_back(
				{delays_.now() + delays_.next(random_), simulated::ChainUnderWay(token, chain)});
			return 0;
		}
		void give_back(NodeId home, std::uint64_t address) noexcept override
		{
			End &end = *all_.ends_[home];
			const std::scoped_lock guard(end.memory_lock_);
			end.lent.device.free.push_back(address);
		}

		simulated::LentMemory lent;
		std::vector<std::unique_ptr<simulated::AlignedBytes>> working; /* of each shard */
		std::vector<Latch *> shards;
		Network *messages = nullptr;
		Node *node = nullptr;

	private:
		struct Timed {
			Clock::time_point due; /* of the next request, or of the completion */
			simulated::ChainUnderWay chain;
		};
		/** Queue pair. */
		struct Lane {
			std::deque<Timed> chains;
			simulated::Responder responder;
		};

		/**
		 * Executes the requests to @p home and delivers the completions that are due. Returns the number of
		 * completed chains. One thread at a time.
		 */
		std::size_t go_on(NodeId home)
		{
			std::size_t completed = 0;
			while (Timed *const first = next(home)) {
				if (!first->chain.is_executed()) {
					execute(home, *first);
					continue;
				}
				const std::uint64_t token = first->chain.token();
				const latch::Outcome outcome = first->chain.deliver();
				{
					const std::scoped_lock guard(lock_);
					lanes_[home].chains.pop_front();
				}
				node->with_shard(Latch::block_of(token),
					[&](std::size_t shard) { shards[shard]->completed(token, outcome); });
				completed++;
			}
			return completed;
		}
		/** Returns the first chain to @p home if it is due, else null. It stays in place while others post. */
		Timed *next(NodeId home)
		{
			const std::scoped_lock guard(lock_);
			std::deque<Timed> &chains = lanes_[home].chains;
			return chains.empty() || chains.front().due > delays_.now() ? nullptr : &chains.front();
		}
		void execute(NodeId home, Timed &timed)
		{
			End &end = *all_.ends_[home];
			{
				const std::scoped_lock guard(end.memory_lock_);
				timed.chain.execute(end.lent.device, lanes_[home].responder);
			}
			const std::scoped_lock guard(lock_);
			timed.due += delays_.next(random_);
		}

		LatchMaking &all_;
		const LoopbackDelays delays_;
		std::mutex lock_; /* protects the posted chains */
		std::mt19937_64 random_;
		std::vector<Lane> lanes_;
		std::mutex memory_lock_; /* the device does one step after the other */
	};

	[[nodiscard]] latch::Layout layout() const
	{
		const std::uint64_t blocks = options_.node.bytes / block_size;
		return {blocks, options_.nodes * options_.lines};
	}

	const ClusterOptions options_;
	const latch::Rules rules_;
	std::vector<std::unique_ptr<End>> ends_;
};

} // namespace prism::gam::test
