/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <vector>

#include "base/birth.hpp"
#include "gam/coherence/block_log.hpp"
#include "gam/coherence/coherence.hpp"
#include "gam/node/allocator.hpp"
#include "gam/node/home.hpp"
#include "gam/transport/network.hpp"

namespace prism::gam
{

/** The reorderings of a thread's accesses that other threads may see (docs/prism-gam.md). */
enum class Consistency : std::uint8_t {
	pso, /**< a write ends later: reads and writes of other blocks may overtake it */
	tso, /**< reads may overtake a write, writes may not: one is under way at a time */
	sc,  /**< a write ends when it is performed */
};

struct NodeOptions {
	NodeId self = 0;
	std::uint64_t bytes = std::uint64_t{64} << 20; /**< memory lent to all nodes; a multiple of block_size */
	std::size_t shards = 8;                        /**< objects that share the blocks; same on all nodes */
	Consistency consistency = Consistency::pso;
	bool cached = true;         /**< false: caches no blocks of other nodes, for comparison */
	BlockLog *log = nullptr;    /**< log of what is allocated here; outlives the node. Null: nothing is logged */
	bool serves = true;         /**< a thread of the node answers other nodes while no user thread waits */
	std::function<void()> rest; /**< called while a thread waits, so that others go on; null: pauses, then yields */
	/**
	 * Called inside poll() when there is no memory for something that can neither be refused nor put off: the node
	 * hears nothing any more, and has to end. Null: nobody is told.
	 */
	std::function<void()> found_no_memory;
};

/**
 * One node: its blocks, the blocks that it caches, and the memory that it lends. Each thread uses it through a Session.
 * Any thread may call a method unless its comment says otherwise.
 */
class Node final : private Coherence::Host, private Network::Listener
{
public:
	/** Makes object @p shard of the protocol, which reports to @p host. */
	using MakeCoherence = std::function<std::unique_ptr<Coherence>(Coherence::Host &host, std::size_t shard)>;
	/**
	 * Returns true if this node may no longer use its cached blocks, as others may believe that it is dead. Called
	 * by threads of sessions outside poll(), so it may call lost().
	 */
	using LeaseIsOver = std::function<bool()>;
	using Clock = std::chrono::steady_clock;

	/** @p network outlives the node. @p lease_is_over: null if there is no lease. */
	Node(const NodeOptions &options, Network &network, const MakeCoherence &make, LeaseIsOver lease_is_over = {});
	~Node() override;
	Node(const Node &) = delete;
	Node &operator=(const Node &) = delete;

	[[nodiscard]] const NodeOptions &options() const noexcept { return options_; }
	[[nodiscard]] NodeId self() const noexcept { return options_.self; }

	/**
	 * Returns true if this process is a forked child of the node's process: the node is of no use here, and no call
	 * waits.
	 */
	[[nodiscard]] bool is_inherited() const noexcept { return birth_.is_inherited(); }

	/** Reports that @p node has joined. */
	void joined(NodeId node);
	/**
	 * Reports that @p node is dead or has left, and that none of its messages comes any more. What waits for it
	 * ends with EHOSTUNREACH. If it is this node, no new access begins. @p may_return: it has a log, so cached
	 * copies of its blocks stay of use.
	 */
	void lost(NodeId node, bool may_return = false);
	/** Returns all members in ascending order, this node among them. */
	[[nodiscard]] std::vector<NodeId> members() const;
	[[nodiscard]] bool is_member(NodeId node) const noexcept
	{
		return node < max_nodes && (members_.load(std::memory_order_relaxed) >> node & 1);
	}

	/** Returns true if @p node is dead, but may return with its log. */
	[[nodiscard]] bool is_away(NodeId node) const noexcept
	{
		return node < max_nodes && (away_.load(std::memory_order_relaxed) >> node & 1);
	}

	/**
	 * Returns the number of times that any node was lost, or has returned with its log. Then locks there may be
	 * gone, and its memory may be another's, or older than what was known of it.
	 */
	[[nodiscard]] std::uint32_t losses() const noexcept { return all_losses_.load(std::memory_order_acquire); }
	/** Returns true if @p node was lost, or has returned, after losses() was @p before. */
	[[nodiscard]] bool was_lost(NodeId node, std::uint32_t before) const noexcept
	{
		return node < max_nodes && losses_[node].load(std::memory_order_acquire) > before;
	}

	/** For a home that restarts, before any node is reported as joined. */
	[[nodiscard]] Home &home() noexcept { return home_; }

	/** Handles received messages and due work. Returns false if there was none, or if another thread is polling. */
	bool poll();
	/** Polls until @p done returns true. */
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

	/** Returns true if the lease is over; then all calls of sessions fail with ESTALE, for good. */
	[[nodiscard]] bool lease_is_over() const { return lease_is_over_ && lease_is_over_(); }
	/** Returns the sums over all shards. */
	[[nodiscard]] CoherenceStats stats();
	[[nodiscard]] std::uint64_t available() const noexcept { return home_.available(); }
	/** Returns the free bytes of @p node: as it last announced, or for this node as they are. */
	[[nodiscard]] std::uint64_t available(NodeId node) const noexcept;
	/**
	 * Writes back and drops all copies of other nodes' blocks that are not locked. Waits for the end, or until @p
	 * hurries returns true.
	 */
	void flush(const std::function<bool()> &hurries = {});

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

	/* Hits that took no lock of a shard, counted for the threads that share this: mostly one. */
	struct alignas(64) Hits {
		std::atomic<std::uint64_t> count{0};
	};

	[[nodiscard]] Shard &shard_of(Address block) noexcept { return shards_[gam::shard_of(block, options_.shards)]; }
	/**
	 * Waits until all records so far are on the disk, if the log is durable. Returns 0, or the error that prevents
	 * it.
	 */
	int wait_for_log();
	/** Begins @p access, which must stay valid. Returns true if it has ended. */
	bool start(Access &access);
	/**
	 * Begins @p access likewise; if it stays under way, first calls @p keep(), which moves its data to a place that
	 * stays valid.
	 */
	template <typename Keep>
	bool start(Access &access, const Keep &keep)
	{
		Shard &shard = shard_of(access.at.block());
		{
			const std::scoped_lock guard(shard.lock);
			/* Under the lock: a loss that is noted later ends the access in lost(). */
			if (was_lost(access.at.home(), access.losses)) {
				access.error = EHOSTUNREACH;
				return true;
			}
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
	/** Runs @p step of poll(), unless one has found no memory: then the state may be that of a half step. */
	template <typename Step>
	void run_step(const Step &step)
	{
		if (has_failed_)
			return;
		try {
			step();
		} catch (const std::bad_alloc &) {
			has_failed_ = true;
			if (options_.found_no_memory)
				options_.found_no_memory();
		}
	}
	unsigned rest(unsigned idle) const;
	void serve(const std::stop_token &stop);

	/* Coherence::Host, under the lock of a shard */
	void send(NodeId to, const Message &message) override { network_.send(to, message); }
	[[nodiscard]] bool has_room(NodeId to) const override { return network_.has_room(to); }
	void ended(Access &access) override;
	[[nodiscard]] bool is_allocated(Address block) const override { return home_.is_allocated(block); }
	/* Network::Listener */
	void heard(NodeId from, const Message &message) override;

	void note_loss(NodeId node) noexcept;

	const apps::Birth birth_;
	const NodeOptions options_;
	Network &network_;
	const LeaseIsOver lease_is_over_;
	std::vector<Shard> shards_;
	std::array<Hits, 64> hits_;
	Home home_;
	std::mutex polling_;
	bool has_failed_ = false;                                    /* for want of memory; under polling_ */
	Time due_{};                                                 /* next time of the shards; under polling_ */
	std::atomic<std::uint64_t> members_{0};                      /* bit set */
	std::atomic<std::uint64_t> away_{0};                         /* likewise */
	std::array<std::atomic<std::uint32_t>, max_nodes> losses_{}; /* losses() with the last of each node */
	std::atomic<std::uint32_t> all_losses_{0};
	std::mutex noting_; /* one loss at a time */
	std::atomic<std::uint32_t> next_thread_{1};
	std::atomic<std::uint32_t> waiting_{0}; /* threads in wait_until() */
	std::jthread server_;
};

} // namespace prism::gam
