/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * SmallBank and TPC-C, unchanged, with clients on several nodes: their invariants hold in the end, but not without
 * locks.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/tx/workloads/smallbank.hpp"
#include "bench/tx/workloads/tpcc.hpp"
#include "bench/tx/workloads/workload.hpp"
#include "cluster.hpp"
#include "gam/data/no_wait_client.hpp"
#include "gam/data/records.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;
using namespace std::chrono_literals;
using prism::gam::test::Cluster;
using prism::gam::test::ClusterOptions;
using tx::Job;
using tx::Outcome;
using tx::Workload;

struct Trial {
	std::size_t nodes = 3;
	unsigned clients = 3;        /* each is a thread; on the nodes in turn */
	std::uint64_t jobs = 100;    /* by each client */
	NoWaitClientOptions options; /* of the clients */
};

struct Tally {
	tx::Totals totals;
	std::uint64_t committed = 0;
	std::uint64_t rolled_back = 0; /* as the workload intends */
	std::uint64_t others = 0;

	void add(const tx::Program &program, const Job &job)
	{
		totals.add(job.outcome, program.effects());
		const bool own = job.outcome == Outcome::rolled_back && job.error == tx::own_rollback;
		committed += job.outcome == Outcome::committed;
		rolled_back += own;
		others += job.outcome != Outcome::committed && !own;
	}
};

void load(const Workload &workload, tx::TransactionClient &client)
{
	for (std::uint64_t i = 0; i < workload.loads(); i++) {
		const std::unique_ptr<tx::Program> program = workload.load(i);
		Job job;
		job.body = tx::body_of(*program);
		ASSERT_EQ(client.run(job), Outcome::committed) << "error " << job.error << " of load " << i;
	}
}

Tally run(const Workload &workload, tx::TransactionClient &client, unsigned number, std::uint64_t jobs)
{
	const std::unique_ptr<tx::Terminal> terminal = workload.terminal(1, number);
	Tally tally;
	for (std::uint64_t i = 0; i < jobs; i++) {
		const std::unique_ptr<tx::Program> program = terminal->next();
		Job job;
		job.body = tx::body_of(*program);
		(void)client.run(job);
		tally.add(*program, job);
	}
	return tally;
}

struct Verdict {
	tx::Findings findings;
	Tally tally;
	std::uint64_t conflicts = 0;
};

Verdict attempt(const Workload &workload, const Trial &trial)
{
	ClusterOptions options;
	options.nodes = trial.nodes;
	options.node.bytes = std::uint64_t{16} << 20;
	options.node.serves = true; /* nodes without a thread answer, too */
	options.lines = 512;
	Cluster cluster(options);
	Session session(cluster.node(0));
	RecordsOptions records;
	records.max_value_size = static_cast<std::uint32_t>(workload.largest_value());
	records.index.buckets = 256;
	const Address catalogue = Records::create(session, records).value().catalogue();
	NoWaitClientOptions sound;
	sound.retry.timeout = 30s;
	auto owner = NoWaitClient::open(cluster.node(0), catalogue, sound).value();
	load(workload, *owner);
	const tx::Survey before = workload.survey(*owner).value();

	std::vector<Tally> tallies(trial.clients);
	std::vector<std::uint64_t> conflicts(trial.clients);
	{
		std::vector<std::jthread> threads;
		for (unsigned i = 0; i < trial.clients; i++) {
			threads.emplace_back([&, i] {
				NoWaitClientOptions mine = trial.options;
				mine.retry.seed = i + 1;
				mine.retry.timeout = 30s;
				auto client = NoWaitClient::open(
					cluster.node(static_cast<NodeId>(i % trial.nodes)), catalogue, mine)
						      .value();
				tallies[i] = run(workload, *client, i, trial.jobs);
				conflicts[i] = client->conflicts();
			});
		}
	}
	Verdict verdict;
	for (unsigned i = 0; i < trial.clients; i++) {
		verdict.tally.totals.merge(tallies[i].totals);
		verdict.tally.committed += tallies[i].committed;
		verdict.tally.rolled_back += tallies[i].rolled_back;
		verdict.tally.others += tallies[i].others;
		verdict.conflicts += conflicts[i];
	}
	verdict.findings = tx::compare(workload, before, workload.survey(*owner).value(), verdict.tally.totals);
	return verdict;
}

std::unique_ptr<Workload> smallbank(std::uint64_t accounts = 40)
{
	tx::SmallBankOptions options;
	options.accounts = accounts;
	options.hot_accounts = std::min<std::uint64_t>(accounts, 4);
	return tx::make_smallbank(options).value();
}

std::unique_ptr<Workload> tpcc()
{
	tx::TpccOptions options;
	options.warehouses = 2;
	options.items = 40;
	options.customers = 6;
	options.remote_items = 0.1;
	return tx::make_tpcc(options).value();
}

void expect_sound(const Verdict &verdict, const Trial &trial)
{
	EXPECT_EQ(verdict.findings.texts(), std::vector<std::string>());
	EXPECT_EQ(verdict.tally.others, 0U);
	EXPECT_EQ(verdict.tally.committed + verdict.tally.rolled_back, trial.clients * trial.jobs);
	EXPECT_GT(verdict.tally.committed, trial.clients * trial.jobs / 2);
}

TEST(SmallBank, OfOneNode)
{
	Trial trial;
	trial.nodes = 1;
	trial.jobs = 500;
	expect_sound(attempt(*smallbank(), trial), trial);
}

TEST(SmallBank, OfSeveralNodes)
{
	const Trial trial;
	expect_sound(attempt(*smallbank(), trial), trial);
}

TEST(SmallBank, WithExclusiveFetches)
{
	Trial trial;
	trial.options.exclusive_fetch = true;
	expect_sound(attempt(*smallbank(), trial), trial);
}

TEST(SmallBank, ControlWithoutLocks)
{
	Trial trial;
	trial.options.locks = false;
	trial.jobs = 300;
	/* The scheduler decides which clients conflict, so try several times. */
	constexpr unsigned most_attempts = 10;
	std::size_t found = 0;
	for (unsigned i = 0; i < most_attempts && !found; i++) {
		const Verdict verdict = attempt(*smallbank(2), trial);
		found = verdict.findings.count() + verdict.tally.others;
	}
	EXPECT_GT(found, 0U) << "money is lost, or made";
}

TEST(Tpcc, OfOneNode)
{
	Trial trial;
	trial.nodes = 1;
	expect_sound(attempt(*tpcc(), trial), trial);
}

TEST(Tpcc, OfSeveralNodes)
{
	Trial trial;
	trial.jobs = 30;
	expect_sound(attempt(*tpcc(), trial), trial);
}

} // namespace
