/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client.hpp"
#include "random.hpp"
#include "simulation/history.hpp"

namespace kv_sim
{

using simulation::History;

struct UserOptions {
	std::uint64_t keys = 6;
	std::uint32_t depth = 4;
	std::uint32_t report_batch = 4;
	std::uint32_t min_words = 1; /* words of 8 bytes in a value */
	std::uint32_t max_words = 50;
	double erases = 20;       /* percent */
	double gets = 40;         /* percent; the rest are PUTs */
	double conditionals = 25; /* percent: a GET and an operation that depends on it */
	double inserts = 100;     /* percent of these GETs that find nothing and are followed by a PUT if absent */
	std::size_t hints = 8;    /* see ClientOptions */
	Flaw flaw = Flaw::none;
};

struct UserFigures {
	std::uint64_t operations = 0;
	std::uint64_t direct = 0; /* in one round trip */
	std::uint64_t full = 0;
	std::uint64_t failed = 0;

	void add(const UserFigures &other) noexcept
	{
		operations += other.operations;
		direct += other.direct;
		full += other.full;
		failed += other.failed;
	}
};

/** Application on one connection: random operations, whose answers it checks and records. */
class User
{
public:
	/** @p find: called with each error in an answer. */
	User(std::uint32_t number, const UserOptions &options, prism::test::Random &random,
		std::function<void(const std::string &)> find);

	/** Begins to use a new connection; @p history is that of its server. */
	void connect(std::unique_ptr<Pair> pair, Admission admission, std::shared_ptr<History> history);
	/** Ends it in the middle of its operations. */
	void die();

	/** Adds this number of operations. */
	void give_work(std::uint64_t operations) { work_ += operations; }
	void drop_work() { work_ = 0; }

	/** Takes completions, and begins as many operations as it can. */
	void poll();

	[[nodiscard]] bool connected() const noexcept { return client_ != nullptr; }
	[[nodiscard]] bool busy() const noexcept;
	[[nodiscard]] bool done() const noexcept { return !work_ && !busy(); }
	Client &client() noexcept { return *client_; }
	[[nodiscard]] const UserFigures &figures() const noexcept { return figures_; }
	/** Returns the errors of operations that failed since the last call. */
	std::vector<int> take_errors() { return std::exchange(errors_, {}); }

private:
	enum class Step : std::uint8_t {
		idle,
		plain,
		read, /* GET that begins a conditional operation */
		has_read,
		changes,
	};
	struct Job {
		prism::apps::Operation operation;
		std::uint64_t key = 0;
		std::vector<std::uint64_t> value, result;
		prism::kv::Version version;
		std::size_t record = 0;
		Step step = Step::idle;
	};

	void begin(std::uint32_t lane);
	void begin_change(std::uint32_t lane);
	void ended(std::uint32_t lane);
	void record(Job &job, prism::test::Kind kind);
	void record_end(const Job &job);
	void check_value(const Job &job);

	const std::uint32_t number_;
	const UserOptions options_;
	prism::test::Random &random_;
	const std::function<void(const std::string &)> find_;
	std::shared_ptr<History> history_;
	std::vector<Job> jobs_; /* one for each lane; declared first: lanes point into it */
	std::unique_ptr<Client> client_;
	std::uint64_t work_ = 0;
	std::uint64_t values_ = 0;
	std::vector<int> errors_;
	UserFigures figures_;
};

} // namespace kv_sim
