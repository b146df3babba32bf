/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "directory_cluster.hpp"

#include <map>

namespace gam_sim
{

using prism::gam::block_size;
using prism::gam::directory::Entry;
using prism::gam::directory::HomeState;
using prism::gam::directory::LineState;

DirectoryParts::DirectoryParts(const ClusterOptions &options)
	: home(options.blocks * block_size), lines(options.lines * block_size)
{
}

std::unique_ptr<Directory> DirectoryParts::make(
	NodeId self, Coherence::Host &host, const directory::Rules &rules, bool through_home)
{
	directory::Options options;
	options.self = self;
	options.memory = home;
	options.lines = lines;
	options.rules = rules;
	options.through_home = through_home;
	return std::make_unique<Directory>(options, host);
}

Holding holding_of(Directory &node, NodeId self, Address block)
{
	Holding holding;
	if (block.home() != self) {
		holding.alone = node.line(block, &holding.data) == LineState::dirty;
		return holding;
	}
	const Entry &entry = *node.entry(block);
	if (entry.state == HomeState::shared) {
		holding.data = node.memory(block);
		holding.alone = !entry.sharers;
	}
	return holding;
}

std::string disagreement_of(Directory &home, Directory &node, NodeId id, Address block)
{
	if (id == block.home())
		return {};
	const Entry &entry = *home.entry(block);
	const LineState line = node.line(block);
	if ((entry.owner == id) != (line == LineState::dirty))
		return "the directory and a line do not agree about the owner";
	if (line == LineState::shared && !(entry.sharers & prism::gam::bit(id)))
		return "the directory does not know of a sharer";
	return {};
}

/* Each life of a node has its own memory. */
DirectoryCluster::DirectoryCluster(const ClusterOptions &options, const directory::Rules &rules, bool through_home)
	: NetCluster(std::make_unique<gam_test::Net>(
		  options.nodes,
		  [options, rules, through_home, memories = std::make_shared<std::map<NodeId, DirectoryParts>>()](
			  NodeId id, Coherence::Host &host) {
			  return memories->insert_or_assign(id, DirectoryParts(options))
				  .first->second.make(id, host, rules, through_home);
		  },
		  options.seed))
{
}

Holding DirectoryCluster::holding(NodeId id, Address block)
{
	return holding_of(directory_of(id), id, block);
}

std::string DirectoryCluster::disagreement(NodeId id, Address block)
{
	return disagreement_of(directory_of(block.home()), directory_of(id), id, block);
}

} // namespace gam_sim
