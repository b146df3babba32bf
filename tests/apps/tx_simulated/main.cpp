/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* tx-sim: PRISM-TX's transactions on a simulated network, or a protocol that is broken on purpose. */
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "seed_range.hpp"
#include "simulation/program.hpp"
#include "world.hpp"

namespace
{

using namespace tx_sim;
namespace cli = prism::cli;

/* Most runs that one history can tell apart */
constexpr std::uint64_t most_runs = 4000;

struct Options {
	WorldOptions world;
	simulation::ProgramOptions program;
	std::string workload = "registers";
	std::string history;
};

const std::map<std::string, Workload> workloads{{"registers", Workload::registers}, {"pairs", Workload::pairs},
	{"lists", Workload::lists}, {"bank", Workload::bank}};

/* --expect gives the finding of a control: all others are counted separately. */
const std::string any;
const simulation::Controls<Flaw> controls{{"none", {Flaw::none, {}}}, {"undecided-help", {Flaw::undecided_help, {any}}},
	{"no-takeover", {Flaw::no_takeover, {any}}}, {"hasty-lane", {Flaw::hasty_lane, {any}}},
	{"sure-decision", {Flaw::sure_decision, {any}}}, {"unvalidated-reads", {Flaw::unvalidated_reads, {any}}},
	{"unchecked-reads", {Flaw::unchecked_reads, {any}}}, {"late-version", {Flaw::late_version, {any}}},
	{"blind-install", {Flaw::blind_install, {any}}}, {"repeated-timestamps", {Flaw::repeated_timestamps, {any}}},
	{"unscanned-logs", {Flaw::unscanned_logs, {any}}}, {"unconditional", {Flaw::unconditional, {any}}},
	{"parted-requests", {Flaw::parted_requests, {any}}}, {"paper-crashes", {Flaw::paper_crashes, {any}}},
	{"no-collect", {Flaw::no_collect, {any}}}};

int refuse(const std::string &why)
{
	fmt::print(stderr, "tx-sim: {}\n", why);
	return 2;
}

int run_all(const Options &options, const WorldOptions &world)
{
	simulation::Runs runs(options.program, controls.at(options.program.flaw).findings);
	const auto prepare = [&world](
				     WorldOptions &one, std::uint64_t number) { one.run = world.history ? number : 0; };
	const auto all = simulation::run_worlds<World, WorldResult, WorldOptions>(
		runs, world, options.program.is_broken() && !options.program.verbose, prepare);
	const UserFigures &users = all.users;
	const prism::tx::TransactionFigures &transactions = all.transactions;
	fmt::print(
		"tx-sim: flaw {}: {} runs, {} transactions committed in {} attempts ({} in one chain, {} prepared, {} "
		"that only read), {} rolled back, {} given up, {} failed, {} in doubt; {} of others resolved, {} "
		"attempts without a buffer, {} requests, {} packets; {} clients ({} takeovers), {} partitions, {} "
		"crashes of clients, {} of shards; {:.0f} transactions/s; {}\n",
		options.program.flaw, runs.runs(), users.committed, users.attempts, transactions.one_chain,
		transactions.prepared, transactions.read_only, users.rolled_back, users.conflicts, users.failed,
		users.unknown, transactions.resolved, transactions.no_buffer, transactions.requests, all.packets,
		all.clients, all.takeovers, all.partitions, all.crashes, all.shard_crashes,
		static_cast<double>(users.committed) / runs.seconds(), runs.summary(all));
	return runs.exit_code();
}

int run(Options &options)
{
	WorldOptions &world = options.world;
	world.flaw = controls.at(options.program.flaw).flaw;
	world.user.workload = workloads.at(options.workload);
	world.as_in_paper |= world.flaw == Flaw::paper_crashes;
	world.user.as_in_paper = world.as_in_paper;
	const bool crashes =
		world.crashes || options.program.crash_at != "0" || world.shard_crashes || world.partitions;
	if (!world.expected.empty() && world.flaw == Flaw::none)
		return refuse("--expect says what shows a flaw: name one with --flaw");
	if (world.as_in_paper && crashes && world.flaw != Flaw::paper_crashes)
		return refuse("the paper's commit does not stand clients that die: no --crashes, --partitions with it");
	if (options.history.empty())
		return run_all(options, world);
	const prism::test::SeedRange range = prism::test::SeedRange::parse(options.program.seeds);
	if (options.program.jobs > 1 || options.program.crash_at == "all" || range.last - range.first >= most_runs)
		return refuse(fmt::format("a history is that of one job, and of {} seeds at most", most_runs));
	auto history = serializability::HistoryWriter::create(
		options.history, world.user.workload == Workload::lists ? serializability::HistoryKind::lists
									: serializability::HistoryKind::registers);
	if (!history)
		return refuse(history.error().message);
	world.history = &*history;
	return run_all(options, world);
}

void add_options(cli::CommandLine &app, Options &options)
{
	WorldOptions &world = options.world;
	simulation::add_run_options(app, options.program, cli::IsMember(controls));
	simulation::add_network_options(app, world.faults, world.delays, world.mtu);
	app.add_option("--workload", options.workload, "what transactions do").check(cli::IsMember(workloads));
	app.add_option("--shards", world.shards, "of the store").check(cli::Range(1, 8));
	app.add_option("--clients", world.users, "that work at once").check(cli::Range(1, 16));
	app.add_option("--lanes", world.user.depth, "transactions of a client under way").check(cli::Range(1, 16));
	app.add_option("--keys", world.user.keys, "of the store").check(cli::Range(1, 60));
	app.add_option("--cells", world.cells,
		   "of a shard, that keys find by their hashes; 0: each key has its own, by its number")
		.check(cli::Range(0, 1024));
	app.add_flag("--paper", world.as_in_paper, "commits are the paper's");
	app.add_option("--transactions", world.transactions, "of each client");
	app.add_option("--pause-ns", world.user.pause, "between two transactions of a lane, on the average");
	app.add_option("--timeout-ns", world.timeout, "of a transaction with all its attempts");
	app.add_option("--patience-ns", world.patience, "with others that are in mid-commit");
	app.add_option("--spare-buffers", world.spare_buffers, "of each size, beside one a cell");
	app.add_option("--report-batch", world.report_batch, "freed buffers of a report").check(cli::Range(1, 30));
	app.add_option("--send-queue", world.send_queue, "work requests of a queue pair").check(cli::Range(64, 4096));
	app.add_option("--slots-a-step", world.slots_a_step, "that a scan looks at in a turn");
	app.add_option("--scans", world.scans, "percent of the steps at which a recovery scan is asked for");
	app.add_option("--jumps", world.jumps, "percent of the steps at which a client's clock jumps");
	app.add_option("--crashes", world.crashes, "clients that die on the way, at most");
	app.add_option("--shard-crashes", world.shard_crashes, "shards that vanish on the way and stay away, at most");
	app.add_option("--partitions", world.partitions, "of a client from a shard, at most");
	app.add_option("--longest-partition-ns", world.longest_partition, "of them");
	app.add_option("--history", options.history, "write all transactions to this file, for check_transactions");
	app.add_option("--expect", world.expected, "of a flaw: only a finding with this text counts");
}

} // namespace

int main(int argc, char **argv)
{
	return simulation::run_program<Options>(argc, argv, "PRISM-TX on a simulated network", add_options, run);
}
