/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>

#include "gam/peer/view.hpp"

namespace gam_history
{

/** What all nodes do. */
enum class Work : std::uint8_t {
	registers, /**< reads, fenced writes, atomics and locked changes, which are recorded */
	table,     /**< operations on a hash table of the first node, which are recorded */
	bank,      /**< transfers between accounts that share a block; with logs, by a journal between blocks */
};

/** The rule that is off: the check must find that. */
enum class Flaw : std::uint8_t {
	none,
	lease,    /**< a node uses what it has cached when its lease is over */
	forwards, /**< owners send to who asks: the home does not see it */
	apart,    /**< the accounts of a bank do not share a block, and there is no journal */
	early,    /**< a record of the hash table is freed, or named, before the homes know */
	durable,  /**< the logs of nodes have what others have seen alone */
};

struct Options {
	prism::gam::Protocol protocol = prism::gam::Protocol::directory;
	Work work = Work::registers;
	Flaw flaw = Flaw::none;
	unsigned nodes = 3;
	unsigned threads = 2; /* of each node */
	unsigned reads = 50;  /* percent: of a register, or audits of the bank */
	bool logs = false;    /* each node keeps one: who is killed comes back by it */
	unsigned kills = 0;
	unsigned stops = 0;
	bool late = false; /* the master stands still when a node is stopped, and gives all another lease */
	std::chrono::milliseconds lease{1000};
	std::chrono::milliseconds calm{2000}; /* before, between and after the deaths, in all */
	std::uint64_t seed = 1;
	std::filesystem::path folder = "gam-history";
};

/** One life of a node: a process. Those of the first @p Options::nodes allocate; the very first one is never killed. */
using Life = std::uint32_t;
constexpr Life nobody = ~Life{0};

/** In memory that all processes share. */
struct Stage {
	std::atomic<Life> between_writes{nobody}; /* in the middle of a transfer */
	std::atomic<unsigned> ready{0};           /* nodes */
	std::atomic<bool> begun{false};
	std::atomic<bool> over{false};
	std::atomic<bool> homeless{false}; /* somebody was told that the very first node is gone, where the table is */
};

/** Which log a life has: that of the life before it in the same place. */
using Place = std::uint32_t;

/** How a process ends. */
enum Ending : int {
	good = 0,
	failed = 1,   /**< something that must not happen; it is printed */
	expelled = 3, /**< the others hold it for dead, and all its calls have said so */
	wrong = 4,    /**< a bank that has gained or lost; it is printed */
};

} // namespace gam_history
