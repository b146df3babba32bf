/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The nodes of a protocol and what is between them, as far as the world must know of it. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gam/coherence/coherence.hpp"

namespace gam_sim
{

using prism::gam::Access;
using prism::gam::Address;
using prism::gam::Coherence;
using prism::gam::NodeId;

/** The first of the types of messages that are for Farewells, and not the protocol's. */
constexpr std::uint8_t first_word = 0xf0;

/** How a node has a block, at a moment. */
struct Holding {
	const std::byte *data = nullptr; /* null: its threads cannot read it without a message */
	bool alone = false;              /* they can write it without one */
};

struct ClusterOptions {
	unsigned nodes = 3;
	unsigned blocks = 2; /* of each home */
	unsigned lines = 3;
	bool mortal = false; /* nodes die on the way */
	std::uint64_t seed = 1;
};

class Cluster
{
public:
	virtual ~Cluster() = default;

	[[nodiscard]] virtual Coherence &node(NodeId id) = 0;
	/** Something moves, or time passes. False: nothing will move any more. */
	virtual bool step() = 0;
	/** Until nothing moves. Bounded: false if it does not end. */
	bool run(std::size_t steps)
	{
		while (steps-- > 0) {
			if (!step())
				return true;
		}
		return false;
	}
	/** What goes from @p from to @p to stays where it is, until release_all(). */
	virtual void hold(NodeId /*from*/, NodeId /*to*/) {}
	virtual void release_all() {}

	/* Deaths */
	virtual void kill(NodeId id) = 0;
	[[nodiscard]] virtual bool is_dead(NodeId id) const = 0;
	/** @p id learns of it. */
	virtual void tell(NodeId id, NodeId dead) = 0;
	/** All that live have learnt of all deaths, and whatever they had to agree on they have. */
	[[nodiscard]] virtual bool has_mourned() const { return true; }
	/** The number of a dead node is given to another, which has nothing. After has_mourned(). */
	virtual void revive(NodeId id) = 0;

	/** What has come, from @p id or to it, and all. */
	[[nodiscard]] virtual std::uint64_t delivered_of(NodeId id) const = 0;
	[[nodiscard]] virtual std::uint64_t delivered() const = 0;

	/* For checks */
	[[nodiscard]] virtual Holding holding(NodeId id, Address block) = 0;
	/** At rest: why the home of @p block and node @p id do not agree about it; empty if they do. */
	[[nodiscard]] virtual std::string disagreement(NodeId id, Address block) = 0;
	/** At rest: what else is wrong. */
	[[nodiscard]] virtual std::string disorder() { return {}; }

	/** Called with each access that ends by Host::ended(). */
	std::function<void(Access &)> on_ended = [](Access &) {};
	/** Called with what must not happen. */
	std::function<void(const std::string &)> find = [](const std::string &) {};
};

/** Makes the nodes of a run. */
using MakeCluster = std::function<std::unique_ptr<Cluster>(const ClusterOptions &)>;

} // namespace gam_sim
