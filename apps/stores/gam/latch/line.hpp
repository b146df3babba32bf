/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>

#include "gam/cache/cache.hpp"
#include "gam/cache/lock.hpp"
#include "gam/cache/queue.hpp"
#include "gam/coherence/coherence.hpp"
#include "gam/latch/requests.hpp"

namespace prism::gam::latch
{

/** What a node may do with its copy of a block. */
enum class State : std::uint8_t {
	invalid,
	shared,    /**< read; the entry has the node's bit */
	exclusive, /**< read and write; the node is the entry's writer */
};

/** What a node is at with a block: one thing at a time. All else that concerns the block waits until it is idle. */
enum class Phase : std::uint8_t {
	idle,
	/* A chain is under way: */
	fetching,   /**< the CAS that sets the node's bit, and a READ */
	peeking,    /**< a CAS that changes nothing, and a READ */
	claiming,   /**< the CAS that makes the node writer, and a READ, unless the line is shared */
	rereading,  /**< the node is writer; a READ */
	waiting,    /**< the CAS that makes the node `waiter` */
	undoing,    /**< the CAS that ends being writer, after a try */
	leaving,    /**< what gives up the entry, in whole or in part */
	installing, /**< what writes back and keeps the entry */
	lending,    /**< the CAS by which the home says that the block may be asked for */
	/* It is for another node to answer: */
	telling, /**< sharers, that their copies are gone */
	asked,   /**< the writer, to a request */
	/* It is for on_time() to go on: */
	resting, /**< somebody else is next, is dead, or there was no buffer */
};

[[nodiscard]] constexpr bool has_chain(Phase phase) noexcept
{
	return phase >= Phase::fetching && phase <= Phase::lending;
}

/** Where a chain leaves what it has found, in registered memory: one for each line. */
struct Slot {
	Entry installed;           /**< before the CAS that has stored the pointer */
	Entry found;               /**< before the last CAS */
	std::uint64_t address = 0; /**< of the buffer that ALLOCATE has taken; 0: none */
	std::uint64_t unused[7] = {};
};
constexpr std::size_t slot_size = 128;
static_assert(sizeof(Slot) == slot_size);

/** A block that a node has, or is at. READs go straight into its bytes: nobody looks at those of an invalid line. */
struct Line : CacheLine {
	State state = State::invalid;
	Phase phase = Phase::idle;
	bool dirty = false;      /**< newer than what the entry points at */
	bool fleeting = false;   /**< to be evicted as soon as nothing of this node needs it */
	bool makes_room = false; /**< others wait for its line */
	bool invalidated =
		false; /**< an INVALIDATE came since the CAS or the request; `acked` is the newest one's version */
	bool am_waiter = false; /**< this node is the entry's waiter, for all that it knows */
	bool refused = false;   /**< a sharer is locked: the try has failed */
	bool is_lost = false;   /**< what is under way is to a home that has died; another may have its number by now */
	bool reads = false;     /**< claiming: there was a READ */
	bool evicts = false;    /**< leaving: nothing stays here, and nobody is next */
	std::uint8_t moved = 0; /**< so often another node has said that it is not the writer */
	int error = 0;          /**< what was locked is lost, for this reason */
	std::uint32_t version = 0;
	std::uint32_t acked = 0;
	NodeId asked = no_node;
	NodeId owed = no_node;     /**< awaits an ack, at the last unlock */
	NodeId next = no_node;     /**< leaving: the next writer */
	NodeId waiter = no_node;   /**< leaving: the entry's waiter, as far as it is known */
	std::uint64_t served = 0;  /**< leaving: readers, a bit set */
	std::uint64_t awaited = 0; /**< telling: sharers, a bit set */
	std::uint64_t sharers = 0; /**< claiming, rereading: those of the entry */
	std::uint64_t swept = 0;   /**< since its chain was posted, which may bring their names: a bit set */
	Time again{};              /**< resting: until then */
	/** resting: nobody knows whether that was executed, `leaving` or `undoing`; it is posted again. Or idle. */
	Phase unsure = Phase::idle;
	bool was_unsure = false; /**< leaving, undoing: it is posted again, and if it was executed, it misses */
	Requests requests;       /**< of other nodes */
	BlockLock lock;
	AccessQueue queue; /**< of this node. What it is at is for the first one */
};

} // namespace prism::gam::latch
