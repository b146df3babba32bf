/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "gam/directory/directory.hpp"
#include "protocol.hpp"

namespace gam_sim
{

class DirectoryProtocol final : public Protocol
{
public:
	DirectoryProtocol(const prism::gam::directory::Rules &rules, bool through_home)
		: rules_(rules), through_home_(through_home)
	{
	}

	[[nodiscard]] std::unique_ptr<Coherence> make(
		NodeId self, Coherence::Host &host, const Memory &memory) const override;
	[[nodiscard]] Holding holding(Coherence &node, NodeId self, Address block) const override;
	[[nodiscard]] std::string disagreement(
		Coherence &home, Coherence &node, NodeId id, Address block) const override;

private:
	const prism::gam::directory::Rules rules_;
	const bool through_home_;
};

} // namespace gam_sim
