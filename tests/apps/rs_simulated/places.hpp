/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Hosts of replicas, users and repairs. */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "repair.hpp"
#include "replica.hpp"
#include "simulation/world.hpp"
#include "user.hpp"

namespace rs_sim
{

class Connections;
struct Wire;

struct Site final : simulation::Site {
	Site(simulation::World &world, unsigned replica_number, std::uint8_t host_number);
	[[nodiscard]] simulation::Store *store() const noexcept override { return replica.get(); }

	const unsigned number;
	std::unique_ptr<Replica> replica; /* null if it has crashed */
	std::uint64_t life = 1;
	bool stays_away = false;
};

/** Host with a client on it, a user's or a repair's. */
struct Seat final : simulation::Seat, RepairTalk {
	Seat(Connections &all_connections, std::size_t seat_number, std::uint8_t host_number, unsigned replicas);
	~Seat() override;

	[[nodiscard]] bool occupied() const noexcept override { return client != nullptr; }
	[[nodiscard]] bool has_completions() const noexcept override { return client->has_completions(); }
	[[nodiscard]] soft::Time next_timer(soft::Time now) const noexcept override
	{
		return simulation::earlier(client->next_timer(), user ? user->next_begin(now) : 0);
	}
	/* RepairTalk */
	void tell(unsigned replica, const prism::apps::ControlMessage &message) override;

	Connections &connections;
	std::unique_ptr<User> user; /* null for a repair */
	std::unique_ptr<Client> client;
	std::unique_ptr<Repair> repair;
	unsigned repaired = 0;      /* replica that it repairs */
	std::uint64_t identity = 0; /* of the client, in its tags */
	std::uint64_t life = 0;
	std::vector<std::shared_ptr<Wire>> wires; /* by replica: current connections */
};

} // namespace rs_sim
