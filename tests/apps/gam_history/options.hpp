/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>

#include "gam/membership/view.hpp"

namespace gam_history
{

/** Work of all nodes. */
enum class Work : std::uint8_t {
	registers, /**< reads, fenced writes, atomics and locked changes, which are recorded */
	table,     /**< operations on a hash table of the first node, which are recorded */
	bank,      /**< transfers between accounts that share a block; with logs, by a journal between blocks */
};

/** Rule that is turned off; the check must find that. */
enum class Flaw : std::uint8_t {
	none,
	lease,    /**< a node uses what it has cached when its lease is over */
	forwards, /**< owners send directly to the requester: the home does not see it */
	apart,    /**< the accounts of a bank do not share a block, and there is no journal */
	early,    /**< a record of the hash table is freed, or linked, before the homes know */
	durable,  /**< the logs of nodes contain only values that others have seen */
};

struct Options {
	prism::gam::Protocol protocol = prism::gam::Protocol::directory;
	Work work = Work::registers;
	Flaw flaw = Flaw::none;
	unsigned nodes = 3;
	unsigned threads = 2; /* of each node */
	unsigned reads = 50;  /* percent: of accesses to a register, or of audits among the bank's operations */
	bool logs = false;    /* each node keeps one, and comes back with it if it is killed */
	unsigned kills = 0;
	unsigned stops = 0;
	bool late = false; /* the master is stopped with a node, and then gives all another lease */
	std::chrono::milliseconds lease{1000};
	std::chrono::milliseconds calm{2000}; /* total time before, between and after the deaths */
	std::uint64_t seed = 1;
	std::filesystem::path folder = "gam-history";
};

/** Life of a node: one process. The first @p Options::nodes lives allocate; the very first is never killed. */
using Life = std::uint32_t;
constexpr Life nobody = ~Life{0};

/** State in memory that all processes share. */
struct Stage {
	std::atomic<Life> between_writes{nobody}; /* life in the middle of a transfer */
	std::atomic<unsigned> ready{0};           /* nodes */
	std::atomic<bool> begun{false};
	std::atomic<bool> over{false};
	std::atomic<bool> homeless{false}; /* some node was told that the first node, which has the table, is gone */
};

/** Index of a log: a new life uses that of the previous life in the same place. */
using Place = std::uint32_t;

/** End of a process. */
enum Ending : int {
	good = 0,
	failed = 1,   /**< an error that must not happen; it is printed */
	expelled = 3, /**< the others hold it dead, and all its calls have said so */
	wrong = 4,    /**< the bank has gained or lost money; it is printed */
};

} // namespace gam_history
