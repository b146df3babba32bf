/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Histories of random transactions on registers, by clients on several nodes: strictly serializable, but not without
 * locks.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "cluster.hpp"
#include "cycles.hpp"
#include "fibers.hpp"
#include "gam/data/no_wait_client.hpp"
#include "gam/data/records.hpp"
#include "history.hpp"
#include "index.hpp"
#include "seeds.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;
using namespace std::chrono_literals;
using prism::gam::test::Cluster;
using prism::gam::test::ClusterOptions;
using prism::gam::test::Fibers;
using prism::gam::test::simulated_seeds;
using serializability::Draft;
using tx::Bytes;

constexpr NodeId dying = 2;

struct Trial {
	ClusterOptions cluster;
	unsigned clients = 4;     /* each is a thread; on the nodes in turn */
	std::uint64_t jobs = 150; /* by each client */
	std::uint64_t keys = 8;
	NoWaitClientOptions options;
	bool dies = false;                 /* node `dying` dies half way. All records are on the first node */
	std::optional<std::uint64_t> seed; /* threads are fibers, and time is counted in their turns */
};

/** State shared by the threads of a trial. */
struct Course {
	std::atomic<std::uint64_t> done{0}; /* jobs */
	std::atomic<bool> died{false};
};

Bytes bytes_of(const std::uint64_t &number)
{
	return std::as_bytes(std::span(&number, 1));
}

/** Client, and the operations that it records. */
class User
{
public:
	User(const Trial &trial, Course &course, Node &node, Address catalogue, std::uint32_t number)
		: trial_(trial), course_(course), dies_(trial.dies && node.self() == dying), number_(number),
		  random_(trial.seed.value_or(0) * 64 + number)
	{
		NoWaitClientOptions options = trial.options;
		options.retry.seed = number + 1;
		options.retry.timeout = 30s;
		client_ = NoWaitClient::open(node, catalogue, options).value();
	}

	void run()
	{
		for (std::uint64_t i = 0; i < trial_.jobs && !(dies_ && course_.died); i++) {
			run_one(plan());
			course_.done++;
		}
	}
	/** Reads all keys in one transaction. */
	void read_all()
	{
		std::vector<Step> steps;
		for (std::uint64_t key = 0; key < trial_.keys; key++)
			steps.push_back({key});
		run_one(steps);
	}

	[[nodiscard]] bool dies() const { return dies_; }
	[[nodiscard]] std::uint64_t conflicts() const { return client_->conflicts(); }

	std::vector<Draft> drafts;
	std::uint64_t committed = 0;
	std::uint64_t failed = 0; /* neither committed nor rolled back */

private:
	struct Step {
		std::uint64_t key = 0;
		bool reads = true;
		bool writes = false;
		bool erases = false;
	};

	std::vector<Step> plan();
	void run_one(const std::vector<Step> &steps);
	apps::Task<int> attempt(const std::vector<Step> &steps, tx::Transaction &transaction);
	void record(serializability::Outcome outcome);

	const Trial &trial_;
	Course &course_;
	const bool dies_;
	const std::uint32_t number_;
	std::mt19937_64 random_;
	std::unique_ptr<NoWaitClient> client_;
	Draft draft_;
	bool recorded_ = true;
	std::uint64_t sequence_ = 0;
};

std::vector<User::Step> User::plan()
{
	std::vector<Step> steps;
	for (std::uint64_t count = 1 + random_() % 4; count > 0; count--) {
		Step step;
		step.key = random_() % trial_.keys;
		step.writes = random_() % 2;
		step.reads = !step.writes || random_() % 4;
		step.erases = !trial_.dies && step.writes && random_() % 8 == 0; /* an erase cannot be recognized */
		if (std::ranges::none_of(steps, [&](const Step &other) { return other.key == step.key; }))
			steps.push_back(step);
	}
	return steps;
}

/** Runs one attempt. A new attempt means that the previous one has changed nothing. */
apps::Task<int> User::attempt(const std::vector<Step> &steps, tx::Transaction &transaction)
{
	if (!recorded_)
		record(serializability::Outcome::aborted);
	draft_.clear();
	draft_.client = number_;
	draft_.sequence = ++sequence_;
	draft_.invoked = monotonic_ns();
	for (const Step &step : steps) {
		if (!step.reads)
			continue;
		if (const int error = co_await transaction.fetch(bytes_of(step.key)))
			co_return error;
		const std::optional<Bytes> found = transaction.value(bytes_of(step.key));
		serializability::Value value = serializability::absent;
		if (found)
			std::memcpy(&value, found->data(), std::min(found->size(), sizeof(value)));
		draft_.read(step.key, value);
	}
	std::uint32_t place = 0;
	for (const Step &step : steps) {
		if (!step.writes)
			continue;
		const auto value = serializability::unique_value(number_, sequence_, place++);
		const int error = step.erases ? transaction.erase(bytes_of(step.key))
					      : transaction.write(bytes_of(step.key), bytes_of(value));
		if (error)
			co_return error;
		if (step.erases)
			draft_.erase(step.key);
		else
			draft_.write(step.key, value);
	}
	recorded_ = false;
	co_return 0;
}

void User::record(serializability::Outcome outcome)
{
	recorded_ = true;
	draft_.outcome = outcome;
	draft_.responded = outcome == serializability::Outcome::unknown ? 0 : monotonic_ns();
	drafts.push_back(draft_);
}

void User::run_one(const std::vector<Step> &steps)
{
	tx::Job job;
	job.body = [&](tx::Transaction &transaction) { return attempt(steps, transaction); };
	(void)client_->start(job);
	for (std::array<tx::Job *, 1> ended{}; !client_->poll(ended);)
		Fibers::yield();
	committed += job.outcome == tx::Outcome::committed;
	failed += job.outcome != tx::Outcome::committed;
	if (job.outcome == tx::Outcome::committed)
		record(serializability::Outcome::committed);
	else if (!recorded_)
		record(job.outcome == tx::Outcome::unknown ? serializability::Outcome::unknown
							   : serializability::Outcome::aborted);
}

/**
 * Returns what is guaranteed of a dead client: each record that it wrote is changed or not, independently. Its reads
 * are dropped: it may have read data that only its own node had.
 */
std::vector<Draft> left_of(const std::vector<Draft> &drafts)
{
	std::vector<Draft> left;
	for (const Draft &draft : drafts) {
		if (draft.outcome == serializability::Outcome::aborted)
			continue;
		std::uint32_t place = 0;
		for (const auto &operation : draft.operations) {
			if (operation.action != serializability::Action::write)
				continue;
			Draft one;
			one.client = 1000 + draft.client * 100'000 + static_cast<std::uint32_t>(draft.sequence) * 8 +
				     place++;
			one.sequence = 1;
			one.invoked = draft.invoked;
			one.outcome = serializability::Outcome::unknown;
			left.push_back(one.write(operation.key, operation.value));
		}
	}
	return left;
}

struct Verdict {
	std::string findings;
	std::uint64_t failed = 0;
	std::uint64_t committed = 0;
	std::uint64_t conflicts = 0;
	std::uint64_t messages = 0;
};

/** Plays a whole trial; in the end its clients read all keys. */
std::vector<std::unique_ptr<User>> play(const Trial &trial, Cluster &cluster)
{
	const auto play_all = [&](std::vector<std::function<void()>> players) {
		gam::test::play(std::move(players), cluster.nodes(), trial.seed.has_value());
	};
	Course course;
	std::vector<std::unique_ptr<User>> users;
	play_all({[&] {
		Session session(cluster.node(0));
		RecordsOptions records;
		records.index.buckets = 4;
		if (trial.dies)
			records.index.nodes = {0};
		const Address catalogue = Records::create(session, records).value().catalogue();
		for (unsigned i = 0; i < trial.clients; i++)
			users.push_back(std::make_unique<User>(trial, course,
				cluster.node(static_cast<NodeId>(i % trial.cluster.nodes)), catalogue, i));
	}});
	std::vector<std::function<void()>> players;
	for (const auto &user : users)
		players.emplace_back([&user] { user->run(); });
	if (trial.dies) {
		players.emplace_back([&] {
			while (course.done < trial.clients * trial.jobs / 2)
				trial.seed ? Fibers::yield() : std::this_thread::sleep_for(1ms);
			course.died = true;
			cluster.lose(dying);
			cluster.let_go_of_all(dying);
		});
	}
	play_all(std::move(players));
	play_all({[&] { users.front()->read_all(); }});
	return users;
}

Verdict judge(const Trial &trial)
{
	Cluster cluster(trial.cluster);
	const std::vector<std::unique_ptr<User>> users = play(trial, cluster);
	Verdict verdict;
	verdict.messages = cluster.messages();
	serializability::HistoryBuilder builder(serializability::HistoryKind::registers);
	for (const auto &user : users) {
		for (const Draft &draft : user->dies() ? left_of(user->drafts) : user->drafts) {
			if (const Result<void> added = builder.add(draft); !added)
				verdict.findings += added.error().message;
		}
		verdict.failed += user->dies() ? 0 : user->failed;
		verdict.committed += user->committed;
		verdict.conflicts += user->conflicts();
	}
	const serializability::History history = builder.finish().value();
	const serializability::Index index = serializability::Index::make(history).value();
	serializability::Findings findings(2);
	(void)serializability::check_cycles(index, {.real_time = true}, findings);
	for (const serializability::Finding &finding : findings.kept())
		verdict.findings += finding.name + "\n" + finding.text + "\n";
	return verdict;
}

Trial trial_of(std::size_t nodes)
{
	Trial trial;
	trial.cluster.nodes = nodes;
	trial.cluster.node.serves = true; /* nodes without a thread answer, too */
	return trial;
}

void expect_sound(const Trial &trial)
{
	const Verdict verdict = judge(trial);
	EXPECT_EQ(verdict.findings, "");
	EXPECT_EQ(verdict.failed, 0U);
	EXPECT_EQ(verdict.committed, trial.clients * trial.jobs + 1);
	EXPECT_GT(verdict.conflicts, 0U) << "they were not concurrent";
}

TEST(TransactionHistory, OneNode)
{
	Trial trial = trial_of(1);
	trial.jobs = 2000;
	expect_sound(trial);
}

TEST(TransactionHistory, SeveralNodes)
{
	expect_sound(trial_of(3));
}

TEST(TransactionHistory, ExclusiveFetches)
{
	Trial trial = trial_of(3);
	trial.options.exclusive_fetch = true;
	expect_sound(trial);
}

TEST(TransactionHistory, MessagesThatAreHeldBack)
{
	Trial trial = trial_of(3);
	trial.jobs = 60;
	trial.cluster.delays.longest = 100us;
	expect_sound(trial);
}

TEST(TransactionHistory, CachesThatAreTooSmall)
{
	Trial trial = trial_of(2);
	trial.jobs = 100;
	trial.cluster.lines = 24;
	expect_sound(trial);
}

Trial deadly_trial()
{
	Trial deadly = trial_of(3);
	deadly.dies = deadly.cluster.through_home = true;
	deadly.clients = 3;
	deadly.jobs = 80;
	return deadly;
}

/**
 * Checks that no other client's job fails or waits for a lock of the dead client, and that committed changes of others
 * stay.
 */
TEST(TransactionHistory, AClientDies)
{
	for (unsigned round = 0; round < 3; round++) {
		const Verdict verdict = judge(deadly_trial());
		EXPECT_EQ(verdict.findings, "");
		EXPECT_EQ(verdict.failed, 0U);
		EXPECT_GT(verdict.conflicts, 0U) << "they were not concurrent";
	}
}

/** Control: without passing blocks through their home, a dead node takes commits of others with it. */
TEST(TransactionHistory, ControlThatPassesBlocksByTheirHome)
{
	Trial careless = deadly_trial();
	careless.cluster.through_home = false;
	unsigned sound = 0; /* some four on a machine at rest; once 40 on a busy one */
	while (sound < 300 && judge(careless).findings.empty())
		sound++;
	EXPECT_LT(sound, 300U);
}

/** Returns a trial of a few jobs, in an order given by @p seed. */
Trial simulated(std::uint64_t seed)
{
	Trial trial = deadly_trial();
	trial.seed = seed;
	trial.jobs = 10;
	trial.keys = 4;
	trial.options.retry.first_pause = {}; /* a pause would be counted by the system's clock */
	trial.cluster.node.serves = false;
	trial.cluster.node.rest = &Fibers::yield;
	trial.cluster.delays = {30us, seed, &Fibers::now};
	return trial;
}

TEST(TransactionSimulated, AClientDies)
{
	std::uint64_t conflicts = 0;
	for (std::uint64_t seed = 1; seed <= simulated_seeds(100) && !HasFailure(); seed++) {
		SCOPED_TRACE(seed);
		const Verdict verdict = judge(simulated(seed));
		EXPECT_EQ(verdict.findings, "");
		EXPECT_EQ(verdict.failed, 0U);
		conflicts += verdict.conflicts;
	}
	EXPECT_GT(conflicts, 100U);
}

TEST(TransactionSimulated, ASeedIsARun)
{
	EXPECT_EQ(judge(simulated(7)).messages, judge(simulated(7)).messages);
	EXPECT_NE(judge(simulated(7)).messages, judge(simulated(8)).messages);
}

TEST(TransactionSimulated, ControlThatPassesBlocksByTheirHome)
{
	std::uint64_t seed = 1;
	for (bool sound = true; sound && seed <= 2000; seed++) {
		Trial careless = simulated(seed);
		careless.cluster.through_home = false;
		sound = judge(careless).findings.empty();
	}
	EXPECT_LE(seed, 2000U);
	RecordProperty("seeds", static_cast<int>(seed));
}

TEST(TransactionHistory, ControlWithoutLocks)
{
	Trial trial = trial_of(3);
	trial.options.locks = false;
	EXPECT_NE(judge(trial).findings, "");
}

} // namespace
