/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../serializability/history.hpp"
#include "client.hpp"
#include "random.hpp"

namespace tx_sim
{

namespace serializability = prism::serializability;

/** Kind of the transactions. */
enum class Workload : std::uint8_t {
	registers, /**< read, write blindly, read and write, erase */
	pairs,     /**< write all keys, or all but one that is read; read or change a single one */
	lists,     /**< read and append */
	bank,      /**< transfers, and audits of all accounts; the first one opens the bank */
};

struct UserOptions {
	Workload workload = Workload::registers;
	std::uint64_t keys = 8;
	std::uint32_t depth = 3;
	bool as_in_paper = false; /* reads alone are not ordered among the client's other transactions */
	soft::Time pause = 0;     /* mean ns between two transactions of a lane */
};

/** First balance of each account of a bank. */
constexpr std::uint32_t first_balance = 1000;
/** Most elements of a list. */
constexpr std::size_t longest_list = 40;
/** Returns the most bytes of a value of @p workload. */
std::uint32_t longest_value(Workload workload);

struct UserFigures {
	std::uint64_t committed = 0;
	std::uint64_t attempts = 0;
	std::uint64_t rolled_back = 0;
	std::uint64_t conflicts = 0; /* given up after their time */
	std::uint64_t failed = 0;
	std::uint64_t unknown = 0;
	std::uint64_t no_buffer = 0;
};

/** Receiver of the histories of all users. */
class Recorder
{
public:
	virtual ~Recorder() = default;
	/** Returns a number that is unique for each sequence of transactions. */
	virtual std::uint32_t begin_session() = 0;
	virtual void record(serializability::Draft &transaction) = 0;
};

/** Application on one store: random transactions, whose outcomes it checks and records. */
class User
{
public:
	/** @p find: called with each error in an answer. */
	User(const UserOptions &options, prism::test::Random &random, Recorder &recorder,
		std::function<soft::Time()> now, std::function<void(const std::string &)> find);

	/** Begins to use @p client, which must live until leave(). */
	void use(Client &client);
	/** Stops in the middle of its transactions. */
	void leave();

	/** Adds this number of transactions. */
	void give_work(std::uint64_t transactions) { work_ += transactions; }
	void drop_work() { work_ = 0; }
	/** Takes ended transactions, and begins as many as it can. */
	void go_on();
	/** Returns the moment at which the next waiting transaction can begin; 0 if there is none. */
	[[nodiscard]] soft::Time next_begin() const;
	/** Allows transactions to fail from now on. */
	void expect_failures() noexcept { may_fail_ = true; }

	[[nodiscard]] bool busy() const noexcept;
	[[nodiscard]] bool done() const noexcept { return !work_ && !busy(); }
	[[nodiscard]] const UserFigures &figures() const noexcept { return figures_; }

private:
	enum class Deed : std::uint8_t {
		read,
		change,
		replace,
		erase
	};
	struct Operation {
		std::uint64_t key = 0;
		Deed deed = Deed::read;
	};
	struct Job {
		prism::tx::Job job;
		serializability::Draft draft;
		prism::tx::Transaction *transaction = nullptr;
		std::vector<Operation> plan;
		std::size_t fetched_first = 0; /* number of keys; the others in a second round */
		bool rolls_back = false;
		soft::Time began = 0;
		soft::Time not_before = 0;
		std::uint32_t session = 0;
		std::uint64_t sequence = 0;
		bool under_way = false;
	};

	void plan(Job &job);
	void plan_pair(Job &job);
	void begin(Job &job);
	void ended(Job &job);
	prism::apps::Task<int> body(Job &job, prism::tx::Transaction &transaction);
	prism::apps::Task<int> fetch(Job &job, prism::tx::Transaction &transaction);
	int work_on_registers(Job &job, prism::tx::Transaction &transaction);
	int work_on_lists(Job &job, prism::tx::Transaction &transaction);
	int work_on_bank(Job &job, prism::tx::Transaction &transaction);
	int transfer(Job &job, prism::tx::Transaction &transaction);
	serializability::Value read(prism::tx::Transaction &transaction, std::uint64_t key);
	std::vector<serializability::Value> read_list(prism::tx::Transaction &transaction, std::uint64_t key);
	static int write(prism::tx::Transaction &transaction, std::uint64_t key, serializability::Value value);

	const UserOptions options_;
	prism::test::Random &random_;
	Recorder &recorder_;
	const std::function<soft::Time()> now_;
	const std::function<void(const std::string &)> find_;
	std::vector<std::unique_ptr<Job>> jobs_; /* one for each lane */
	Client *client_ = nullptr;
	std::uint64_t work_ = 0;
	bool may_fail_ = false;
	UserFigures figures_;
};

/** Returns the stored form of a register's @p value: several copies, so that parts of two values are recognized. */
std::vector<serializability::Value> stored(serializability::Value value);
/** Parses a stored value. Returns false if the bytes are not a register's. */
bool parse_stored(prism::tx::Bytes bytes, serializability::Value &value);
/** Returns the elements of a list. */
std::vector<serializability::Value> parse_list(prism::tx::Bytes bytes);

} // namespace tx_sim
