/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a thread of a node wants of one block. Longer accesses consist of several; apps/stores/gam/memory makes them. */
#pragma once

#include <cstddef>
#include <cstdint>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

enum class AccessKind : std::uint8_t {
	read,       /**< copies bytes of the block to `bytes` */
	write,      /**< copies `bytes` into the block; ends when no node can read the old value any more */
	atomic,     /**< replaces 1, 2, 4 or 8 bytes by a function of them; their old value is `old_value` */
	read_lock,  /**< the block's lock, shared; brings the data */
	write_lock, /**< the block's lock, for one thread; brings the data */
	unlock,     /**< gives back the lock that `thread` holds. EPERM: it holds none */
	/** Ends when the home has what this node has written into the block. EDEADLK: `thread` holds its lock. */
	write_back,
};

enum class Function : std::uint8_t {
	add,
	swap,
	compare_swap, /**< operand if the bytes are `compare` */
	bit_and,
	bit_or,
};

/** A thread of the node, for its locks: unique while it lives. */
using ThreadId = std::uint32_t;

/**
 * One access on its way. Its memory, and what `bytes` names, stay until Coherence::Host::ended(). Intrusive: the queue
 * of a block that is in transit is a list of these.
 */
struct Access {
	AccessKind kind = AccessKind::read;
	Function function = Function::add;
	bool tries = false;    /**< locks, writes: end with EBUSY in place of waiting for another holder */
	bool uncached = false; /**< read, write: leave no copy here */
	std::uint16_t length = 0;
	bool is_logged = false; /**< write, at the home: is in its log when it ends, whatever the policy */
	ThreadId thread = 0;
	Address at;                  /**< of the first byte; all are in one block */
	std::byte *bytes = nullptr;  /**< read: where to; write: what */
	std::uint64_t operand = 0;   /**< atomic: of the function; in host order */
	std::uint64_t compare = 0;   /**< compare_swap */
	std::uint64_t old_value = 0; /**< atomic */
	/**
	 * 0 or errno when it has ended: EBUSY (a try), EPERM (unlock), EDEADLK (the thread holds the block's lock
	 * already), EFAULT (nothing is allocated there), EHOSTUNREACH (the home is gone), ENOBUFS (the cache has no
	 * line that could make room), EOVERFLOW (2^16 readers hold the lock), EOWNERDEAD (the last value of the block
	 * has gone with the node that held it), EPROTO (another node has written nonsense to what the home keeps of the
	 * block: PRISM protocol), ESTALE (this node's lease is over).
	 */
	int error = 0;

	/* The protocol's, while it is on its way */
	Access *next = nullptr;
	std::uint8_t progress = 0; /* what has been done of it, if the protocol needs that */
	/* The user's */
	void *context = nullptr;
};

} // namespace prism::gam
