/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Server of calls, its clients and the network between them, in virtual time. */
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server.hpp"
#include "simulation/result.hpp"
#include "simulation/world.hpp"
#include "spoiler.hpp"
#include "user.hpp"

namespace rpc_sim
{

struct WorldOptions {
	test::Faults faults;
	test::Delays delays;
	ServerOptions server;
	UserOptions user;
	unsigned users = 3;
	std::uint64_t calls = 40;    /* of each user */
	unsigned crashes = 0;        /* users that die during the run; another takes the place of each */
	std::uint64_t crash_at = 0;  /* the first user dies with this packet; 0: never */
	bool comes_back = false;     /* they lose their queue pairs instead, and come back */
	double failures = 0;         /* percent of the steps that make a queue pair fail; the client comes back */
	double stalls = 0;           /* percent of the server's turns after which it stands still for a while */
	bool server_restart = false; /* the server dies during the run, and another begins */
};

struct WorldResult : simulation::Result {
	UserFigures users;
	std::uint64_t repeated = 0; /* calls answered with kept responses */

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
	class Surround;
	struct Site final : simulation::Site {
		explicit Site(World &world) : simulation::Site(world, 1, 64, {}) {}
		[[nodiscard]] bool up() const noexcept override { return server != nullptr; }

		std::unique_ptr<Server> server;
		soft::Time next_turn = 0;
		soft::Time pause = 0;
	};
	struct Seat final : simulation::Seat {
		using simulation::Seat::Seat;
		[[nodiscard]] bool occupied() const noexcept override { return user->connected() && !away; }
		[[nodiscard]] bool has_completions() const noexcept override { return user->has_completions(); }
		[[nodiscard]] soft::Time next_timer(soft::Time now) const noexcept override
		{
			return std::max(next_look, now + 1);
		}

		std::unique_ptr<Spoiler> spoiler; /* of the link; may be null */
		std::unique_ptr<User> user;
		bool away = false;    /* the link is broken, and the client will come back */
		bool failing = false; /* the link may break */
		std::size_t life = 0; /* of the server that it is connected to */
		soft::Time next_look = 0;
		soft::Time pause = 0;
	};

	/* simulation::World */
	void poll(simulation::Seat &seat) override;
	void serve(simulation::Site &site) override;
	[[nodiscard]] soft::Time next_turn(const simulation::Site &site) const override;
	void kill(simulation::Seat &seat) override;
	void sit_down(simulation::Seat &seat) override;
	void tell_to_settle(simulation::Site &, std::uint32_t, std::uint64_t) override {}

	void connect(Seat &seat, bool again);
	void fail(Seat &seat);
	void leave(Seat &seat);
	void heed_failure(Seat &seat);
	void return_later(Seat &seat, soft::Time delay);
	void watch();
	void let_things_happen();
	void end_server();
	void begin_server();
	[[nodiscard]] bool working() const;
	void idle();
	void close();
	void come_to_rest();
	void sum_up();

	const WorldOptions options_;
	WorldResult result_;
	std::unique_ptr<Surround> around_;
	Ledger ledger_;
	Site site_;
	std::vector<std::unique_ptr<Seat>> seats_;
	std::size_t lives_ = 0; /* number of servers so far */
	unsigned crashes_left_ = 0;
	std::uint64_t restart_after_ = 0; /* after this number of answers */
	std::uint64_t answered_ = 0;      /* answers so far, and when they were counted */
	soft::Time answered_at_ = 0;
	bool closing_ = false;
};

} // namespace rpc_sim
