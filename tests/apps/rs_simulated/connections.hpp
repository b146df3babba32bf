/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Control connections between clients and replicas. */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "places.hpp"

namespace rs_sim
{

class World;

/** TCP connection of one incarnation of a client to one of a replica. Messages arrive in order. */
struct Wire {
	Seat *seat = nullptr;
	std::uint64_t client = 0; /* life of the client */
	unsigned replica = 0;
	std::uint64_t life = 0;
	std::uint32_t connection = 0;
	std::unique_ptr<Pair> pair; /* until the client has it */
	Admission admission;
	soft::Time last_up = 0;
	soft::Time last_down = 0;
};
using WirePtr = std::shared_ptr<Wire>;

/** All control connections: set-up, messages and end. */
class Connections
{
public:
	explicit Connections(World &world) : world_(world) {}

	/** Connects the client of @p seat to @p replica, which is told @p epoch. */
	void want(Seat &seat, unsigned replica, std::uint64_t epoch);
	/** Ends the client's side of a connection. */
	void end(const WirePtr &wire);
	/** Sends a message of a repair, the client of @p seat, to @p replica, whose answer it gets. */
	void tell(Seat &seat, unsigned replica, const prism::apps::ControlMessage &message);

	/* Send a message of @p site on its connection @p number. */
	void tell_to_settle(const Site &site, std::uint32_t number, std::uint64_t value);
	void tell_ended(const Site &site, std::uint32_t number);
	/** Tells the clients of @p site that it has crashed. */
	void tell_crashed(const Site &site);

private:
	void up(const WirePtr &wire, soft::Time delay, std::function<void(Replica &)> hear);
	void down(const WirePtr &wire, soft::Time delay, std::function<void(Seat &)> hear);
	[[nodiscard]] soft::Time passes(const Wire &wire) const;
	[[nodiscard]] soft::Time short_time();
	void reach(const WirePtr &wire, std::uint64_t epoch);
	void answer(const WirePtr &wire);
	void confirm(const WirePtr &wire);
	void begin(const WirePtr &wire);
	void try_again(const WirePtr &wire);
	[[nodiscard]] WirePtr wire_of(const Site &site, std::uint32_t number) const;

	World &world_;
	std::vector<std::weak_ptr<Wire>> wires_;
};

} // namespace rs_sim
