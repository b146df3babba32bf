/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "directory_protocol.hpp"

namespace gam_sim
{

using prism::gam::Directory;
using prism::gam::directory::Entry;
using prism::gam::directory::HomeState;
using prism::gam::directory::LineState;

std::unique_ptr<Coherence> DirectoryProtocol::make(NodeId self, Coherence::Host &host, const Memory &memory) const
{
	prism::gam::directory::Options options;
	options.self = self;
	options.memory = memory.home;
	options.lines = memory.lines;
	options.rules = rules_;
	options.through_home = through_home_;
	return std::make_unique<Directory>(options, host);
}

Holding DirectoryProtocol::holding(Coherence &node, NodeId self, Address block) const
{
	auto &directory = static_cast<Directory &>(node);
	Holding holding;
	if (block.home() != self) {
		holding.alone = directory.line(block, &holding.data) == LineState::dirty;
		return holding;
	}
	const Entry &entry = *directory.entry(block);
	if (entry.state == HomeState::shared) {
		holding.data = directory.memory(block);
		holding.alone = !entry.sharers;
	}
	return holding;
}

std::string DirectoryProtocol::disagreement(Coherence &home, Coherence &node, NodeId id, Address block) const
{
	const Entry &entry = *static_cast<Directory &>(home).entry(block);
	const LineState line = static_cast<Directory &>(node).line(block);
	if ((entry.owner == id) != (line == LineState::dirty))
		return "the directory and a line do not agree about the owner";
	if (line == LineState::shared && !(entry.sharers & prism::gam::bit(id)))
		return "the directory does not know of a sharer";
	return {};
}

} // namespace gam_sim
