/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes of the latch protocol. Beside messages, requests to the memory of homes move: each is executed at its own time,
 * in the order of its queue pair, and its chain completes at another. The agreement after a death is
 * apps/stores/gam/membership/farewells.hpp, the nodes' own code.
 */
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "gam/latch_cluster.hpp"
#include "gam/membership/farewells.hpp"
#include "gam/one_sided/latch.hpp"
#include "net_cluster.hpp"

namespace gam_sim
{

namespace latch = prism::gam::latch;
using prism::gam::Latch;

/** Rules around the protocol's object; latch::Rules are those inside. */
struct LatchSurroundings {
	bool end_queue_pairs = true; /* chains of a dead node are not executed any more once its death is known */
	bool agree = true;           /* a home sweeps when all have let go, and a number is free when all have swept */
	bool reuse_late = true;      /* a number is reused only when it is free */
};

class LatchCluster final : public NetCluster
{
public:
	LatchCluster(const ClusterOptions &options, const latch::Rules &rules, const LatchSurroundings &around);
	~LatchCluster() override;

	bool step() override;
	void hold(NodeId from, NodeId to) override;
	void release_all() override;
	void kill(NodeId id) override;
	void tell(NodeId id, NodeId dead) override;
	[[nodiscard]] bool has_mourned() const override;
	void revive(NodeId id) override;
	[[nodiscard]] std::uint64_t delivered_of(NodeId id) const override;
	[[nodiscard]] std::uint64_t delivered() const override;
	[[nodiscard]] Holding holding(NodeId id, Address block) override;
	[[nodiscard]] std::string disagreement(NodeId id, Address block) override;
	[[nodiscard]] std::string disorder() override;

private:
	struct Station;
	/** Life of a node. */
	using Life = std::pair<NodeId, std::uint64_t>;
	/** Queue pair: the poster and the home. */
	using Pair = std::pair<Life, Life>;
	struct Lane {
		std::deque<prism::gam::test::ChainUnderWay> posted;
		std::deque<prism::gam::test::ChainUnderWay> executed;
		gam_test::Responder responder;
	};
	struct Report {
		Life from, home;
		std::uint64_t address;
	};

	std::unique_ptr<Coherence> make(NodeId id, Coherence::Host &host);
	bool hear(std::pair<NodeId, NodeId> pair, const prism::gam::Message &message);
	[[nodiscard]] Latch &latch_of(NodeId id) { return static_cast<Latch &>(node(id)); }
	[[nodiscard]] Station &station(NodeId id) const { return *stations_[id]; }
	[[nodiscard]] Life life(NodeId id) const;
	[[nodiscard]] bool lives(const Life &life) const;
	[[nodiscard]] bool is_held(const Pair &pair) const;
	int post(NodeId from, NodeId home, const prism::Chain &chain, std::uint64_t token);
	bool move();
	bool move_message();
	bool move_lane();
	void execute(const Pair &pair, Lane &lane);
	void complete(const Pair &pair, Lane &lane);
	bool move_report();
	void free(const Report &report);
	void tick(NodeId id);
	[[nodiscard]] std::vector<NodeId> living() const;
	[[nodiscard]] bool is_at_rest();
	[[nodiscard]] std::string disorder_of(NodeId home);

	const latch::Rules rules_;
	const LatchSurroundings around_;
	std::mt19937_64 random_;
	std::uint64_t now_ = 0;
	unsigned idle_ = 0; /* steps in which nothing moved */
	std::vector<std::unique_ptr<Station>> stations_;
	std::vector<std::unique_ptr<Station>> graves_; /* earlier lives, whose requests may be under way */
	std::map<Pair, Lane> lanes_;
	std::set<std::pair<NodeId, NodeId>> held_;
	std::vector<Report> reports_;
	std::uint64_t lives_ = 0;
	std::map<NodeId, std::uint64_t> moved_; /* requests and completions */
};

} // namespace gam_sim
