/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The shards of a store, its users and the network between them, in virtual time. */
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "../../serializability/findings.hpp"
#include "network.hpp"
#include "shard.hpp"
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
	std::uint64_t cells = 0;         /* of a shard; 0: each key has a cell of its own, by its number */
	bool as_in_paper = false;
	std::uint32_t mtu = 1024;
	std::uint32_t spare_lanes = 2;    /* places in the logs of a client beside those of its lanes */
	std::uint32_t spare_buffers = 64; /* of each size of a shard, beside one a cell */
	std::uint32_t report_batch = 4;
	std::uint32_t send_queue = 512; /* work requests */
	std::uint64_t slots_a_step = 512;
	soft::Time patience = 50'000;
	soft::Time timeout = 200'000'000; /* of a transaction with all its attempts */
	double scans = 0.2;               /* percent of the steps at which somebody asks for a scan of a shard */
	double jumps = 0.5;               /* percent of the steps at which a user's clock jumps */
	unsigned crashes = 0;             /* users that die on the way, and come back */
	std::uint64_t crash_at = 0;       /* the first user dies with its so manieth packet, sent or received; 0: not */
	unsigned shard_crashes = 0;       /* shards that vanish on the way and stay away */
	unsigned partitions = 0;          /* of a client from a shard, for a time */
	soft::Time longest_partition = 20'000'000;
	/** Of a history of many runs: which it is. Runs differ in their keys, sessions, and timestamps. */
	std::uint64_t run = 0;
	serializability::HistoryWriter *history = nullptr;
	Flaw flaw = Flaw::none;
	std::string expected; /* only what contains this is a finding; empty: everything */
};

struct WorldResult {
	std::string finding;      /* empty: all is well */
	std::uint64_t others = 0; /* findings that were not expected */
	UserFigures users;
	prism::tx::TransactionFigures transactions;
	simulation::StoreFigures stores;
	std::uint64_t packets = 0;
	std::uint64_t crashes = 0;
	std::uint64_t shard_crashes = 0;
	std::uint64_t partitions = 0;
	std::uint64_t clients = 0;   /* that have connected */
	std::uint64_t takeovers = 0; /* of these, with a number that was another's */
	soft::Time time = 0;
};

class World final : private ClientSurroundings, private Recorder
{
public:
	World(std::uint64_t seed, const WorldOptions &options);
	~World() override;
	WorldResult run();

private:
	struct Errand {
		soft::Time at = 0;
		std::uint64_t number = 0; /* equal times in the order of their making */
		std::function<void()> run;
		bool operator>(const Errand &other) const
		{
			return at != other.at ? at > other.at : number > other.number;
		}
	};

	class Around final : public simulation::Surroundings
	{
	public:
		Around(World &world, std::size_t shard) : world_(world), shard_(shard) {}

	private:
		[[nodiscard]] soft::Time time() const override { return world_.now_; }
		prism::test::Random &random() override { return world_.random_; }
		void go_on_until(const std::function<bool()> &done) override;
		void tell_to_settle(std::uint32_t connection, std::uint64_t value) override;
		void tell_ended(std::uint32_t connection) override;
		void find(const std::string &what) override;

		World &world_;
		const std::size_t shard_;
	};

	struct Site {
		std::optional<test::Node> node;
		std::unique_ptr<Around> around;
		std::unique_ptr<Shard> shard; /* null: it has crashed */
	};

	/** A host, and the client on it. */
	struct Seat {
		std::size_t number = 0;
		std::unique_ptr<test::Node> host;
		std::unique_ptr<User> user; /* null: its clients do nothing but to end what others have left */
		std::unique_ptr<Client> client;
		std::uint64_t life = 0;
		std::int64_t skew = 0; /* ns, of its clock */
		soft::Time next_poll = 0;
		bool in_use = false;                    /* by its user */
		bool doomed = false;                    /* it is known that it will be killed */
		std::vector<std::uint32_t> connections; /* by shard: as far as it is admitted */
	};

	/** A client on its way to a shard. */
	struct Arrival {
		Seat *seat = nullptr;
		std::uint64_t life = 0;
		std::size_t shard = 0;
		std::unique_ptr<Pair> pair;
		Admission admission;
	};

	/* ClientSurroundings */
	[[nodiscard]] soft::Time time() const override { return now_; }
	void closed(std::size_t shard, std::uint32_t connection) override;
	void want_recovery(std::size_t shard) override;
	[[nodiscard]] const std::byte *peek(std::size_t shard, std::uint64_t va, std::uint64_t length) const override;

	/* Recorder */
	std::uint32_t begin_session() override { return sessions_++; }
	void record(serializability::Draft &transaction) override;

	void find(const std::string &what);
	[[nodiscard]] ShardOptions shard_options(std::size_t shard) const;
	[[nodiscard]] std::uint64_t cells() const;
	void add_seat(bool uses, std::vector<test::Node *> &nodes, std::uint8_t host);

	/* Time */
	void after(soft::Time delay, std::function<void()> run);
	[[nodiscard]] soft::Time next_time() const;
	void step(bool serves);
	void poll(Seat &seat);
	void go_on_until(const std::function<bool()> &done);

	/* Connections */
	void sit_down(Seat &seat);
	void knock(Seat &seat, std::size_t shard);
	void reach(const std::shared_ptr<Arrival> &arrival);
	void enter(const std::shared_ptr<Arrival> &arrival);
	void give_up(Seat &seat);
	Seat *seat_of(std::size_t shard, std::uint32_t connection);
	void tell_to_settle(std::size_t shard, std::uint32_t connection, std::uint64_t value);
	[[nodiscard]] soft::Time held_up(const Seat &seat, std::size_t shard) const;

	/* Ends and returns */
	[[nodiscard]] bool is_cut_off(test::Node &node, std::span<const std::uint8_t> packet);
	[[nodiscard]] bool arrives(test::Node &node, std::span<const std::uint8_t> packet);
	void send_off();
	void kill(Seat &seat);
	void come_back(Seat &seat, soft::Time delay);
	void crash_user();
	void crash_shard();
	void part();
	void jump(Seat &seat);
	void happen();

	/* A run */
	[[nodiscard]] bool working() const;
	void close();
	void go_on_while(const std::function<bool()> &condition, const char *finding);
	void clean_up();

	/* Checks */
	void check();
	void check_shard(std::size_t number);
	void read_all();
	void check_history();
	[[nodiscard]] std::optional<prism::tx::KeyPlace> place_of(std::uint64_t key) const;
	void sum_up();

	const WorldOptions options_;
	prism::test::Random random_;
	WorldResult result_;
	serializability::HistoryBuilder history_;
	std::uint32_t sessions_ = 0;
	soft::Time now_ = 1000;
	std::vector<Site> sites_;
	std::vector<std::unique_ptr<Seat>> seats_; /* users, then those who clean up */
	std::unique_ptr<test::Network> network_;
	std::map<std::pair<std::size_t, std::size_t>, soft::Time> parted_until_; /* by seat and shard */
	std::priority_queue<Errand, std::vector<Errand>, std::greater<>> errands_;
	std::uint64_t errand_number_ = 0;
	std::vector<prism::tx::KeyPlace> places_; /* of the keys, once a client has told */
	Seat *victim_ = nullptr;
	std::uint64_t packets_left_ = 0; /* of the victim's, until it dies */
	bool dying_ = false;
	bool stopped_ = false; /* something was found, be it expected or not: what is there is checked */
	bool closing_ = false; /* the users leave */
	bool failing_ = false; /* a shard is gone */
	unsigned crashes_left_ = 0;
	unsigned shard_crashes_left_ = 0;
	unsigned partitions_left_ = 0;
};

} // namespace tx_sim
