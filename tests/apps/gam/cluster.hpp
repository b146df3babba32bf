/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes of one cluster inside of this process. */
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "gam/directory/directory.hpp"
#include "gam/memory/loopback.hpp"
#include "gam/memory/node.hpp"

namespace prism::gam::test
{

struct ClusterOptions {
	std::size_t nodes = 2;
	std::size_t lines = 64;          /* that each node can cache */
	NodeOptions node = small_node(); /* but self */
	LoopbackDelays delays;

	/** Nobody but those who wait answers for it. */
	static NodeOptions small_node()
	{
		NodeOptions node;
		node.bytes = std::uint64_t{1} << 20;
		node.shards = 2;
		node.serves = false;
		return node;
	}
};

class Cluster
{
public:
	explicit Cluster(const ClusterOptions &options) : network_(options.nodes, options.delays)
	{
		for (NodeId self = 0; self < options.nodes; self++)
			places_.push_back(std::make_unique<Place>(options, self, network_));
		for (const auto &place : places_) {
			nodes_.push_back(place->node.get());
			for (NodeId other = 0; other < options.nodes; other++)
				place->node->joined(other);
		}
	}

	[[nodiscard]] std::span<Node *const> nodes() const noexcept { return nodes_; }
	[[nodiscard]] Node &node(NodeId number) const noexcept { return *nodes_[number]; }
	[[nodiscard]] std::uint64_t messages() const { return network_.messages(); }

	/** @p node is dead: nothing of it comes any more, and the others hear that. */
	void lose(NodeId node)
	{
		network_.cut_off(node);
		for (Node *const other : nodes_) {
			if (other->self() != node)
				other->lost(node);
		}
	}

private:
	struct Place {
		Place(const ClusterOptions &options, NodeId self, Loopback &network)
			: memory(options.node.bytes), lines(options.lines * block_size)
		{
			NodeOptions mine = options.node;
			mine.self = self;
			const std::size_t share = options.lines / mine.shards * block_size;
			node = std::make_unique<Node>(
				mine, network.end(self), [&](Coherence::Host &host, std::size_t shard) {
					directory::Options protocol;
					protocol.self = self;
					protocol.memory = memory;
					protocol.lines = std::span(lines).subspan(shard * share, share);
					protocol.shards = mine.shards;
					protocol.shard = shard;
					return std::make_unique<Directory>(protocol, host);
				});
		}

		std::vector<std::byte> memory;
		std::vector<std::byte> lines;
		std::unique_ptr<Node> node;
	};

	Loopback network_;
	std::vector<std::unique_ptr<Place>> places_;
	std::vector<Node *> nodes_;
};

} // namespace prism::gam::test
