/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A replicated volume, its users, its repairs and the network between them, in virtual time. */
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

#include "network.hpp"
#include "repair.hpp"
#include "replica.hpp"
#include "user.hpp"

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

struct WorldResult {
	std::string finding; /* empty: all is well */
	UserFigures users;
	simulation::StoreFigures stores;
	std::uint64_t packets = 0;
	std::uint64_t victim_packets = 0; /* of the first user */
	std::uint64_t crashes = 0;
	std::uint64_t replica_crashes = 0;
	std::uint64_t partitions = 0;
	std::uint64_t repairs = 0;
	std::uint64_t lost_repairs = 0;
	std::uint64_t interruptions = 0; /* of repairs that began all over again, as others began newer epochs */
	std::uint64_t links = 0;         /* connections that were made */
	soft::Time time = 0;
};

class World final : private ClientSurroundings
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

	/** Of one incarnation of a replica. */
	class Around final : public simulation::Surroundings
	{
	public:
		Around(World &world, unsigned replica) : world_(world), replica_(replica) {}

	private:
		[[nodiscard]] soft::Time time() const override { return world_.now_; }
		prism::test::Random &random() override { return world_.random_; }
		void go_on_until(const std::function<bool()> &done) override;
		void tell_to_settle(std::uint32_t connection, std::uint64_t value) override;
		void tell_ended(std::uint32_t connection) override;
		void find(const std::string &what) override;

		World &world_;
		const unsigned replica_;
	};

	struct Site {
		std::optional<test::Node> node;
		std::unique_ptr<Around> around;
		std::unique_ptr<Replica> replica; /* null: it has crashed */
		std::uint64_t life = 0;
		bool stays_away = false;
	};

	struct Wire;

	/** A host, and the client on it; of a user or of a repair. */
	struct Seat final : RepairTalk {
		World *world = nullptr;
		std::size_t number = 0;
		std::unique_ptr<test::Node> host;
		std::unique_ptr<User> user; /* null: a repair's */
		std::unique_ptr<Client> client;
		std::unique_ptr<Repair> repair;
		unsigned repaired = 0;      /* replica */
		std::uint64_t identity = 0; /* of the client, in its tags */
		std::uint64_t life = 0;
		soft::Time next_poll = 0;
		std::vector<std::shared_ptr<Wire>> wires; /* by replica: of the connection that is there */

		void tell(unsigned replica, const prism::apps::ControlMessage &message) override;
	};

	/** A TCP connection of one incarnation of a client to one of a replica. What is said arrives in its order. */
	struct Wire {
		Seat *seat = nullptr;
		std::uint64_t client = 0; /* life */
		unsigned replica = 0;
		std::uint64_t life = 0;
		std::uint32_t connection = 0;
		std::unique_ptr<Pair> pair; /* until the client has it */
		Admission admission;
		soft::Time last_up = 0;
		soft::Time last_down = 0;
	};
	using WirePtr = std::shared_ptr<Wire>;

	/* ClientSurroundings */
	[[nodiscard]] soft::Time time() const override { return now_; }
	void want(Client &client, unsigned replica, std::uint64_t epoch) override;
	void closed(Client &client, unsigned replica, std::uint32_t connection) override;

	void find(const std::string &what);

	/* Time */
	void after(soft::Time delay, std::function<void()> run);
	[[nodiscard]] soft::Time next_time() const;
	void step(bool serves);
	void poll(Seat &seat);
	void go_on_until(const std::function<bool()> &done);

	/* Connections */
	Seat &seat_of(const Client &client);
	void up(const WirePtr &wire, soft::Time delay, std::function<void(Replica &)> hear);
	void down(const WirePtr &wire, soft::Time delay, std::function<void(Seat &)> hear);
	[[nodiscard]] soft::Time passes(const Wire &wire) const;
	void reach(const WirePtr &wire, std::uint64_t epoch);
	void answer(const WirePtr &wire);
	void confirm(const WirePtr &wire);
	void try_again(const WirePtr &wire);
	void end(const WirePtr &wire);
	void tell(Seat &seat, unsigned replica, const prism::apps::ControlMessage &message);
	[[nodiscard]] WirePtr wire_of(unsigned replica, std::uint32_t connection) const;
	[[nodiscard]] bool is_connected(const Wire &wire) const;

	/* Ends and returns */
	[[nodiscard]] bool is_cut_off(test::Node &node, std::span<const std::uint8_t> packet);
	[[nodiscard]] bool arrives(test::Node &node, std::span<const std::uint8_t> packet);
	void send_off();
	void sit_down(Seat &seat);
	void kill(Seat &seat);
	void crash_user();
	void crash_here(Seat &seat);
	void spread_news(unsigned replica);
	void crash_replica(unsigned replica, bool stays_away);
	void crash_together();
	void lose_acknowledgements();
	void heal_when_repaired(unsigned lost, std::uint64_t life, unsigned healed, unsigned apart);
	void live_twice();
	void begin_second_life(unsigned replica);
	void bring_back(unsigned replica);
	/** @p alone: unless there is another of that replica. */
	void begin_repair(unsigned replica, bool alone);
	void lose_repair(Seat &seat);
	void look_after_repairs(Seat &seat);
	void crash_repair();
	void part();
	void aggravate(Seat &seat, unsigned replica);
	void retire(Site &site);
	[[nodiscard]] bool parted(const Seat &seat, unsigned replica) const;
	[[nodiscard]] bool is_parted() const; /* somebody, from some replica */
	[[nodiscard]] unsigned serving() const;
	[[nodiscard]] unsigned failures() const { return (options_.replicas - 1) / 2; }
	void happen();
	void happen_at_once();
	[[nodiscard]] bool is_due(unsigned in_all);
	void burst();
	/** Users that do not only read. */
	[[nodiscard]] unsigned writers() const
	{
		return options_.exclusive ? 1u + options_.intruder : options_.writers;
	}

	[[nodiscard]] std::string state() const;
	[[nodiscard]] bool working() const;
	[[nodiscard]] bool whole() const;
	void close();
	void check();
	void read_all();
	void check_history();
	void sum_up();

	const WorldOptions options_;
	prism::test::Random random_;
	WorldResult result_;
	simulation::History history_;
	soft::Time now_ = 1000;
	std::vector<Site> sites_;
	std::vector<std::unique_ptr<Seat>> seats_; /* users, then repairs */
	std::unique_ptr<test::Network> network_;
	std::map<std::pair<std::size_t, unsigned>, soft::Time> parted_until_; /* by seat and replica */
	std::vector<std::pair<soft::Time, unsigned>> due_crashes_;            /* of replicas */
	std::vector<std::weak_ptr<Wire>> wires_;
	std::priority_queue<Errand, std::vector<Errand>, std::greater<>> errands_;
	std::uint64_t errand_number_ = 0;
	std::uint64_t crash_at_ = 0; /* of the first user's packets, as in the options; 0: no more */
	std::uint64_t victim_packets_ = 0;
	std::uint32_t generation_ = 0; /* of the exclusive writer */
	bool dying_ = false;
	bool closing_ = false; /* the users leave */
	unsigned crashes_left_ = 0;
	unsigned replica_crashes_left_ = 0;
	unsigned repair_crashes_left_ = 0;
	unsigned partitions_left_ = 0;
	unsigned down_left_ = 0;
	unsigned lost_acknowledgements_left_ = 0;
	unsigned second_lives_left_ = 0;
	soft::Time work_ends_ = 0; /* of days; 0: the last burst has begun */
	bool together_left_ = false;
};

} // namespace rs_sim
