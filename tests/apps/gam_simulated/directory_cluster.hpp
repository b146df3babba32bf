/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <vector>

#include "gam/directory/directory.hpp"
#include "net_cluster.hpp"

namespace gam_sim
{

namespace directory = prism::gam::directory;
using prism::gam::Directory;

/* State of a node of the directory's protocol, for any network */
[[nodiscard]] Holding holding_of(Directory &node, NodeId self, Address block);
[[nodiscard]] std::string disagreement_of(Directory &home, Directory &node, NodeId id, Address block);

/** Memory of a node, and its protocol object. */
struct DirectoryParts {
	explicit DirectoryParts(const ClusterOptions &options);
	std::unique_ptr<Directory> make(
		NodeId self, Coherence::Host &host, const directory::Rules &rules, bool through_home);

	std::vector<std::byte> home;
	std::vector<std::byte> lines;
};

class DirectoryCluster final : public NetCluster
{
public:
	DirectoryCluster(const ClusterOptions &options, const directory::Rules &rules, bool through_home);

	[[nodiscard]] Holding holding(NodeId id, Address block) override;
	[[nodiscard]] std::string disagreement(NodeId id, Address block) override;

private:
	[[nodiscard]] Directory &directory_of(NodeId id) { return static_cast<Directory &>(node(id)); }
};

} // namespace gam_sim
