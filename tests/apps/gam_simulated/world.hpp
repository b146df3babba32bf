/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes of a protocol, their threads, and the order in which messages arrive, by seed. */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "simulation/result.hpp"
#include "thread.hpp"

namespace gam_sim
{

struct WorldOptions {
	MakeCluster make;
	ThreadOptions thread;
	unsigned nodes = 3;
	unsigned threads = 2; /* of each node */
	unsigned lines = 3;
	bool loses_little = false;       /* deaths lose no more than survivors.hpp allows */
	double evictions = 2;            /* percent of the steps at which a node evicts all that it can */
	double holds = 2;                /* percent of the steps at which a pair of nodes falls silent for a while */
	unsigned crashes = 0;            /* nodes that die during the run */
	std::uint64_t longest = 100'000; /* steps */
	bool returns = false;            /* ... and their numbers are given to new nodes */
	std::uint64_t crash_at = 0;      /* node 1 dies with this message, sent or received; 0: never */
};

struct WorldResult : simulation::Result {
	std::uint64_t operations = 0;
	std::uint64_t busy = 0;
	std::uint64_t returns = 0;
	prism::gam::CoherenceStats coherence;

	/** Adds all but the finding. */
	void add(const WorldResult &other) noexcept;
};

class World
{
public:
	World(std::uint64_t seed, const WorldOptions &options);
	WorldResult run();

private:
	/** Thread of one life of a node. */
	struct Player {
		NodeId node;
		bool has_died;
		std::unique_ptr<Thread> thread;
	};

	void step();
	void hold_some();
	void crash_some();
	void die(NodeId id);
	void return_some();
	void add_threads(NodeId id);
	void tell_some();
	bool tell_one();
	void settle();
	[[nodiscard]] bool is_over() const;
	[[nodiscard]] bool is_alive(NodeId id) const { return !cluster_->is_dead(id); }
	/** Returns true if the node has been alive all the time. */
	[[nodiscard]] bool is_first_life(NodeId id) const { return is_alive(id) && !shared_.lives.contains(id); }
	[[nodiscard]] bool chance(double percent);
	void for_each_block(const std::function<void(Address)> &visit) const;

	void check_block(Address block);
	void check_rest();
	void check_agreement();
	void check_history();
	void check_all_can_write();
	void check_words(Address block);
	void find(const std::string &what);

	const WorldOptions options_;
	Shared shared_;
	std::unique_ptr<Cluster> cluster_;
	std::vector<Player> players_;                   /* by clients of the history */
	std::vector<std::pair<NodeId, NodeId>> untold_; /* dead node, node that does not know */
	unsigned crashes_left_;
	WorldResult result_;
};

} // namespace gam_sim
