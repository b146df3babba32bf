/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The verdict on one block of a recovering home: a function of its own log and of the claims of other nodes.
 * docs/gam-recovery.md shows why it is right.
 */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

/** The form in which a node claims to have a block. */
enum class Holding : std::uint8_t {
	dirty = 1,       /**< a line that it owns in the term `counter` */
	shared,          /**< a line, read in the term `counter` */
	logged,          /**< a value in its log, of the term `counter`: the newest there */
	logged_doubtful, /**< likewise, but missing entries may have been newer */
};

struct Claim {
	NodeId node = no_node;
	Holding holding = Holding::dirty;
	std::uint64_t counter = 0;
};

/** A transfer recorded in the home's log. */
struct Transfer {
	std::uint64_t counter = 0;
	std::uint64_t order = 0;
	NodeId owner = no_node;
	bool owner_logs = false;      /**< as in Entry */
	std::uint64_t owner_life = 0; /**< likewise */
};

struct Evidence {
	/** Term of the newest value in the home's log. Nothing: the home has never written it, so it is zeros. */
	std::optional<std::uint64_t> own;
	/** The last two transfers, the last one first; counter 0: none. */
	std::array<Transfer, 2> transfers;
	/** True if missing entries of the home's log may have been newer. */
	bool doubtful = false;
	/** False if the block is free by the home's log: claims may be of a former node with the home's number. */
	bool allocated = true;
	std::vector<Claim> claims;
};

/** Sets of nodes. */
struct Witnesses {
	std::uint64_t answered = 0;   /**< nodes that have said all that they have, their logs included */
	std::uint64_t incomplete = 0; /**< of these, nodes whose logs miss entries */
	std::uint64_t given_up = 0;   /**< nodes that will never answer */
	/** Incarnations of nodes that have answered, or of those that began their logs; 0: unknown. */
	std::array<std::uint64_t, max_nodes> since{};
	std::array<std::uint64_t, max_nodes> life{}; /**< their incarnations; 0: unknown */
};

struct Verdict {
	enum class Kind : std::uint8_t {
		own,   /**< the value in the home's log; zeros if there is none */
		owned, /**< `node` owns it in the term `counter` */
		taken, /**< the value that `node` has */
		waits, /**< waits for `node`, which alone can know the value */
		lost,  /**< the last value is lost; this one, of `node` or (no_node) the home's log, may be older */
	};
	Kind kind = Kind::own;
	NodeId node = no_node;
	Holding holding = Holding::logged; /**< taken, lost: the form in which `node` has it */
	std::uint64_t counter = 0;         /**< term of this value */
	std::uint64_t sharers = 0;         /**< nodes whose lines have this value */
	std::uint64_t next = 1;            /**< a counter above all used so far; but that of the sharers of `taken` */

	/**
	 * Returns true if the value belongs into the home's log, in the term `next`: it is none of its own, or terms
	 * have begun since, of owners that the next recovery would look for. False: the home's log has it.
	 */
	[[nodiscard]] bool is_to_log() const noexcept
	{
		return kind == Kind::taken || kind == Kind::lost || (kind == Kind::own && counter + 1 < next);
	}
};

Verdict decide(const Evidence &evidence, const Witnesses &witnesses);

} // namespace prism::gam
