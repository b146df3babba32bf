/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes of a protocol and the network between them, as the world sees them. */
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

/** First of the message types that are for Farewells and not for the protocol. */
constexpr std::uint8_t first_word = 0xf0;

/** State of a block at a node, at one moment. */
struct Holding {
	const std::byte *data = nullptr; /* null: its threads cannot read it without a message */
	bool alone = false;              /* they can write it without a message */
};

struct ClusterOptions {
	unsigned nodes = 3;
	unsigned blocks = 2; /* of each home */
	unsigned lines = 3;
	bool mortal = false; /* nodes die during the run */
	std::uint64_t seed = 1;
};

class Cluster
{
public:
	virtual ~Cluster() = default;

	[[nodiscard]] virtual Coherence &node(NodeId id) = 0;
	/** Delivers something, or advances the time. Returns false if nothing will move any more. */
	virtual bool step() = 0;
	/** Runs until nothing moves. Returns false if @p steps do not suffice. */
	bool run(std::size_t steps)
	{
		while (steps-- > 0) {
			if (!step())
				return true;
		}
		return false;
	}
	/** Holds all from @p from to @p to until release_all(). */
	virtual void hold(NodeId /*from*/, NodeId /*to*/) {}
	virtual void release_all() {}

	/* Deaths */
	virtual void kill(NodeId id) = 0;
	[[nodiscard]] virtual bool is_dead(NodeId id) const = 0;
	/** Tells @p id of the death of @p dead. */
	virtual void tell(NodeId id, NodeId dead) = 0;
	/** Returns true if all live nodes know of all deaths and have agreed on all that they must. */
	[[nodiscard]] virtual bool has_mourned() const { return true; }
	/** Gives the number of a dead node to a new node, which has nothing. Call after has_mourned(). */
	virtual void revive(NodeId id) = 0;

	/** Return the numbers of deliveries from or to @p id, and in total. */
	[[nodiscard]] virtual std::uint64_t delivered_of(NodeId id) const = 0;
	[[nodiscard]] virtual std::uint64_t delivered() const = 0;

	/* For checks */
	[[nodiscard]] virtual Holding holding(NodeId id, Address block) = 0;
	/** At rest: returns why the home of @p block and node @p id disagree about it; empty if they agree. */
	[[nodiscard]] virtual std::string disagreement(NodeId id, Address block) = 0;
	/** At rest: returns any other error. */
	[[nodiscard]] virtual std::string disorder() { return {}; }

	/** Called with each access that ends by Host::ended(). */
	std::function<void(Access &)> on_ended = [](Access &) {};
	/** Called with an error that must not happen. */
	std::function<void(const std::string &)> find = [](const std::string &) {};
};

/** Makes the nodes of a run. */
using MakeCluster = std::function<std::unique_ptr<Cluster>(const ClusterOptions &)>;

} // namespace gam_sim
