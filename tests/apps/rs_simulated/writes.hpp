/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A great many writes to few blocks: the number of buffers in use stays below the number of blocks and a constant. */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client.hpp"
#include "random.hpp"
#include "replica.hpp"

namespace rs_sim
{

struct WritesOptions {
	std::uint64_t writes = 0;
	std::uint64_t seed = 1;
	unsigned replicas = 3;
	unsigned clients = 4;
	std::uint64_t blocks = 4;
	std::uint32_t depth = 4;
	std::uint32_t block_size = 512;
	std::uint32_t report_batch = 30;
	double gets = 2;        /* percent */
	bool exclusive = false; /* each client is the only writer of its blocks, and guesses its tags */
	Flaw flaw = Flaw::none;
};

struct WritesResult {
	std::string finding; /* empty if there is none */
	std::uint64_t writes = 0;
	std::uint64_t misses = 0; /* installs at a replica that already had something newer */
	std::uint64_t gets = 0;
	std::uint64_t most_in_use = 0; /* of a replica */
	std::uint64_t buffers = 0;     /* of a replica, in all */
	double took = 0;               /* s */
};

/** Clients and replicas whose packets always arrive, at once. */
class Writes final : private ClientSurroundings, private simulation::Surroundings
{
public:
	explicit Writes(const WritesOptions &options);
	~Writes() override;
	WritesResult run();

private:
	struct Job {
		prism::apps::Operation operation;
		std::uint64_t block = 0;
		std::vector<std::uint64_t> value, result;
		std::uint64_t oldest = 0; /* count of the writer's last write that had ended when this GET began */
		bool under_way = false;
	};
	struct Seat {
		std::unique_ptr<Client> client;
		std::vector<Job> jobs;
		std::uint64_t begun = 0; /* writes */
		std::uint64_t begun_gets = 0;
	};

	/* ClientSurroundings, simulation::Surroundings */
	[[nodiscard]] soft::Time time() const override { return now_; }
	void want(Client &client, unsigned replica, std::uint64_t epoch) override;
	void closed(Client &client, unsigned replica, std::uint32_t connection) override;
	prism::test::Random &random() override { return random_; }
	void go_on_until(const std::function<bool()> &done) override;
	void tell_to_settle(std::uint32_t, std::uint64_t) override {}
	void find(const std::string &what) override;

	[[nodiscard]] std::uint64_t most_buffers() const;
	void step();
	void carry();
	void look();
	void go_on(unsigned number);
	void begin(unsigned number, Job &job);
	void ended(const prism::apps::Operation &operation);

	const WritesOptions options_;
	prism::test::Random random_;
	WritesResult result_;
	soft::Time now_ = 1000;
	std::vector<std::unique_ptr<test::Node>> nodes_; /* replicas, then clients */
	std::vector<std::unique_ptr<Replica>> replicas_;
	std::vector<Seat> seats_;
	std::vector<std::uint64_t> ended_; /* exclusive: by block, the count of the last write that has ended */
	std::uint64_t begun_ = 0;
	std::uint64_t steps_ = 0;
	std::uint64_t progress_ = 0; /* last step at which an operation ended */
};

} // namespace rs_sim
