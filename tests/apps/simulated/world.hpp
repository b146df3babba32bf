/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A PRISM-KV store, its users and the network between them, in virtual time. */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "network.hpp"
#include "server.hpp"
#include "user.hpp"

namespace kv_sim
{

struct WorldOptions {
	test::Faults faults;
	test::Delays delays;
	ServerOptions server;
	UserOptions user;
	unsigned users = 4;
	std::uint64_t operations = 60; /* of each user; with days, of each at a time */
	soft::Time server_turn = 0;    /* ns between two turns of the server's loop, on the average; 0: always */
	double scans = 1;              /* percent of the steps at which somebody asks for a scan */
	unsigned crashes = 0;          /* users that die on the way, and come back */
	std::uint64_t crash_at =
		0; /* the first user dies with its so manieth packet, sent or received; 0: it does not */
	bool server_restart = false; /* the server vanishes on the way and comes back empty */
	double days = 0;             /* of the users' work, which then comes in bursts */
	double pause = 300;          /* seconds of virtual time between two bursts */
};

struct WorldResult {
	std::string finding; /* empty: all is well */
	UserFigures users;
	ServerFigures server;
	std::uint64_t packets = 0;
	std::uint64_t victim_packets = 0; /* of the first user */
	std::uint64_t crashes = 0;
	soft::Time longest_failure = 0; /* from the end of the server to the error of an operation */
	soft::Time time = 0;
};

class World final : private Surroundings
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
	struct Seat {
		std::unique_ptr<test::Node> host;
		std::unique_ptr<User> user;
		std::uint32_t connection = 0; /* its number at the server */
		std::size_t life = 0;         /* of the server to which it is connected */
		soft::Time next_poll = 0;
	};

	/* Surroundings */
	[[nodiscard]] soft::Time time() const override { return now_; }
	prism::test::Random &random() override { return random_; }
	void go_on_until(const std::function<bool()> &done) override;
	void tell_to_settle(std::uint32_t connection, std::uint64_t value) override;
	void find(const std::string &what) override;

	void after(soft::Time delay, std::function<void()> run);
	[[nodiscard]] soft::Time next_time() const;
	void step(bool serves);
	void serve();
	void poll(Seat &seat);
	bool arrives(test::Node &node);
	void send_off();
	void connect(Seat &seat);
	void kill(Seat &seat);
	void crash_some();
	/** Whether the server that it is connected to is there. */
	[[nodiscard]] bool has_server(std::size_t life) const { return server_ && life == lives_.size(); }
	void end_server();
	void begin_server();
	void heed_failure(Seat &seat);
	void burst();
	[[nodiscard]] bool working() const;
	void close();
	void check();
	void check_objects();
	void check_history();
	void read_all(History &history);

	const WorldOptions options_;
	prism::test::Random random_;
	WorldResult result_;
	soft::Time now_ = 1000;
	std::optional<test::Node> server_node_;
	std::vector<Seat> seats_;
	std::unique_ptr<test::Network> network_;
	std::unique_ptr<Server> server_;
	std::shared_ptr<History> history_;
	std::vector<std::shared_ptr<History>> lives_; /* of the servers, one after another */
	std::priority_queue<Errand, std::vector<Errand>, std::greater<>> errands_;
	std::uint64_t errand_number_ = 0;
	std::uint64_t crash_at_ = 0; /* of the first user's packets, as in the options; 0: no more */
	std::uint64_t victim_packets_ = 0;
	bool dying_ = false;
	bool closing_ = false; /* the users leave */
	soft::Time server_ended_ = 0;
	soft::Time next_turn_ = 0; /* of the server */
	soft::Time work_ends_ = 0;
	unsigned crashes_left_ = 0;
};

} // namespace kv_sim
