/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What both protocols, apps/stores/gam/directory and apps/stores/gam/latch, implement: the blocks of a node, its own and those that
 * it caches. Sans-I/O: accesses, messages and time go in; messages and ended accesses come out through Host. Nothing in
 * it waits, and what it does depends on nothing but what came in, so the simulator repeats it.
 *
 * A node has several of these, and each block belongs to one of them: threads that use different blocks do not wait for
 * each other. One thread at a time calls into an object, but for read_beside() and
 * write_beside(); the calls to Host come from inside these calls.
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

/** Since any moment, of a clock that does not go back. */
using Time = std::chrono::nanoseconds;

/** Which of @p shards objects of a node, numbered from 0, @p block belongs to: the same on all nodes. */
constexpr std::size_t shard_of(Address block, std::size_t shards) noexcept
{
	return block.block_number() % shards;
}

struct CoherenceStats {
	std::uint64_t hits = 0;     /**< accesses that ended without a message or a request */
	std::uint64_t misses = 0;   /**< all others */
	std::uint64_t messages = 0; /**< sent, of all kinds */
	std::uint64_t events = 0;   /**< messages heard as a home: each costs the home's processor */
	std::uint64_t requests = 0; /**< PRISM requests posted, in chains */
	std::uint64_t evictions_shared = 0;
	std::uint64_t evictions_dirty = 0;
	std::uint64_t lost_values = 0; /**< blocks whose last value has gone with a node; an older one is there */
	std::uint64_t refused = 0;     /**< messages that no rule allows: the sender is wrong, or lies */

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
	/** The node around it. */
	class Host
	{
	public:
		virtual ~Host() = default;
		/** To another node, in the order of the calls. The data is copied before this returns. */
		virtual void send(NodeId to, const Message &message) = 0;
		/** @p access, which start() left on its way, has ended; it may be gone when this returns. */
		virtual void ended(Access &access) = 0;
		/** Whether @p block, which this node is the home of, is allocated. */
		[[nodiscard]] virtual bool is_allocated(Address block) const = 0;
	};

	virtual ~Coherence() = default;

	/**
	 * Begins @p access. True: it has ended already (a hit, or an error); Host::ended() is not called. Accesses of
	 * this node to one block take effect in the order in which they begin, except that what a lock holds back may
	 * be passed by the holder's.
	 */
	virtual bool start(Access &access) = 0;
	/**
	 * Reads what this node has, if nothing is under way with the block: as an access would that begins and ends
	 * now. Any thread, beside all others. False: an access has to see to it.
	 */
	[[nodiscard]] virtual bool read_beside(Address from, std::span<std::byte> into) noexcept = 0;
	/** Likewise writes what this node has alone, in one block: the write is performed then. */
	[[nodiscard]] virtual bool write_beside(Address to, std::span<const std::byte> bytes) noexcept = 0;
	/** @p from, which is another node, has sent @p message. Hostile until checked: what no rule allows is counted.
	 */
	virtual void hear(NodeId from, const Message &message) = 0;
	/** @p node is there: it may have the number of one that was lost, of which nothing is left. */
	virtual void joined(NodeId node) = 0;
	/** @p node is dead, and nothing that it has sent comes any more. */
	virtual void lost(NodeId node) = 0;
	/** Has things happen that are due, such as evictions beyond the limit. When to call it again; Time::max():
	 * whenever. */
	virtual Time on_time(Time now) = 0;
	/** Evicts all blocks that are not locked; ends when stats say so. For a node that leaves, and for tests. */
	virtual void flush() = 0;

	/**
	 * As the home, before an object in @p block, which is allocated by now, is handed out. True: all nodes may ask
	 * for the block; false: call again, a little later.
	 */
	virtual bool lend(Address /*block*/) { return true; }
	/** As the home: nothing may be allocated in @p block any more. */
	virtual void withdraw(Address /*block*/) {}

	/** Nothing is on its way: no access, and no block is in transit as far as this node knows. */
	[[nodiscard]] virtual bool at_rest() const = 0;
	[[nodiscard]] virtual const CoherenceStats &stats() const = 0;
};

} // namespace prism::gam
