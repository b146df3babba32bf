/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What has become of one block of a home that comes back: a function of what its own log says and what nodes say that
 * they have. docs/gam-recovery.md says why it is right.
 */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

/** What a node says that it has of a block. */
enum class Holding : std::uint8_t {
	dirty = 1,       /**< its line, which it owns in the term `counter` */
	shared,          /**< a line, read in the term `counter` */
	logged,          /**< a value in its log, of the term `counter`: the newest there */
	logged_doubtful, /**< likewise, but entries are missing that may have been newer */
};

struct Claim {
	NodeId node = no_node;
	Holding holding = Holding::dirty;
	std::uint64_t counter = 0;
};

/** A transfer that the home's log knows of. */
struct Transfer {
	std::uint64_t counter = 0;
	std::uint64_t order = 0;
	NodeId owner = no_node;
};

struct Evidence {
	/** Of the newest value in the home's log. Nothing: the home has never written it, so it is zeros. */
	std::optional<std::uint64_t> own;
	/** The last two, the last one first; counter 0: there is none. */
	std::array<Transfer, 2> transfers;
	/** Entries are missing in the home's log that may have been newer than these. */
	bool doubtful = false;
	std::vector<Claim> claims;
};

/** Sets of nodes. */
struct Witnesses {
	std::uint64_t answered = 0;   /**< have said all that they have, their logs included */
	std::uint64_t incomplete = 0; /**< of these: entries are missing in their logs */
	std::uint64_t given_up = 0;   /**< will never say it */
};

struct Verdict {
	enum class Kind : std::uint8_t {
		own,   /**< the value in the home's log; zeros if there is none */
		owned, /**< `node` owns it, in the term `counter` */
		taken, /**< the value that `node` has */
		waits, /**< for `node`, which alone can know the value */
		lost,  /**< the last value: this one, of `node` or (no_node) in the home's log, is an older one, or may
			  be */
	};
	Kind kind = Kind::own;
	NodeId node = no_node;
	Holding holding = Holding::logged; /**< taken, lost: where `node` has it */
	std::uint64_t counter = 0;         /**< of the term that this value is of */
	std::uint64_t sharers = 0;         /**< nodes whose lines have this value */
	std::uint64_t next = 1;            /**< a counter above all that there have been */
};

Verdict decide(const Evidence &evidence, const Witnesses &witnesses);

} // namespace prism::gam
