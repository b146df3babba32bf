/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client.hpp"
#include "random.hpp"
#include "simulation/history.hpp"

namespace rs_sim
{

struct UserOptions {
	std::uint64_t blocks = 4; /* of the volume */
	std::uint64_t busy = 4;   /* blocks that are used, at most: the last ones */
	std::uint32_t block_size = 512;
	std::uint32_t depth = 3;
	soft::Time timeout = 0; /* as in ClientOptions */
	double gets = 50;       /* percent; the rest are PUTs */
	soft::Time pause = 0;   /* mean ns between two operations of a lane */
};

struct UserFigures {
	std::uint64_t operations = 0;
	std::uint64_t direct = 0; /* in one round trip */
	std::uint64_t failed = 0; /* EHOSTUNREACH */
	std::uint64_t stale = 0;  /* ESTALE */

	void add(const UserFigures &other) noexcept
	{
		operations += other.operations;
		direct += other.direct;
		failed += other.failed;
		stale += other.stale;
	}
};

/** Application on one volume: random operations, whose answers it checks and records. */
class User
{
public:
	/** @p find: called with each error in an answer. */
	User(std::uint32_t number, const UserOptions &options, prism::test::Random &random,
		simulation::History &history, std::function<void(const std::string &)> find);

	/** Begins to use @p client, which must live until leave(). */
	void use(Client &client) noexcept { client_ = &client; }
	/** Stops in the middle of its operations. */
	void leave() noexcept;

	/** Adds this number of operations. */
	void give_work(std::uint64_t operations) { work_ += operations; }
	void drop_work() { work_ = 0; }
	/** Begins as many operations as it can, at @p now. */
	void go_on(soft::Time now);
	/** Returns the moment at which the next waiting operation can begin; 0 if there is none. */
	[[nodiscard]] soft::Time next_begin(soft::Time now) const noexcept;
	/** Handles the end of @p operation of this user, at @p now. */
	void ended(const prism::apps::Operation &operation, soft::Time now);

	/** Declares that no operation that begins from now on can succeed. */
	void expect_failures() noexcept { hopeless_ = true; }

	[[nodiscard]] bool busy() const noexcept;
	[[nodiscard]] bool done() const noexcept { return !work_ && !busy(); }
	[[nodiscard]] const UserFigures &figures() const noexcept { return figures_; }
	/** Returns true if one of its PUTs has met a newer one, though it should be the only writer. */
	[[nodiscard]] bool usurped() const noexcept { return usurped_; }

private:
	struct Job {
		prism::apps::Operation operation;
		std::vector<std::uint64_t> value, result;
		std::size_t record = 0;
		soft::Time began = 0;
		soft::Time not_before = 0;
		bool hopeless = false;
		bool under_way = false;
	};

	void begin(Job &job, soft::Time now);
	void check_failure(const Job &job, soft::Time now);

	const std::uint32_t number_;
	const UserOptions options_;
	prism::test::Random &random_;
	simulation::History &history_;
	const std::function<void(const std::string &)> find_;
	std::vector<Job> jobs_; /* one for each operation that can be under way */
	Client *client_ = nullptr;
	std::uint64_t work_ = 0;
	std::uint64_t values_ = 0;
	bool hopeless_ = false;
	bool usurped_ = false;
	UserFigures figures_;
};

} // namespace rs_sim
