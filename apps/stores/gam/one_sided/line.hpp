/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>

#include "gam/coherence/cache.hpp"
#include "gam/coherence/coherence.hpp"
#include "gam/coherence/lock.hpp"
#include "gam/coherence/queue.hpp"
#include "gam/one_sided/requests.hpp"

namespace prism::gam::latch
{

/** The rights of a node to its copy of a block. */
enum class State : std::uint8_t {
	invalid,
	shared,    /**< read; the entry has the node's bit */
	exclusive, /**< read and write; the node is the entry's writer */
};

/**
 * The step that a node is doing with a block, one at a time. All else that concerns the block waits until it is idle.
 */
enum class Phase : std::uint8_t {
	idle,
	/* A chain is under way: */
	fetching,   /**< the CAS that sets the node's bit, and a READ */
	peeking,    /**< a CAS that changes nothing, and a READ */
	claiming,   /**< the CAS that makes the node writer, and a READ, unless the line is shared */
	rereading,  /**< the node is writer; a READ */
	waiting,    /**< the CAS that makes the node `waiter` */
	undoing,    /**< the CAS that ends being writer, after a try */
	leaving,    /**< the CAS that gives up the entry, in whole or in part */
	installing, /**< the CAS that writes back and keeps the entry */
	lending,    /**< the CAS by which the home lends the block */
	/* Another node has to answer: */
	telling, /**< sharers were told to drop their copies */
	asked,   /**< a request was sent to the writer */
	/* on_time() continues: */
	resting, /**< another node is next, or is dead, or there was no buffer */
};

[[nodiscard]] constexpr bool has_chain(Phase phase) noexcept
{
	return phase >= Phase::fetching && phase <= Phase::lending;
}

/** The memory, registered, for the results of a chain: one for each line. */
struct Slot {
	Entry installed;           /**< the entry before the CAS that stored the pointer */
	Entry found;               /**< the entry before the last CAS */
	std::uint64_t address = 0; /**< address of the buffer that ALLOCATE took; 0: none */
	std::uint64_t unused[7] = {};
};
constexpr std::size_t slot_size = 128;
static_assert(sizeof(Slot) == slot_size);

/** A block that a node has or acquires. READs go straight into its bytes: nobody looks at those of an invalid line. */
struct Line : CacheLine {
	State state = State::invalid;
	Phase phase = Phase::idle;
	bool dirty = false;       /**< newer than the buffer that the entry points at */
	bool fleeting = false;    /**< to be evicted as soon as this node does not need it */
	bool makes_room = false;  /**< accesses to other blocks wait for this line */
	bool invalidated = false; /**< an INVALIDATE came after the CAS or request; `acked` is its newest version */
	bool am_waiter = false;   /**< this node is the entry's waiter, as far as it knows */
	bool refused = false;     /**< a sharer is locked: the try has failed */
	bool is_lost = false;   /**< the chain under way is to a home that has died; another may have its number now */
	bool reads = false;     /**< claiming: there was a READ */
	bool evicts = false;    /**< leaving: no copy stays here, and there is no next writer */
	std::uint8_t moved = 0; /**< times that another node has answered that it is not the writer */
	int error = 0;          /**< reason for which a locked block is lost */
	std::uint32_t version = 0;
	std::uint32_t acked = 0;
	NodeId asked = no_node;
	NodeId owed = no_node;     /**< node to acknowledge at the last unlock */
	NodeId next = no_node;     /**< leaving: the next writer */
	NodeId waiter = no_node;   /**< leaving: the entry's waiter, as far as known */
	std::uint64_t served = 0;  /**< leaving: readers that get copies, a bit set */
	std::uint64_t awaited = 0; /**< telling: sharers that have not answered, a bit set */
	std::uint64_t sharers = 0; /**< claiming, rereading: sharers in the entry */
	std::uint64_t swept = 0;   /**< nodes swept since its chain was posted, whose names it may bring: a bit set */
	Time again{};              /**< resting: time of the next try */
	/**
	 * resting: the phase, `leaving` or `undoing`, whose chain may or may not have been executed, and is posted
	 * again. Or idle.
	 */
	Phase unsure = Phase::idle;
	bool was_unsure = false; /**< leaving, undoing: posted again; it misses if the first was executed */
	Requests requests;       /**< requests of other nodes */
	BlockLock lock;
	AccessQueue queue; /**< accesses of this node. The phase serves the first one */
};

} // namespace prism::gam::latch
