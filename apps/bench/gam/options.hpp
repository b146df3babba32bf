/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What prism-gam-bench does: the micro-benchmark of GAM (VLDB '18, 6.1), and single cases of the protocols. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <prism/result.hpp>

#include "gam/memory/node.hpp"
#include "gam/peer/view.hpp"

namespace prism::gam::micro
{

constexpr double ns_per_us = 1000;
constexpr std::size_t item_size = 8; /**< bytes of an access */
constexpr std::size_t items_a_block = block_size / item_size;

/** What an operation does with its item. */
enum class Operation : std::uint8_t {
	read_write,  /**< read, or write */
	lock,        /**< rlock or wlock of its block, and unlock */
	lock_access, /**< the same, and the access between them */
	try_lock,    /**< the same with try_rlock or try_wlock; nothing more if that fails */
};

/** Shares are from 0 to 1, each drawn for itself. */
struct Workload {
	Operation operation = Operation::read_write;
	double reads = 0.5;        /**< of the operations */
	double remote = 1;         /**< of a thread's own blocks: whose home is another node */
	double shared = 0;         /**< of the working set's places: whose block all threads have */
	double space = 0;          /**< of the operations: the item behind the last one */
	double time = 0;           /**< of the operations: the last item again; drawn first */
	std::size_t blocks = 4096; /**< of a thread's working set */
	std::uint64_t seed = 1;
};

/** A single case, of which each operation finds a block of its own. Node 0 is the home, node 1 does the operations. */
enum class Case : std::uint8_t {
	none,         /**< the workload in place of cases */
	read_hit,     /**< the block is cached */
	write_hit,    /**< the node owns the block */
	clean_miss,   /**< reads what nobody has cached */
	write_miss,   /**< writes that, and fences */
	write_shared, /**< writes what all other nodes but the home have cached, and fences */
	dirty_miss,   /**< reads what node 2 has written */
	evict_shared, /**< forgets what was read */
	evict_dirty,  /**< writes back what was written */
};

/** What the threads of the home do in a case. */
enum class HomeState : std::uint8_t {
	waits,    /**< they wait in the library, which polls */
	sleeps,   /**< they sleep: the node's own thread answers */
	computes, /**< they compute, and poll once after each piece of work; the node's own thread is there, too */
};

struct ClusterOptions {
	std::size_t nodes = 2;
	bool in_process = false; /**< all nodes are in this process, without a device */
	bool pins = false;       /**< each node's process keeps to a processor, the next one for the next node */
	bool simulated = false;  /**< they are, and time is virtual */
	bool forwards = false;   /**< simulated: owners send what they have to who asks, as the paper has it */
	std::string master;      /**< HOST:PORT; empty: this program starts a master and all nodes */
	std::string device;      /**< empty: the first one */
	std::string address = "127.0.0.1"; /**< where others reach this node */
	Protocol protocol = Protocol::directory;
	Consistency consistency = Consistency::pso;
	bool cached = true;
	double cache = 0.15; /**< of the working sets of a node's threads */
	double timeout = 30; /**< seconds that nodes wait for each other */
};

struct RunOptions {
	ClusterOptions cluster;
	Workload workload;
	Case single = Case::none;
	HomeState home = HomeState::waits;
	double piece = 50;            /**< usec of work, of a home that computes */
	std::size_t threads = 1;      /**< of each node */
	double warm_up = 0;           /**< seconds */
	double duration = 0;          /**< seconds to measure; 0: operations */
	std::uint64_t operations = 0; /**< of each thread */
	std::size_t timed = 7;        /**< the latency of one operation of so many is measured */
};

/** Refuses options that make no sense, with EINVAL. */
[[nodiscard]] Result<void> check(const RunOptions &options);

/** Whether an operation of the case ends at once. */
[[nodiscard]] bool is_hit(Case single) noexcept;
/** Blocks that a thread hits: all are in the processor's cache, so that a hit costs what the library does. */
constexpr std::size_t hit_blocks = 16;
[[nodiscard]] std::size_t blocks_of_case(const RunOptions &options);

/** Bytes that a node lends, for all blocks that may be at home there. */
[[nodiscard]] std::uint64_t bytes_of_node(const RunOptions &options);
/** Lines of its cache. */
[[nodiscard]] std::size_t lines_of_node(const RunOptions &options);

} // namespace prism::gam::micro
