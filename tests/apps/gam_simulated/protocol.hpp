/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the world must know of a protocol to check it. */
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "gam/coherence/coherence.hpp"

namespace gam_sim
{

using prism::gam::Address;
using prism::gam::Coherence;
using prism::gam::NodeId;

/** How a node has a block, at a moment. */
struct Holding {
	const std::byte *data = nullptr; /* null: its threads cannot read it without a message */
	bool alone = false;              /* they can write it without one */
};

/** The memory of a node. */
struct Memory {
	std::span<std::byte> home;
	std::span<std::byte> lines;
};

class Protocol
{
public:
	virtual ~Protocol() = default;
	[[nodiscard]] virtual std::unique_ptr<Coherence> make(
		NodeId self, Coherence::Host &host, const Memory &memory) const = 0;
	[[nodiscard]] virtual Holding holding(Coherence &node, NodeId self, Address block) const = 0;
	/** At rest: why the home of @p block and another node do not agree about it; empty if they do. */
	[[nodiscard]] virtual std::string disagreement(
		Coherence &home, Coherence &node, NodeId id, Address block) const = 0;
};

} // namespace gam_sim
