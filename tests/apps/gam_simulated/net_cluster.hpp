/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes whose messages arrive in any order that pairs of nodes allow. */
#pragma once

#include <memory>
#include <utility>

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
	explicit NetCluster(std::unique_ptr<gam_test::Net> net) : net_(std::move(net))
	{
		net_->on_ended = [this](NodeId, Access &access) { on_ended(access); };
	}

	const std::unique_ptr<gam_test::Net> net_;
};

} // namespace gam_sim
