/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes of the latch protocol on a LatchNet. The agreement after a death is apps/stores/gam/membership/farewells.hpp,
 * the nodes' own code.
 */
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "latch_net.hpp"
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

/* State of a node of the latch protocol, for any network */
[[nodiscard]] Holding holding_of(Latch &node, Address block);

class LatchCluster final : public NetCluster
{
public:
	LatchCluster(const ClusterOptions &options, const latch::Rules &rules, const LatchSurroundings &around);
	~LatchCluster() override;

	bool step() override;
	void tell(NodeId id, NodeId dead) override;
	[[nodiscard]] bool has_mourned() const override { return !around_.reuse_late || has_agreed(); }
	void revive(NodeId id) override;
	[[nodiscard]] Holding holding(NodeId id, Address block) override { return holding_of(net().latch(id), block); }
	[[nodiscard]] std::string disagreement(NodeId id, Address block) override
	{
		return net().disagreement(id, block);
	}
	[[nodiscard]] std::string disorder() override { return net().disorder(mortal_); }

private:
	struct Mourner;

	[[nodiscard]] gam_test::LatchNet &net() const { return static_cast<gam_test::LatchNet &>(*net_); }
	bool hear(std::pair<NodeId, NodeId> pair, const prism::gam::Message &message);
	void tick(NodeId id);
	[[nodiscard]] std::vector<NodeId> living() const;
	[[nodiscard]] bool is_at_rest() const;
	[[nodiscard]] bool has_agreed() const;

	const LatchSurroundings around_;
	const bool mortal_;
	unsigned idle_ = 0;       /* steps in which nothing moved */
	std::uint64_t posts_ = 0; /* until the last of these */
	std::vector<std::unique_ptr<Mourner>> mourners_;
};

} // namespace gam_sim
