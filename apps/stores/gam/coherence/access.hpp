/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* An access of one thread to one block. apps/stores/gam/api splits longer accesses into several of these. */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

enum class AccessKind : std::uint8_t {
	read,       /**< copies bytes of the block to `bytes` */
	write,      /**< copies `bytes` into the block; ends when no node can read the old value any more */
	atomic,     /**< applies `function` to 1, 2, 4 or 8 bytes; `old_value` is what they were */
	read_lock,  /**< takes the block's lock, shared; brings the data */
	write_lock, /**< takes the block's lock, exclusive; brings the data */
	unlock,     /**< releases the lock that `thread` holds. EPERM: it holds none */
	/** Ends when the home has all that this node has written into the block. EDEADLK: `thread` holds its lock. */
	write_back,
};

enum class Function : std::uint8_t {
	add,
	swap,
	compare_swap, /**< stores the operand if the bytes equal `compare` */
	bit_and,
	bit_or,
};

/** Identifies a thread of the node as a holder of locks; unique while the thread lives. */
using ThreadId = std::uint32_t;

/** Says that the home of an access may have been lost at any time. */
constexpr std::uint32_t any_losses = UINT32_MAX;

/**
 * An access under way. It and its `bytes` must stay valid until Coherence::Host::ended(). Intrusive: the queue of a
 * block in transit links these.
 */
struct Access {
	AccessKind kind = AccessKind::read;
	Function function = Function::add;
	bool tries = false;    /**< locks, writes: ends with EBUSY instead of waiting for another holder */
	bool uncached = false; /**< read, write: leave no copy here */
	std::uint16_t length = 0;
	bool is_logged = false; /**< write, at the home: it is in the home's log when it ends, whatever the policy */
	ThreadId thread = 0;
	std::uint32_t losses = any_losses; /**< Node::losses() since when the home must not have been lost */
	/**
	 * Time, by the clock of Coherence::on_time(), until which it waits for room; then it ends with ENOBUFS. Of a
	 * thread that holds locks: what has the room may wait for these, and wait for good.
	 */
	std::chrono::nanoseconds room_until = std::chrono::nanoseconds::max();
	Address at;                  /**< address of the first byte; all bytes are in one block */
	std::byte *bytes = nullptr;  /**< read: destination; write: source */
	std::uint64_t operand = 0;   /**< atomic: operand of the function, in host order */
	std::uint64_t compare = 0;   /**< compare_swap */
	std::uint64_t old_value = 0; /**< atomic */
	/**
	 * 0 or an errno value once it has ended: EBUSY (a try), EPERM (unlock), EDEADLK (the thread already holds the
	 * block's lock), EFAULT (nothing is allocated there), EHOSTUNREACH (the home is gone), ENOBUFS (no line of the
	 * cache can be freed), EOVERFLOW (2^16 readers hold the lock), EOWNERDEAD (the node that held the block's last
	 * value is dead), EPROTO (another node has corrupted the home's record of the block: latch protocol), ESTALE
	 * (this node's lease is over).
	 */
	int error = 0;

	/* For the protocol, while the access is under way */
	Access *next = nullptr;
	std::uint8_t progress = 0; /* steps already done, for protocols that need this */
	/* For the user */
	void *context = nullptr;
};

} // namespace prism::gam
