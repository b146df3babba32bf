/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes of one cluster in this process. */
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gam/directory/directory.hpp"
#include "gam/node/node.hpp"
#include "gam/transport/loopback.hpp"

namespace prism::gam::test
{

struct ClusterOptions {
	std::size_t nodes = 2;
	std::size_t lines = 64;          /* that each node can cache */
	NodeOptions node = small_node(); /* all but self */
	bool through_home = false;       /* as between processes */
	LoopbackDelays delays;

	/** Returns options of a small node. Only threads that wait at it poll it. */
	static NodeOptions small_node()
	{
		NodeOptions node;
		node.bytes = std::uint64_t{1} << 20;
		node.shards = 2;
		node.serves = false;
		return node;
	}
};

/** Parts that a protocol adds to the nodes of a cluster. */
class Making
{
public:
	virtual ~Making() = default;
	/** Returns the network that the node uses; by default @p messages, or one in front of it. */
	virtual Network &network(NodeId /*self*/, Network &messages) { return messages; }
	virtual std::unique_ptr<Coherence> make(NodeId self, Coherence::Host &host, std::size_t shard) = 0;
	/** Called when the node exists and may be polled. */
	virtual void start(NodeId /*self*/, Node & /*node*/) {}
};

class DirectoryMaking : public Making
{
public:
	explicit DirectoryMaking(const ClusterOptions &options) : options_(options), memories_(options.nodes)
	{
		for (Memories &memory : memories_) {
			memory.home.resize(options.node.bytes);
			memory.lines.resize(options.lines * block_size);
		}
	}
	std::unique_ptr<Coherence> make(NodeId self, Coherence::Host &host, std::size_t shard) override
	{
		const std::size_t share = options_.lines / options_.node.shards * block_size;
		directory::Options protocol;
		protocol.self = self;
		protocol.memory = memories_[self].home;
		protocol.lines = std::span(memories_[self].lines).subspan(shard * share, share);
		protocol.shards = options_.node.shards;
		protocol.shard = shard;
		protocol.through_home = options_.through_home;
		return std::make_unique<Directory>(protocol, host);
	}

private:
	struct Memories {
		std::vector<std::byte> home;
		std::vector<std::byte> lines;
	};
	const ClusterOptions options_;
	std::vector<Memories> memories_;
};

class Cluster
{
public:
	/** @p making: null for the directory protocol's. */
	explicit Cluster(const ClusterOptions &options, std::unique_ptr<Making> making = {})
		: network_(options.nodes, options.delays),
		  making_(making ? std::move(making) : std::make_unique<DirectoryMaking>(options))
	{
		for (NodeId self = 0; self < options.nodes; self++) {
			NodeOptions mine = options.node;
			mine.self = self;
			places_.push_back(std::make_unique<Node>(mine, making_->network(self, network_.end(self)),
				[&](Coherence::Host &host, std::size_t shard) {
					return making_->make(self, host, shard);
				}));
			making_->start(self, *places_.back());
		}
		for (const auto &place : places_) {
			nodes_.push_back(place.get());
			for (NodeId other = 0; other < options.nodes; other++)
				place->joined(other);
		}
	}

	[[nodiscard]] std::span<Node *const> nodes() const noexcept { return nodes_; }
	[[nodiscard]] Node &node(NodeId number) const noexcept { return *nodes_[number]; }
	[[nodiscard]] std::uint64_t messages() const { return network_.messages(); }

	/** Declares @p node dead: no more of its messages arrive, and all other nodes learn of its death. */
	void lose(NodeId node)
	{
		network_.cut_off(node);
		for (Node *const other : nodes_) {
			if (other->self() != node)
				other->lost(node);
		}
	}
	/** Ends all that @p node, which lose() has declared dead, waits for. */
	void let_go_of_all(NodeId node)
	{
		for (const Node *const other : nodes_) {
			if (other->self() != node)
				nodes_[node]->lost(other->self());
		}
	}

private:
	Loopback network_;
	std::unique_ptr<Making> making_;
	std::vector<std::unique_ptr<Node>> places_;
	std::vector<Node *> nodes_;
};

} // namespace prism::gam::test
