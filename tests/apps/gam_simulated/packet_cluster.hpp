/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes of either protocol on engines of the userspace device, in virtual time, over a network that loses, duplicates
 * and reorders packets. Messages go through Peers, requests through latch::VerbsHomes: the nodes' own code except for
 * its threads.
 */
#pragma once

#include <memory>
#include <vector>

#include "cluster.hpp"
#include "gam/directory/rules.hpp"
#include "gam/one_sided/rules.hpp"
#include "network.hpp"
#include "random.hpp"
#include "rpc_simulated/device.hpp"

namespace gam_sim
{

struct PacketOptions {
	prism::test::Faults faults;
	prism::test::Delays delays;
	rpc_sim::DeviceOptions device;
	bool latch = false; /* the latch protocol; else the directory's */
	prism::gam::directory::Rules directory;
	bool through_home = false;
	prism::gam::latch::Rules rules;
	bool end_queue_pairs = true; /* see LatchSurroundings */
};

class PacketCluster final : public Cluster, private rpc_sim::Around
{
public:
	PacketCluster(const ClusterOptions &options, const PacketOptions &packets);
	~PacketCluster() override;

	[[nodiscard]] Coherence &node(NodeId id) override;
	bool step() override;
	void kill(NodeId id) override;
	[[nodiscard]] bool is_dead(NodeId id) const override;
	void tell(NodeId id, NodeId dead) override;
	[[nodiscard]] bool has_mourned() const override;
	/** Not supported at this level. */
	void revive(NodeId /*id*/) override {}
	[[nodiscard]] std::uint64_t delivered_of(NodeId id) const override;
	[[nodiscard]] std::uint64_t delivered() const override { return network_->sent; }
	[[nodiscard]] Holding holding(NodeId id, Address block) override;
	[[nodiscard]] std::string disagreement(NodeId id, Address block) override;

private:
	struct Seat;
	struct DirectorySeat;
	struct LatchSeat;

	/* rpc_sim::Around */
	[[nodiscard]] prism::soft::Time time() const override { return now_; }
	prism::test::Random &random() override { return random_; }
	void find(const std::string &what) override { Cluster::find(what); }

	[[nodiscard]] prism::soft::Time next_time() const;
	[[nodiscard]] bool is_at_rest() const;

	const ClusterOptions options_;
	const PacketOptions packets_;
	prism::test::Random random_;
	prism::soft::Time now_ = 1000;
	prism::soft::Time pause_ = 0;
	std::vector<std::unique_ptr<Seat>> seats_;
	std::unique_ptr<prism::test::Network> network_;
};

} // namespace gam_sim
