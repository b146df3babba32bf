/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shards of a store, its users and the network between them, in virtual time. */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../../serializability/findings.hpp"
#include "shard.hpp"
#include "simulation/result.hpp"
#include "simulation/world.hpp"
#include "user.hpp"

namespace tx_sim
{

struct WorldOptions {
	test::Faults faults;
	test::Delays delays;
	UserOptions user;
	unsigned shards = 2;
	unsigned users = 4;
	std::uint64_t transactions = 40; /* of each user */
	std::uint64_t cells = 0;         /* of a shard; 0: each key has its own cell, by its number */
	bool as_in_paper = false;
	std::uint32_t mtu = 1024;
	std::uint32_t spare_lanes = 2;    /* places in a client's logs beside those of its lanes */
	std::uint32_t spare_buffers = 64; /* of each size of a shard, beside one for each cell */
	std::uint32_t report_batch = 4;
	std::uint32_t send_queue = 512; /* work requests */
	std::uint64_t slots_a_step = 512;
	soft::Time patience = 50'000;
	soft::Time timeout = 200'000'000; /* of a transaction with all its attempts */
	double scans = 0.2;               /* percent of the steps that request a scan of a shard */
	double jumps = 0.5;               /* percent of the steps that let a user's clock jump */
	unsigned crashes = 0;             /* users that die during the run, and come back */
	std::uint64_t crash_at = 0;       /* the first user dies with this packet, sent or received; 0: never */
	unsigned shard_crashes = 0;       /* shards that vanish during the run and stay away */
	unsigned partitions = 0;          /* of a client from a shard, for a time */
	soft::Time longest_partition = 20'000'000;
	/** Index of the run in a history of many. Runs differ in their keys, sessions and timestamps. */
	std::uint64_t run = 0;
	serializability::HistoryWriter *history = nullptr;
	Flaw flaw = Flaw::none;
	std::string expected; /* only findings with this text count; empty: all */
};

struct WorldResult : simulation::Result {
	UserFigures users;
	prism::tx::TransactionFigures transactions;
	std::uint64_t shard_crashes = 0;
	std::uint64_t partitions = 0;
	std::uint64_t clients = 0;   /* clients that have connected */
	std::uint64_t takeovers = 0; /* those with a number that was another's */

	/** Adds all but the finding. */
	void add(const WorldResult &other) noexcept;
};

class World final : private simulation::World, private ClientSurroundings, private Recorder
{
public:
	World(std::uint64_t seed, const WorldOptions &options);
	~World() override;
	WorldResult run();

private:
	struct Site final : simulation::Site {
		Site(simulation::World &world, std::size_t number, std::uint8_t host_number);
		[[nodiscard]] simulation::Store *store() const noexcept override { return shard.get(); }

		const std::size_t number;
		std::unique_ptr<Shard> shard; /* null if it has crashed */
	};

	struct Seat final : simulation::Seat {
		using simulation::Seat::Seat;
		[[nodiscard]] bool occupied() const noexcept override { return client != nullptr; }
		[[nodiscard]] bool has_completions() const noexcept override { return client->has_completions(); }
		[[nodiscard]] soft::Time next_timer(soft::Time now) const noexcept override;

		std::unique_ptr<User> user; /* null: its clients only end transactions that others have left */
		std::unique_ptr<Client> client;
		std::uint64_t life = 0;
		std::int64_t skew = 0;                  /* ns, of its clock */
		bool in_use = false;                    /* by its user */
		bool doomed = false;                    /* it is certain to be killed */
		std::vector<std::uint32_t> connections; /* by shard, as far as it is admitted */
	};

	/** Client on its way to a shard. */
	struct Arrival {
		Seat *seat = nullptr;
		std::uint64_t life = 0;
		std::size_t shard = 0;
		std::unique_ptr<Pair> pair;
		Admission admission;
	};

	/* ClientSurroundings */
	[[nodiscard]] soft::Time time() const override { return now(); }
	void closed(std::size_t shard, std::uint32_t connection) override;
	void want_recovery(std::size_t shard) override;
	[[nodiscard]] const std::byte *peek(std::size_t shard, std::uint64_t va, std::uint64_t length) const override;

	/* Recorder */
	std::uint32_t begin_session() override { return sessions_++; }
	void record(serializability::Draft &transaction) override;

	/* simulation::World */
	void poll(simulation::Seat &base) override;
	void kill(simulation::Seat &base) override;
	void sit_down(simulation::Seat &base) override;
	void tell_to_settle(simulation::Site &base, std::uint32_t connection, std::uint64_t value) override;
	void tell_ended(simulation::Site &base, std::uint32_t connection) override;

	[[nodiscard]] ShardOptions shard_options(std::size_t shard) const;
	[[nodiscard]] std::uint64_t cells() const;
	void add_seat(bool uses, std::uint8_t host);

	/* Connections */
	void begin_use(Seat &seat);
	void knock(Seat &seat, std::size_t shard);
	void reach(const std::shared_ptr<Arrival> &arrival);
	void enter(const std::shared_ptr<Arrival> &arrival);
	void give_up(Seat &seat);
	Seat *seat_of(std::size_t shard, std::uint32_t connection);
	void tell_to_settle(std::size_t shard, std::uint32_t connection, std::uint64_t value);

	/* Faults */
	void crash_user();
	void crash_shard();
	void part_some();
	void jump(Seat &seat);
	void happen();

	/* A run */
	[[nodiscard]] bool working() const;
	void close();
	void clean_up();
	void check_all();
	void sum_up();

	const WorldOptions options_;
	WorldResult result_;
	serializability::HistoryBuilder history_;
	std::uint32_t sessions_ = 0;
	std::vector<std::unique_ptr<Site>> sites_;
	std::vector<std::unique_ptr<Seat>> seats_; /* users, then clients that clean up */
	std::vector<prism::tx::KeyPlace> places_;  /* of the keys, once a client has reported them */
	bool closing_ = false;                     /* the users leave */
	bool failing_ = false;                     /* a shard is gone */
	unsigned crashes_left_ = 0;
	unsigned shard_crashes_left_ = 0;
	unsigned partitions_left_ = 0;
};

} // namespace tx_sim
