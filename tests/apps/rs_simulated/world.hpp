/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A replicated volume, its users, its repairs and the network between them, in virtual time. */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connections.hpp"
#include "mishaps.hpp"
#include "places.hpp"
#include "simulation/result.hpp"
#include "simulation/world.hpp"

namespace rs_sim
{

struct WorldOptions {
	test::Faults faults;
	test::Delays delays;
	ReplicaOptions replica;
	UserOptions user;
	unsigned replicas = 3;
	unsigned users = 4;
	std::uint64_t operations = 40; /* of each user */
	std::uint32_t report_batch = 4;
	soft::Time hedge = 500'000;   /* as in ProtocolOptions */
	double scans = 0.2;           /* percent of the steps at which somebody asks for a scan of a replica */
	unsigned crashes = 0;         /* users that die on the way, and come back */
	std::uint64_t crash_at = 0;   /* the first user dies with its so manieth packet, sent or received; 0: not */
	unsigned replica_crashes = 0; /* replicas that vanish on the way, come back empty and are repaired */
	unsigned repair_crashes = 0;  /* repairs that vanish on the way, and others that come too soon */
	unsigned partitions = 0;      /* of a client from a replica, for a time */
	soft::Time longest_partition = 12'000'000;
	unsigned lost_acknowledgements = 0; /* see World::lose_acknowledgements() */
	unsigned second_lives = 0;          /* see World::live_twice() */
	double days = 0;    /* of the users' work, which then comes in bursts, and of all that happens */
	double pause = 600; /* seconds of virtual time between two bursts */
	std::function<void(double day, std::uint64_t operations)> progress = {}; /* of days; may be null */
	bool lost_together = false; /* as many replicas as may be are lost at once, and repaired, with nothing else */
	unsigned down = 0;          /* replicas that vanish on the way and stay away */
	unsigned writers = 32;      /* users that do not only read */
	bool exclusive = false;     /* the first user is the only one that writes */
	bool intruder = false;      /* or so it believes */
	Flaw flaw = Flaw::none;
};

struct WorldResult : simulation::Result {
	UserFigures users;
	std::uint64_t replica_crashes = 0;
	std::uint64_t partitions = 0;
	std::uint64_t repairs = 0;
	std::uint64_t lost_repairs = 0;
	std::uint64_t interruptions = 0; /* of repairs that began all over again, as others began newer epochs */
	std::uint64_t links = 0;         /* connections that were made */

	/** Sums up all but the finding. */
	void add(const WorldResult &other) noexcept;
};

class World final : private simulation::World, private ClientSurroundings
{
public:
	World(std::uint64_t seed, const WorldOptions &options);
	~World() override;
	WorldResult run();

private:
	/* Parts of it, in files of their own */
	friend class Connections;
	friend class Mishaps;

	/* ClientSurroundings */
	[[nodiscard]] soft::Time time() const override { return now(); }
	void want(Client &client, unsigned replica, std::uint64_t epoch) override;
	void closed(Client &client, unsigned replica, std::uint32_t connection) override;

	/* simulation::World */
	void poll(simulation::Seat &base) override;
	void kill(simulation::Seat &base) override;
	void sit_down(simulation::Seat &base) override;
	void tell_to_settle(simulation::Site &base, std::uint32_t connection, std::uint64_t value) override;
	void tell_ended(simulation::Site &base, std::uint32_t connection) override;

	Seat &seat_of(const Client &client);
	[[nodiscard]] unsigned serving() const;
	[[nodiscard]] unsigned failures() const { return (options_.replicas - 1) / 2; }
	/** Users that do not only read. */
	[[nodiscard]] unsigned writers() const
	{
		return options_.exclusive ? 1u + options_.intruder : options_.writers;
	}

	/* Replicas' ends and returns */
	void retire(const Replica &replica);
	/** False: as few as that must stay. */
	bool crash_replica(unsigned replica, bool stays_away);
	void bring_back(unsigned replica);
	/** @p alone: unless there is another of that replica. */
	void begin_repair(unsigned replica, bool alone);
	void lose_repair(Seat &seat);
	void look_after_repairs(Seat &seat);

	/* A run */
	void burst();
	[[nodiscard]] std::string state() const;
	[[nodiscard]] bool working() const;
	[[nodiscard]] bool whole() const;
	void close();
	void check_all();
	void sum_up();

	const WorldOptions options_;
	WorldResult result_;
	simulation::History history_;
	std::vector<std::unique_ptr<Site>> sites_;
	std::vector<std::unique_ptr<Seat>> seats_; /* users, then repairs */
	Connections connections_;
	Mishaps mishaps_;
	std::uint32_t generation_ = 0; /* of the exclusive writer */
	bool closing_ = false;         /* the users leave */
};

} // namespace rs_sim
