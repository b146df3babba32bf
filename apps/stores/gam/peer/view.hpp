/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Who the members of a cluster are. */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

/** What all nodes of a cluster must agree on. */
enum class Protocol : std::uint16_t {
	directory = 1, /**< apps/stores/gam/directory */
	latch = 2,     /**< apps/stores/gam/latch */
};

enum class NodeState : std::uint8_t {
	joining, /**< has a number; is not connected to everybody yet */
	serving,
	dead, /**< gone, by itself or declared so; its number is in use until all live members have swept, and if it
		 keeps a log until it has come back */
};

/** One life of a node: a number is given to others afterwards, an incarnation never. */
struct NodeLife {
	NodeId node = no_node;
	std::uint64_t incarnation = 0;

	friend bool operator==(const NodeLife &, const NodeLife &) noexcept = default;
};

/** The log of a node that joins. */
struct LogClaim {
	/** What it was begun for; no node: it is new. */
	std::uint64_t cluster = 0;
	NodeLife last;
	bool durable = false;
};

/** What a node says of itself when it joins. */
struct Newcomer {
	std::string host; /**< where its peers reach it */
	std::uint16_t port = 0;
	std::uint64_t lent = 0; /**< bytes of memory that it is the home of */
	Protocol protocol = Protocol::latch;
	std::uint32_t block_bytes = block_size;
	std::optional<LogClaim> log{}; /**< it keeps one, and may come back with it */
};

struct Member {
	NodeLife life;
	NodeState state = NodeState::joining;
	std::uint64_t changed = 0; /**< the epoch that began with its present state */
	std::string host;
	std::uint16_t port = 0;
	std::uint64_t lent = 0;
	bool keeps_log = false; /**< its number stays its own when it is dead */
	bool durable = false;   /**< the log is */

	[[nodiscard]] bool live() const noexcept { return state != NodeState::dead; }
	/** Dead, but its log may bring it back. */
	[[nodiscard]] bool is_away() const noexcept { return !live() && keeps_log; }
};

struct View {
	std::uint64_t cluster = 0;   /**< random: another master has another, and so does one that restarts empty */
	std::uint64_t epoch = 0;     /**< raised by every change */
	std::vector<Member> members; /**< by number, each number once */

	/** The member with this number, or null. */
	[[nodiscard]] const Member *find(NodeId node) const noexcept;
	/** The member with this number and incarnation, if it lives, or null. */
	[[nodiscard]] const Member *find_live(const NodeLife &life) const noexcept;
};

} // namespace prism::gam
