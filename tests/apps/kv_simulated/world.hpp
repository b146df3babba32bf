/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PRISM-KV store, its users and the network between them, in virtual time. */
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server.hpp"
#include "simulation/result.hpp"
#include "simulation/world.hpp"
#include "user.hpp"

namespace kv_sim
{

struct WorldOptions {
	test::Faults faults;
	test::Delays delays;
	ServerOptions server;
	UserOptions user;
	unsigned users = 4;
	std::uint64_t operations = 60; /* of each user; with days, of each in one burst */
	soft::Time server_turn = 0;    /* mean ns between two turns of the server's loop; 0: always */
	double scans = 1;              /* percent of the steps that request a scan */
	unsigned crashes = 0;          /* users that die during the run, and come back */
	std::uint64_t crash_at = 0;    /* the first user dies with this packet, sent or received; 0: never */
	bool server_restart = false;   /* the server vanishes during the run and comes back empty */
	double days = 0;               /* days of the users' work, which then comes in bursts */
	double pause = 300;            /* seconds of virtual time between two bursts */
};

struct WorldResult : simulation::Result {
	UserFigures users;
	std::uint64_t claims = 0;       /* claims that scans found */
	soft::Time longest_failure = 0; /* from the end of the server to the error of an operation */

	/** Adds all but the finding. */
	void add(const WorldResult &other) noexcept;
};

class World final : private simulation::World
{
public:
	World(std::uint64_t seed, const WorldOptions &options);
	~World() override;
	WorldResult run();

private:
	struct Site final : simulation::Site {
		explicit Site(World &world) : simulation::Site(world, 1, 64, {}) {}
		[[nodiscard]] simulation::Store *store() const noexcept override { return server.get(); }

		std::unique_ptr<Server> server;
		soft::Time next_turn = 0;
	};
	struct Seat final : simulation::Seat {
		using simulation::Seat::Seat;
		[[nodiscard]] bool occupied() const noexcept override { return user->connected(); }
		[[nodiscard]] bool has_completions() const noexcept override
		{
			return user->client().has_completions();
		}
		[[nodiscard]] soft::Time next_timer(soft::Time /*now*/) const noexcept override { return 0; }

		std::unique_ptr<User> user;
		std::uint32_t connection = 0; /* its number at the server */
		std::size_t life = 0;         /* of the server that it is connected to */
	};

	/* simulation::World */
	void poll(simulation::Seat &seat) override;
	void serve(simulation::Site &site) override;
	[[nodiscard]] soft::Time next_turn(const simulation::Site &site) const override;
	void kill(simulation::Seat &seat) override;
	void sit_down(simulation::Seat &seat) override;
	void tell_to_settle(simulation::Site &site, std::uint32_t connection, std::uint64_t value) override;

	void crash_some();
	/** Returns true if the server of this life is still there. */
	[[nodiscard]] bool has_server(std::size_t life) const { return site_.server && life == lives_.size(); }
	void end_server();
	void begin_server();
	void heed_failure(Seat &seat);
	void burst();
	[[nodiscard]] bool working() const;
	void close();
	void sum_up();

	const WorldOptions options_;
	WorldResult result_;
	Site site_;
	std::vector<std::unique_ptr<Seat>> seats_;
	std::vector<std::shared_ptr<History>> lives_; /* of the servers, one after another */
	bool closing_ = false;                        /* the users leave */
	soft::Time server_ended_ = 0;
	unsigned crashes_left_ = 0;
};

} // namespace kv_sim
