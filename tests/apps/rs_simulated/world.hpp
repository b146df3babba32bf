/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Replicated volume, its users, its repairs and the network between them, in virtual time. */
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
	double scans = 0.2;           /* percent of the steps that request a scan of a replica */
	unsigned crashes = 0;         /* users that die during the run, and come back */
	std::uint64_t crash_at = 0;   /* the first user dies with this packet, sent or received; 0: never */
	unsigned replica_crashes = 0; /* replicas that vanish during the run, come back empty and are repaired */
	unsigned repair_crashes = 0;  /* repairs that vanish during the run, or that begin too soon */
	unsigned partitions = 0;      /* of a client from a replica, for a time */
	soft::Time longest_partition = 12'000'000;
	unsigned lost_acknowledgements = 0; /* see Mishaps::lose_acknowledgements() */
	unsigned second_lives = 0;          /* see Mishaps::live_twice() */
	double days = 0;                    /* days of the users' work, which then comes in bursts, and of all events */
	double pause = 600;                 /* seconds of virtual time between two bursts */
	std::function<void(double day, std::uint64_t operations)> progress = {}; /* for runs of days; may be null */
	bool lost_together = false; /* as many replicas as allowed are lost at once, with no other events */
	unsigned down = 0;          /* replicas that vanish during the run and stay away */
	unsigned writers = 32;      /* users that also write */
	bool exclusive = false;     /* the first user is the only writer */
	bool intruder = false;      /* it only believes so */
	Flaw flaw = Flaw::none;
};

struct WorldResult : simulation::Result {
	UserFigures users;
	std::uint64_t replica_crashes = 0;
	std::uint64_t partitions = 0;
	std::uint64_t repairs = 0;
	std::uint64_t lost_repairs = 0;
	std::uint64_t interruptions = 0; /* times that repairs began again, as others began newer epochs */
	std::uint64_t links = 0;         /* connections made */

	/** Adds all but the finding. */
	void add(const WorldResult &other) noexcept;
};

class World final : private simulation::World, private ClientSurroundings
{
public:
	World(std::uint64_t seed, const WorldOptions &options);
	~World() override;
	WorldResult run();

private:
	/* Parts of the world in their own files */
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
	/** Returns the number of users that also write. */
	[[nodiscard]] unsigned writers() const
	{
		return options_.exclusive ? 1u + options_.intruder : options_.writers;
	}

	/* Replicas' ends and returns */
	void retire(const Replica &replica);
	/** Returns false if no more replicas may crash. */
	bool crash_replica(unsigned replica, bool stays_away);
	void bring_back(unsigned replica);
	/** @p alone: only if the replica has no other repair. */
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
