/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Histories of the hash table, used by threads of several nodes at once: linearizable, except for the controls'. */
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../simulation/value.hpp"
#include "../support/recorded_operation.hpp"
#include "checker.hpp"
#include "cluster.hpp"
#include "fibers.hpp"
#include "gam/data/table_client.hpp"
#include "history.hpp"
#include "seeds.hpp"
#include "service/key_hash.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;
using namespace std::chrono_literals;
using apps::OperationKind;
using prism::gam::test::Cluster;
using prism::gam::test::ClusterOptions;
using prism::gam::test::Fibers;
using prism::gam::test::simulated_seeds;
using History = std::vector<prism::test::Operation>;
using prism::test::Kind;
using prism::test::Verdict;

constexpr std::size_t most_words = 150; /* words of a value: more than two blocks */
constexpr NodeId dying = 2;

struct Trial {
	ClusterOptions cluster;
	std::uint32_t threads = 4;      /* on the nodes in turn */
	std::uint64_t operations = 200; /* by each thread */
	TableCare care;
	std::vector<std::uint64_t> keys;
	std::size_t least_words = 1;       /* words of a value */
	bool dies = false;                 /* node `dying` dies half way. The table is on the first node */
	std::optional<std::uint64_t> seed; /* threads are fibers, and time is counted in their turns */
};

/** State shared by the threads of a trial. */
struct Course {
	std::atomic<std::uint64_t> done{0};                  /* operations */
	std::atomic<std::uint64_t> died{prism::test::never}; /* moment of the death */
};

struct Verdicts {
	Verdict history = Verdict::undecided;
	std::uint64_t damaged = 0; /* GETs of values that nobody has stored */
	std::uint64_t failed = 0;  /* operations */
	std::uint64_t found = 0;   /* GETs that found a value */
	std::uint64_t messages = 0;

	[[nodiscard]] bool sound() const { return history == Verdict::linearizable && !damaged && !failed; }
};

/** Thread, and the operations that it records. */
class User
{
public:
	User(const Trial &trial, Course &course, Node &node, Address catalogue, std::uint32_t number)
		: trial_(trial), course_(course), node_(node.self()), number_(number),
		  client_(TableClient::open(node, catalogue, 1, trial.care).value()),
		  random_(trial.seed.value_or(0) * 64 + number)
	{
	}

	void run()
	{
		for (std::uint64_t i = 0; i < trial_.operations && !has_died(); i++) {
			step();
			course_.done++;
		}
	}

	History history;
	Verdicts seen;

private:
	void step();
	[[nodiscard]] bool has_died() const { return node_ == dying && course_.died != prism::test::never; }

	const Trial &trial_;
	Course &course_;
	const NodeId node_;
	const std::uint32_t number_;
	std::unique_ptr<TableClient> client_;
	std::mt19937_64 random_;
	std::uint64_t values_ = 0;
	std::array<std::uint64_t, most_words> value_{}, result_{};
};

void User::step()
{
	const std::uint64_t key = trial_.keys[random_() % trial_.keys.size()];
	const std::span value =
		std::span(value_).first(trial_.least_words + random_() % (most_words - trial_.least_words + 1));
	simulation::fill_value(simulation::name_of_value(number_, ++values_, value.size()), value);
	apps::Operation operation;
	operation.kind = prism::test::any_kind(random_);
	operation.key = std::as_bytes(std::span(&key, 1));
	operation.value = std::as_bytes(value);
	operation.result = std::as_writable_bytes(std::span(result_));
	prism::test::Operation record = prism::test::record_of(operation, number_);
	record.invoked = prism::test::now();
	std::array<apps::Operation *, 1> completed{};
	ASSERT_EQ(client_->start(operation), 0);
	ASSERT_EQ(client_->poll(completed), 1U);
	record.responded = prism::test::now();
	record.outcome = prism::test::Outcome::ok;
	if (trial_.dies && node_ == dying &&
		(record.kind == Kind::get || operation.outcome == apps::Outcome::not_found))
		return;   /* it may have seen unfinished operations of its own node that nobody else ever saw */
	if (has_died()) { /* nobody has received the answer */
		record.outcome = prism::test::Outcome::unknown;
		record.responded = prism::test::never;
		history.push_back(record);
		return;
	}
	if (operation.outcome == apps::Outcome::not_found) {
		record.outcome = prism::test::Outcome::not_found;
	} else if (operation.outcome != apps::Outcome::ok) {
		record.outcome = prism::test::Outcome::unknown;
		record.responded = prism::test::never;
		seen.failed++;
	} else if (record.kind == Kind::get) {
		record.value = result_.front();
		seen.found++;
		const std::size_t room = sizeof(result_);
		seen.damaged += operation.length > room ||
				!simulation::is_whole(std::as_bytes(std::span(result_)).first(operation.length));
	}
	history.push_back(record);
}

/** Cluster, its table, and the table's users. */
class Run
{
public:
	explicit Run(const Trial &trial) : trial_(trial), cluster_(trial.cluster) {}

	Verdicts judge()
	{
		play({[this] { create(); }});
		std::vector<std::function<void()>> players;
		for (std::uint32_t i = 0; i < trial_.threads; i++)
			players.emplace_back([this, i] { use(i); });
		if (trial_.dies)
			players.emplace_back([this] { kill(); });
		play(std::move(players));
		seen_.messages = cluster_.messages();
		seen_.history = prism::test::check(std::move(history_)).verdict;
		return seen_;
	}

private:
	void create()
	{
		Session session(cluster_.node(0));
		TableOptions options;
		options.buckets = 1;
		if (trial_.dies)
			options.nodes = {0};
		catalogue_ = Table::create(session, options).value().catalogue();
	}
	void use(std::uint32_t number)
	{
		User user(trial_, course_, *cluster_.nodes()[number % cluster_.nodes().size()], catalogue_, number);
		user.run();
		const std::scoped_lock guard(lock_);
		history_.insert(history_.end(), user.history.begin(), user.history.end());
		seen_.damaged += user.seen.damaged;
		seen_.failed += user.seen.failed;
		seen_.found += user.seen.found;
	}
	void kill()
	{
		while (course_.done < trial_.threads * trial_.operations / 2)
			trial_.seed ? Fibers::yield() : std::this_thread::sleep_for(1ms);
		course_.died = prism::test::now();
		cluster_.lose(dying);
		cluster_.let_go_of_all(dying);
	}
	void play(std::vector<std::function<void()>> players)
	{
		gam::test::play(std::move(players), cluster_.nodes(), trial_.seed.has_value());
	}

	const Trial &trial_;
	Cluster cluster_;
	Address catalogue_;
	Course course_;
	std::mutex lock_; /* protects the members below */
	History history_;
	Verdicts seen_;
};

Verdicts judge(const Trial &trial)
{
	return Run(trial).judge();
}

Trial trial_of(std::size_t nodes)
{
	Trial trial;
	trial.cluster.nodes = nodes;
	trial.cluster.node.serves = true;
	trial.cluster.node.bytes = std::uint64_t{4} << 20;
	for (std::uint64_t key = 0; key < 12; key++)
		trial.keys.push_back(key);
	return trial;
}

void expect_sound(const Verdicts &verdicts)
{
	EXPECT_EQ(prism::test::name_of(verdicts.history), prism::test::name_of(Verdict::linearizable));
	EXPECT_EQ(verdicts.damaged, 0U);
	EXPECT_EQ(verdicts.failed, 0U);
	EXPECT_GT(verdicts.found, 40U);
}

/** Returns @p count keys that have the same tag. */
std::vector<std::uint64_t> colliding_keys(std::size_t count)
{
	std::vector<std::uint64_t> keys;
	for (std::uint64_t key = 0; keys.size() < count; key++) {
		const std::uint64_t hash = apps::hash_key(std::as_bytes(std::span(&key, 1)), TableOptions().seed);
		if (dht::Entry::tag_of(hash) == 7)
			keys.push_back(key);
	}
	return keys;
}

TEST(TableHistory, ThreadsOfOneNode)
{
	Trial one = trial_of(1);
	one.operations = 2000;
	expect_sound(judge(one));
}

TEST(TableHistory, SeveralNodes)
{
	expect_sound(judge(trial_of(3)));
}

TEST(TableHistory, MessagesThatAreHeldBack)
{
	Trial held_back = trial_of(3);
	held_back.cluster.delays.longest = 100us;
	held_back.operations = 100;
	expect_sound(judge(held_back));
}

TEST(TableHistory, CachesThatAreTooSmall)
{
	Trial small = trial_of(3);
	small.cluster.lines = 16;
	small.operations = 100;
	expect_sound(judge(small));
}

TEST(TableHistory, TagsThatCollide)
{
	Trial colliding = trial_of(3);
	colliding.keys = colliding_keys(6);
	expect_sound(judge(colliding));
	colliding.care.compares_keys = false;
	EXPECT_FALSE(judge(colliding).sound()) << "the control";
}

/**
 * Returns a trial with values longer than a block, in which a node dies: every completed operation outlives its client.
 */
Trial deadly_trial()
{
	Trial deadly = trial_of(3);
	deadly.dies = deadly.cluster.through_home = true;
	deadly.threads = 6;
	deadly.least_words = 70;
	return deadly;
}

TEST(TableHistory, AClientDies)
{
	for (unsigned round = 0; round < 5; round++)
		expect_sound(judge(deadly_trial()));
}

TEST(TableHistory, ControlThatFreesBeforeTheHomeKnows)
{
	Trial careless = deadly_trial();
	careless.care.writes_back = false;
	unsigned sound = 0;
	while (sound < 20 && judge(careless).sound())
		sound++;
	EXPECT_LT(sound, 20U);
}

/** Returns a trial of a few operations, in an order given by @p seed. */
Trial simulated(std::uint64_t seed)
{
	Trial trial = deadly_trial();
	trial.seed = seed;
	trial.operations = 12;
	trial.keys.resize(3);
	trial.cluster.node.serves = false;
	trial.cluster.node.rest = &Fibers::yield;
	trial.cluster.delays = {30us, seed, &Fibers::now};
	return trial;
}

TEST(TableSimulated, AClientDies)
{
	std::uint64_t found = 0;
	for (std::uint64_t seed = 1; seed <= simulated_seeds(100) && !HasFailure(); seed++) {
		SCOPED_TRACE(seed);
		const Verdicts verdicts = judge(simulated(seed));
		EXPECT_TRUE(verdicts.sound()) << prism::test::name_of(verdicts.history) << ", " << verdicts.damaged
					      << " damaged, " << verdicts.failed << " failed";
		found += verdicts.found;
	}
	EXPECT_GT(found, 500U);
}

TEST(TableSimulated, ASeedIsARun)
{
	EXPECT_EQ(judge(simulated(7)).messages, judge(simulated(7)).messages);
	EXPECT_NE(judge(simulated(7)).messages, judge(simulated(8)).messages);
}

TEST(TableSimulated, ControlThatFreesBeforeTheHomeKnows)
{
	std::uint64_t seed = 1;
	for (bool sound = true; sound && seed <= 2000; seed++) {
		Trial careless = simulated(seed);
		careless.care.writes_back = false;
		sound = judge(careless).sound();
	}
	EXPECT_LE(seed, 2000U);
	RecordProperty("seeds", static_cast<int>(seed));
}

TEST(TableHistory, ControlWithoutLocks)
{
	Trial careless = trial_of(3);
	careless.care.locks = false;
	EXPECT_FALSE(judge(careless).sound());
}

} // namespace
