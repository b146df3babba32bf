/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The options of prism-gam-bench: the micro-benchmark of GAM (VLDB '18, 6.1), and single cases of the protocols. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <prism/result.hpp>

#include "gam/membership/view.hpp"
#include "gam/node/node.hpp"

namespace prism::gam::micro
{

constexpr double ns_per_us = 1000;
constexpr std::size_t item_size = 8; /**< bytes of an access */
constexpr std::size_t items_a_block = block_size / item_size;

/** The action of an operation on its item. */
enum class Operation : std::uint8_t {
	read_write,  /**< read, or write */
	lock,        /**< rlock or wlock of its block, and unlock */
	lock_access, /**< the same, with the access in between */
	try_lock,    /**< the same with try_rlock or try_wlock; nothing more if that fails */
};

/** A workload. Shares are from 0 to 1, drawn independently. */
struct Workload {
	Operation operation = Operation::read_write;
	double reads = 0.5;        /**< share of reads */
	double remote = 1;         /**< share of a thread's own blocks whose home is another node */
	double shared = 0;         /**< share of the working set's places whose block all threads use */
	double space = 0;          /**< share of operations on the item after the last one */
	double time = 0;           /**< share of operations on the last item again; drawn first */
	std::size_t blocks = 4096; /**< blocks of a thread's working set */
	std::uint64_t seed = 1;
};

/** A single case, in which each operation uses its own block. Node 0 is the home, node 1 does the operations. */
enum class Case : std::uint8_t {
	none,         /**< the workload instead of a case */
	read_hit,     /**< the block is cached */
	write_hit,    /**< the node owns the block */
	clean_miss,   /**< reads a block that no node has cached */
	write_miss,   /**< writes such a block, and fences */
	write_shared, /**< writes a block that all other nodes but the home have cached, and fences */
	dirty_miss,   /**< reads a block that node 2 has written */
	evict_shared, /**< drops blocks that were read */
	evict_dirty,  /**< writes back blocks that were written */
};

/** The activity of the home's threads in a case. */
enum class HomeState : std::uint8_t {
	waits,    /**< they wait in the library, which polls */
	sleeps,   /**< they sleep: the node's own thread answers */
	computes, /**< they compute, and poll once after each piece of work; the node's own thread runs, too */
};

struct ClusterOptions {
	std::size_t nodes = 2;
	bool in_process = false; /**< all nodes are in this process, without a device */
	bool pins = false;       /**< each node's process is pinned to a processor, the next node's to the next one */
	bool simulated = false;  /**< all nodes are in this process, and time is virtual */
	bool forwards = false;   /**< simulated: owners send directly to the requester, as in the paper */
	std::string master;      /**< HOST:PORT; empty: this program starts a master and all nodes */
	std::string device;      /**< empty: the first one */
	std::string address = "127.0.0.1"; /**< address at which others reach this node */
	Protocol protocol = Protocol::directory;
	Consistency consistency = Consistency::pso;
	bool cached = true;
	double cache = 0.15; /**< cache as a share of the working sets of a node's threads */
	double timeout = 30; /**< seconds that nodes wait for each other */
};

struct RunOptions {
	ClusterOptions cluster;
	Workload workload;
	Case single = Case::none;
	HomeState home = HomeState::waits;
	double piece = 50;            /**< usec of work, for a home that computes */
	std::size_t threads = 1;      /**< threads of each node */
	double warm_up = 0;           /**< seconds */
	double duration = 0;          /**< seconds to measure; 0: operations */
	std::uint64_t operations = 0; /**< operations of each thread */
	std::size_t timed = 7;        /**< one operation of so many is timed */
};

/** Refuses senseless options, with EINVAL. */
[[nodiscard]] Result<void> check(const RunOptions &options);

/** Returns true if an operation of the case ends at once. */
[[nodiscard]] bool is_hit(Case single) noexcept;
/** Blocks that a thread hits: few, so that they stay in the processor's cache and a hit costs what the library does. */
constexpr std::size_t hit_blocks = 16;
[[nodiscard]] std::size_t blocks_of_case(const RunOptions &options);

/** Returns the bytes that a node lends, for all blocks that may have their home there. */
[[nodiscard]] std::uint64_t bytes_of_node(const RunOptions &options);
/** Returns the lines of its cache. */
[[nodiscard]] std::size_t lines_of_node(const RunOptions &options);

} // namespace prism::gam::micro
