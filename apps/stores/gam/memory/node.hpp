/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/birth.hpp"
#include "gam/coherence/block_log.hpp"
#include "gam/coherence/coherence.hpp"
#include "gam/coherence/network.hpp"
#include "gam/memory/allocator.hpp"
#include "gam/memory/home.hpp"

namespace prism::gam
{

/** Which reorderings of a thread's accesses others may see (docs/prism-gam.md). */
enum class Consistency : std::uint8_t {
	pso, /**< a write ends later: reads and writes of other blocks pass it */
	tso, /**< reads pass a write; writes do not: one is under way at a time */
	sc,  /**< a write ends when it is performed */
};

struct NodeOptions {
	NodeId self = 0;
	std::uint64_t bytes = std::uint64_t{64} << 20; /**< lent to all; a multiple of block_size */
	std::size_t shards = 8;                        /**< objects that share the blocks; the same on all nodes */
	Consistency consistency = Consistency::pso;
	bool cached = true;         /**< false: no copies of other nodes' blocks, for comparison */
	BlockLog *log = nullptr;    /**< of what is allocated here; outlives the node. Null: nothing is logged */
	bool serves = true;         /**< a thread of the node's own answers others while no thread of the user waits */
	std::function<void()> rest; /**< lets others go on while a thread waits; null: pauses, then yields */
};

/**
 * One node: its blocks, those that it caches, and what it has lent. Threads use it through a Session each. Any thread
 * may call what is not said to be for another.
 */
class Node final : private Coherence::Host, private Network::Listener
{
public:
	/** Makes the protocol's object number @p shard, which reports to @p host. */
	using MakeCoherence = std::function<std::unique_ptr<Coherence>(Coherence::Host &host, std::size_t shard)>;
	/**
	 * Whether this node may not use any more what it has cached; others may believe that it is dead. Asked by
	 * threads of sessions, not inside of poll(): it may call lost().
	 */
	using LeaseIsOver = std::function<bool()>;
	using Clock = std::chrono::steady_clock;

	/** @p network stays while the node does. @p lease_is_over: null if there is no lease. */
	Node(const NodeOptions &options, Network &network, const MakeCoherence &make, LeaseIsOver lease_is_over = {});
	~Node() override;
	Node(const Node &) = delete;
	Node &operator=(const Node &) = delete;

	[[nodiscard]] const NodeOptions &options() const noexcept { return options_; }
	[[nodiscard]] NodeId self() const noexcept { return options_.self; }

	/** This process is a child of the one whose node it is: nothing can be done with it, and nothing is waited for.
	 */
	[[nodiscard]] bool is_inherited() const noexcept { return birth_.is_inherited(); }

	/** @p node is there. */
	void joined(NodeId node);
	/**
	 * @p node is dead or has left, and nothing of it comes any more: what waits for it ends with EHOSTUNREACH.
	 * This node itself: nothing begins any more. @p may_return: with a log, so that what is cached of it is of use.
	 */
	void lost(NodeId node, bool may_return = false);
	/** Nodes that are there, this one among them, by their numbers. */
	[[nodiscard]] std::vector<NodeId> members() const;
	[[nodiscard]] bool is_member(NodeId node) const noexcept
	{
		return node < max_nodes && (members_.load(std::memory_order_relaxed) >> node & 1);
	}

	/** It is dead, and may return with its log. */
	[[nodiscard]] bool is_away(NodeId node) const noexcept
	{
		return node < max_nodes && (away_.load(std::memory_order_relaxed) >> node & 1);
	}

	/** As a home that comes back, before anybody is told to have joined. */
	[[nodiscard]] Home &home() noexcept { return home_; }

	/** One turn: what has come, what is due. False: nothing, or another thread is at it. */
	bool poll();
	/** Polls until @p done says true. */
	template <typename Done>
	void wait_until(const Done &done)
	{
		if (is_inherited() || done())
			return;
		waiting_.fetch_add(1, std::memory_order_relaxed);
		for (unsigned idle = 0; !done();)
			idle = poll() ? 0 : rest(idle);
		waiting_.fetch_sub(1, std::memory_order_relaxed);
	}

	/** Then all calls of sessions fail with ESTALE, for good. */
	[[nodiscard]] bool lease_is_over() const { return lease_is_over_ && lease_is_over_(); }
	/** Sums over the shards. */
	[[nodiscard]] CoherenceStats stats();
	[[nodiscard]] std::uint64_t available() const noexcept { return home_.available(); }
	/** Bytes that @p node has said are free; of this node, as they are. */
	[[nodiscard]] std::uint64_t available(NodeId node) const noexcept;
	/** Writes back and forgets all copies of others' blocks that are not locked. Waits. */
	void flush();

	/** Calls @p function with the number of the shard of @p block, under its lock. */
	template <typename Function>
	void with_shard(Address block, const Function &function)
	{
		const std::size_t number = gam::shard_of(block, options_.shards);
		const std::scoped_lock guard(shards_[number].lock);
		function(number);
	}
	/** Calls @p function with the number of each shard, under its lock. */
	template <typename Function>
	void for_each_shard(const Function &function)
	{
		for (std::size_t number = 0; number < shards_.size(); number++) {
			const std::scoped_lock guard(shards_[number].lock);
			function(number);
		}
	}

private:
	friend class Session;
	friend class Home;

	struct alignas(64) Shard {
		std::mutex lock;
		std::unique_ptr<Coherence> coherence;
	};

	/* Of accesses beside the shards: of the threads that share it, most often one. */
	struct alignas(64) Hits {
		std::atomic<std::uint64_t> count{0};
	};

	[[nodiscard]] Shard &shard_of(Address block) noexcept { return shards_[gam::shard_of(block, options_.shards)]; }
	/** What has been logged until now is on the disk, if the log is durable. 0, or why it is not. */
	int wait_for_log();
	/** Begins @p access; its memory stays. True: it has ended. */
	bool start(Access &access);
	/** Likewise; before it is left on its way, @p keep() moves what it names to where that stays. */
	template <typename Keep>
	bool start(Access &access, const Keep &keep)
	{
		Shard &shard = shard_of(access.at.block());
		{
			const std::scoped_lock guard(shard.lock);
			if (shard.coherence->start(access))
				return true;
			keep();
		}
		network_.flush();
		return false;
	}
	/** See Coherence; counts a hit of @p thread. */
	[[nodiscard]] bool read_beside(Address from, std::span<std::byte> into, std::uint32_t thread) noexcept
	{
		return shard_of(from.block()).coherence->read_beside(from, into) && count_hit(thread);
	}
	[[nodiscard]] bool write_beside(Address to, std::span<const std::byte> bytes, std::uint32_t thread) noexcept
	{
		return shard_of(to.block()).coherence->write_beside(to, bytes) && count_hit(thread);
	}
	bool count_hit(std::uint32_t thread) noexcept
	{
		hits_[thread % hits_.size()].count.fetch_add(1, std::memory_order_relaxed);
		return true;
	}
	/** See Coherence. */
	bool lend(Address block)
	{
		const std::scoped_lock guard(shard_of(block).lock);
		return shard_of(block).coherence->lend(block);
	}
	void withdraw(Address block)
	{
		const std::scoped_lock guard(shard_of(block).lock);
		shard_of(block).coherence->withdraw(block);
	}
	unsigned rest(unsigned idle) const;
	void serve(const std::stop_token &stop);

	/* Coherence::Host, under the lock of a shard */
	void send(NodeId to, const Message &message) override { network_.send(to, message); }
	void ended(Access &access) override;
	[[nodiscard]] bool is_allocated(Address block) const override { return home_.is_allocated(block); }
	/* Network::Listener */
	void heard(NodeId from, const Message &message) override;

	const apps::Birth birth_;
	const NodeOptions options_;
	Network &network_;
	const LeaseIsOver lease_is_over_;
	std::vector<Shard> shards_;
	std::array<Hits, 64> hits_;
	Home home_;
	std::mutex polling_;
	Time due_{};                            /* of the shards; under polling_ */
	std::atomic<std::uint64_t> members_{0}; /* bit set */
	std::atomic<std::uint64_t> away_{0};    /* likewise */
	std::atomic<std::uint32_t> next_thread_{1};
	std::atomic<std::uint32_t> waiting_{0}; /* threads in wait_until() */
	std::jthread server_;
};

} // namespace prism::gam
