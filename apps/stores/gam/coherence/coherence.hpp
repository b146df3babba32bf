/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface of both protocols, apps/stores/gam/directory and apps/stores/gam/one_sided, to the blocks of a node:
 * its own and those that it caches. Sans-I/O: accesses, messages and time go in; messages and ended accesses come out
 * through Host. No call waits, and the result depends on the input alone, so the simulator can repeat it.
 *
 * A node has several such objects (shards), and each block belongs to one of them, so threads that use different blocks
 * do not wait for each other. One thread at a time calls into an object, except for read_beside() and write_beside().
 * The calls to Host come from inside these calls.
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gam/coherence/access.hpp"
#include "gam/coherence/message.hpp"

namespace prism::gam
{

/** Time of a monotonic clock, from an arbitrary origin. */
using Time = std::chrono::nanoseconds;

/** Returns the number, from 0, of the one of @p shards objects that @p block belongs to: the same on all nodes. */
constexpr std::size_t shard_of(Address block, std::size_t shards) noexcept
{
	return block.block_number() % shards;
}

struct CoherenceStats {
	std::uint64_t hits = 0;     /**< accesses that ended without a message or request */
	std::uint64_t misses = 0;   /**< all others */
	std::uint64_t messages = 0; /**< sent, of all kinds */
	std::uint64_t events = 0;   /**< messages received as a home: each costs the home's processor */
	std::uint64_t requests = 0; /**< PRISM requests posted, in chains */
	std::uint64_t evictions_shared = 0;
	std::uint64_t evictions_dirty = 0;
	std::uint64_t lost_values = 0; /**< blocks whose last value died with a node; an older one remains */
	std::uint64_t refused = 0;     /**< messages that no rule allows: the sender is faulty or hostile */

	CoherenceStats &operator+=(const CoherenceStats &other) noexcept
	{
		hits += other.hits;
		misses += other.misses;
		messages += other.messages;
		events += other.events;
		requests += other.requests;
		evictions_shared += other.evictions_shared;
		evictions_dirty += other.evictions_dirty;
		lost_values += other.lost_values;
		refused += other.refused;
		return *this;
	}
};

class Coherence
{
public:
	/** The node that an object belongs to. */
	class Host
	{
	public:
		virtual ~Host() = default;
		/** Sends @p message to another node, in the order of the calls. Copies the data before it returns. */
		virtual void send(NodeId to, const Message &message) = 0;
		/**
		 * Returns false if much waits for @p to already: then put off what may come in any number, which is all
		 * but short answers. on_time() then goes on.
		 */
		[[nodiscard]] virtual bool has_room(NodeId /*to*/) const { return true; }
		/**
		 * Reports the end of @p access, which start() left under way; it may no longer exist when this returns.
		 */
		virtual void ended(Access &access) = 0;
		/** Returns true if @p block, whose home is this node, is allocated. */
		[[nodiscard]] virtual bool is_allocated(Address block) const = 0;
	};

	virtual ~Coherence() = default;

	/**
	 * Begins @p access. Returns true if it has ended already (a hit, or an error); Host::ended() is not called
	 * then. Accesses of this node to one block take effect in the order in which they begin, except that the holder
	 * of a lock may overtake those that the lock holds back.
	 */
	virtual bool start(Access &access) = 0;
	/**
	 * Reads the node's copy, if nothing is under way with the block, like an access that begins and ends now. Any
	 * thread, concurrently with all others. Returns false if an access is needed.
	 */
	[[nodiscard]] virtual bool read_beside(Address from, std::span<std::byte> into) noexcept = 0;
	/** Writes likewise, within one block that this node owns alone: the write is performed at once. */
	[[nodiscard]] virtual bool write_beside(Address to, std::span<const std::byte> bytes) noexcept = 0;
	/**
	 * Handles @p message of another node, @p from. Hostile until checked: a message that no rule allows is counted.
	 */
	virtual void hear(NodeId from, const Message &message) = 0;
	/** Reports that @p node has joined. It may have the number of a lost node, of which nothing is left. */
	virtual void joined(NodeId node) = 0;
	/** Reports that @p node is dead, and that no message of it comes any more. */
	virtual void lost(NodeId node) = 0;
	/**
	 * Does the work that is due, such as evictions beyond the limit. Returns the time of the next call;
	 * Time::max(): any time.
	 */
	virtual Time on_time(Time now) = 0;
	/**
	 * Evicts all blocks that are not locked; is_flushed() tells when that is done. For a node that leaves, and for
	 * tests.
	 */
	virtual void flush() = 0;
	/**
	 * Returns true if all that this node has evicted is at its homes, and no access is under way. What others want
	 * of its own memory may be under way for as long as they hold locks.
	 */
	[[nodiscard]] virtual bool is_flushed() const = 0;

	/**
	 * Makes @p block, which is allocated by now, available to all nodes. Called at the home before an object in it
	 * is handed out. Returns false if the caller must try again a little later.
	 */
	virtual bool lend(Address /*block*/) { return true; }
	/** Tells the home that nothing in @p block may be allocated any more. */
	virtual void withdraw(Address /*block*/) {}

	/** Returns true if no access is under way and no block is in transit, as far as this node knows. */
	[[nodiscard]] virtual bool at_rest() const = 0;
	[[nodiscard]] virtual const CoherenceStats &stats() const = 0;
};

} // namespace prism::gam
