/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The members of a cluster. */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

/** The protocol, the same on all nodes of a cluster. */
enum class Protocol : std::uint16_t {
	directory = 1, /**< apps/stores/gam/directory */
	latch = 2,     /**< apps/stores/gam/one_sided */
};

enum class NodeState : std::uint8_t {
	joining, /**< has a number; is not connected to all yet */
	serving,
	dead, /**< has left or was declared dead; its number is in use until all live members have swept, and if it
		 keeps a log until it returns */
};

/** One life of a node: a number is reused, an incarnation never. */
struct NodeLife {
	NodeId node = no_node;
	std::uint64_t incarnation = 0;

	friend bool operator==(const NodeLife &, const NodeLife &) noexcept = default;
};

/** The log of a node that joins. */
struct LogClaim {
	/** The cluster and life that it was begun for; no node: it is new. */
	std::uint64_t cluster = 0;
	NodeLife last;
	bool durable = false;
};

/** A node that joins, in its own words. */
struct Newcomer {
	std::string host; /**< host where its peers reach it */
	std::uint16_t port = 0;
	std::uint64_t lent = 0; /**< bytes of memory that it lends */
	Protocol protocol = Protocol::latch;
	std::uint32_t block_bytes = block_size;
	std::optional<LogClaim> log{}; /**< set if it keeps a log, with which it may return */
};

struct Member {
	NodeLife life;
	NodeState state = NodeState::joining;
	std::uint64_t changed = 0; /**< the epoch that began with its present state */
	std::string host;
	std::uint16_t port = 0;
	std::uint64_t lent = 0;
	bool keeps_log = false; /**< its number stays reserved when it is dead */
	bool durable = false;   /**< true if the log is durable */

	[[nodiscard]] bool live() const noexcept { return state != NodeState::dead; }
	/** Returns true if it is dead, but may return with its log. */
	[[nodiscard]] bool is_away() const noexcept { return !live() && keeps_log; }
};

struct View {
	std::uint64_t cluster = 0;   /**< random: differs for another master, and for one that restarts empty */
	std::uint64_t epoch = 0;     /**< raised by every change */
	std::vector<Member> members; /**< by number, each number once */

	/** Returns the member with this number, or null. */
	[[nodiscard]] const Member *find(NodeId node) const noexcept;
	/** Returns the live member with this number and incarnation, or null. */
	[[nodiscard]] const Member *find_live(const NodeLife &life) const noexcept;
};

} // namespace prism::gam
