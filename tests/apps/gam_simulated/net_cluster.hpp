/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes whose messages arrive in any order that pairs of nodes allow. */
#pragma once

#include <optional>

#include "cluster.hpp"
#include "net.hpp"

namespace gam_sim
{

class NetCluster : public Cluster
{
public:
	[[nodiscard]] Coherence &node(NodeId id) override { return net_->node(id); }
	bool step() override { return net_->step(); }
	void hold(NodeId from, NodeId to) override { net_->hold({from, to}); }
	void release_all() override { net_->release_all(); }
	void kill(NodeId id) override { net_->kill(id); }
	[[nodiscard]] bool is_dead(NodeId id) const override { return net_->is_dead(id); }
	void tell(NodeId id, NodeId dead) override { net_->tell(id, dead); }
	/** All live nodes learn of it at once. */
	void revive(NodeId id) override
	{
		net_->revive(id);
		for (NodeId other = 0; other < net_->size(); other++) {
			if (other == id)
				continue;
			if (is_dead(other)) {
				node(id).lost(other);
				continue;
			}
			node(other).joined(id);
			node(id).joined(other);
		}
	}
	[[nodiscard]] std::uint64_t delivered_of(NodeId id) const override { return net_->delivered_of(id); }
	[[nodiscard]] std::uint64_t delivered() const override { return net_->delivered(); }

protected:
	explicit NetCluster(const ClusterOptions &options) : options_(options) {}
	/** Called once, before anything else. */
	void open(const gam_test::Net::Make &make)
	{
		net_.emplace(options_.nodes, make, options_.seed);
		net_->on_ended = [this](NodeId, Access &access) { on_ended(access); };
	}

	const ClusterOptions options_;
	std::optional<gam_test::Net> net_;
};

} // namespace gam_sim
