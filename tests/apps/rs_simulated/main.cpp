/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* rs-sim: PRISM-RS's protocol on a simulated network, or a protocol that is broken on purpose. */
#include <cstdio>
#include <string>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "simulation/program.hpp"
#include "world.hpp"
#include "writes.hpp"

namespace
{

using namespace rs_sim;
namespace cli = prism::cli;

struct Options {
	WorldOptions world;
	simulation::ProgramOptions program;
	std::uint32_t block_words = 64;
	double timeout = 100; /* ms */
	WritesOptions writes;
	bool month = false;
};

const std::string old_block = "the history is not linearizable";
const std::string nobody_held = "reports of buffers that nobody held";
const std::string at_two_places = "times in the table and";

const simulation::Controls<Flaw> controls{{"none", {Flaw::none, {}}},
	{"no-write-back", {Flaw::no_write_back, {old_block}}}, {"deaf-get", {Flaw::deaf_get, {old_block}}},
	{"small-quorum", {Flaw::small_quorum, {old_block}}}, {"same-client", {Flaw::same_client, {old_block}}},
	{"reused-client", {Flaw::reused_client, {old_block}}}, {"missed-guess", {Flaw::missed_guess, {old_block}}},
	{"empty-serves", {Flaw::empty_serves, {old_block}}}, {"early-reads", {Flaw::early_reads, {old_block}}},
	{"no-epoch", {Flaw::no_epoch, {old_block}}},
	{"no-turns", {Flaw::no_turns, {"repairs have interrupted each other"}}},
	{"keeps-misses", {Flaw::keeps_misses, {"all buffers are in use"}}},
	{"double-report", {Flaw::double_report, {nobody_held, at_two_places}}},
	{"no-grace", {Flaw::no_grace, {"a block that is parts of several"}}},
	{"hasty-settle", {Flaw::hasty_settle, {nobody_held, at_two_places}}},
	{"no-collect", {Flaw::no_collect, {"buffers are in the table or in a list"}}}};

int run_writes(Options &options)
{
	options.writes.flaw = options.world.flaw;
	options.writes.block_size = 8 * options.block_words;
	const WritesResult result = Writes(options.writes).run();
	fmt::print("rs-sim: flaw {}: {} writes, {} of them missed somewhere, {} GETs, {:.0f} writes/s; {} blocks, at "
		   "most {} "
		   "buffers of {} in use{}{}\n",
		options.program.flaw, result.writes, result.misses, result.gets,
		static_cast<double>(result.writes) / result.took, options.writes.blocks, result.most_in_use,
		result.buffers, result.finding.empty() ? "" : ": ", result.finding);
	if (options.program.flaw == "none")
		return result.finding.empty() ? 0 : 1;
	return simulation::is_one_of(result.finding, controls.at(options.program.flaw).findings) ? 0 : 1;
}

int run(Options &options)
{
	WorldOptions &world = options.world;
	const auto &[flaw, findings] = controls.at(options.program.flaw);
	world.flaw = world.replica.flaw = flaw;
	if (options.writes.writes)
		return run_writes(options);
	world.replica.block_size = world.user.block_size = 8 * options.block_words;
	world.user.blocks = world.replica.blocks;
	world.user.timeout = static_cast<soft::Time>(options.timeout * 1e6);
	/* A client may be back before its end is known. */
	world.replica.max_connections = 16 * (world.users + world.replicas);
	if (options.month) {
		world.days = 30;
		world.progress = [](double day, std::uint64_t operations) {
			fmt::print("rs-sim: day {:.0f}: {} operations\n", day, operations);
			std::fflush(stdout);
		};
	}
	simulation::Runs runs(options.program, findings);
	const auto all = simulation::run_worlds<World, WorldResult>(runs, world);
	fmt::print(
		"rs-sim: flaw {}: {} runs, {} operations ({} in one round trip, {} failed, {} stale), {} packets, {} "
		"connections, {} partitions, {} crashes of clients, {} of replicas, {} repairs, {} interruptions of "
		"them and {} lost ones, {}\n",
		options.program.flaw, runs.runs(), all.users.operations, all.users.direct, all.users.failed,
		all.users.stale, all.packets, all.links, all.partitions, all.crashes, all.replica_crashes, all.repairs,
		all.interruptions, all.lost_repairs, runs.summary(all));
	return runs.exit_code();
}

void add_options(cli::CommandLine &app, Options &options)
{
	WorldOptions &world = options.world;
	simulation::add_run_options(app, options.program, cli::IsMember(controls));
	simulation::add_network_options(app, world.faults, world.delays, world.replica.mtu);
	app.add_option("--replicas", world.replicas, "of the volume").check(cli::IsMember({3, 5, 7}));
	app.add_option("--clients", world.users, "that work at once").check(cli::Range(1, 32));
	app.add_option("--blocks", world.replica.blocks, "of the volume").check(cli::Range(1, 65536));
	app.add_option("--busy", world.user.busy, "of the blocks, the last, are used").check(cli::Range(1, 65536));
	app.add_option("--writers", world.writers, "clients that do not only read");
	app.add_option("--block-words", options.block_words, "of 8 bytes, of a block").check(cli::Range(8, 65536));
	app.add_option("--operations", world.operations, "of each client; of a month, of each at a time");
	app.add_option("--depth", world.user.depth, "operations of a client under way").check(cli::Range(1, 16));
	app.add_option("--gets", world.user.gets, "percent");
	app.add_option("--pause-ns", world.user.pause, "between two operations of a lane, on the average");
	app.add_option("--timeout-ms", options.timeout, "of an operation");
	app.add_option("--hedge-ns", world.hedge, "until a round asks all replicas");
	app.add_option("--spare-buffers", world.replica.spare_buffers, "of a replica, beside one a block");
	app.add_option("--report-batch", world.report_batch, "freed buffers of a report").check(cli::Range(1, 30));
	app.add_option("--slots-a-step", world.replica.recovery.slots_a_step, "that a scan looks at in a turn");
	app.add_option("--scans", world.scans, "percent of the steps at which a recovery scan is asked for");
	app.add_option("--crashes", world.crashes, "clients that die on the way, at most");
	app.add_option("--replica-crashes", world.replica_crashes, "replicas that come back empty, at most");
	app.add_option("--lost-acknowledgements", world.lost_acknowledgements,
		"replicas that are lost when they alone have acknowledged writes of the first client, and repaired");
	app.add_option("--second-lives", world.second_lives,
		"times that the first client dies when one replica has its writes, and comes back without that one");
	app.add_flag("--month", options.month, "30 days of bursts of operations, and of all else that is to happen");
	app.add_option("--pause", world.pause, "seconds between two bursts of a month");
	app.add_flag("--lost-together", world.lost_together,
		"as many replicas as may be are lost at once; each repair has to end without beginning again");
	app.add_option("--repair-crashes", world.repair_crashes, "repairs that die, or meet another one, at most");
	app.add_option("--partitions", world.partitions, "of a client from a replica, at most");
	app.add_option("--longest-partition-ns", world.longest_partition, "of them");
	app.add_option("--down", world.down, "replicas that vanish on the way and stay away");
	app.add_flag("--exclusive", world.exclusive, "only the first client writes, and guesses its tags");
	app.add_flag("--intruder", world.intruder, "the second writes too, though the first is exclusive");
	app.add_option("--writes", options.writes.writes,
		"instead of all that: so many, on few blocks, over a network without faults; buffers in use are "
		"bounded");
	app.add_flag("--writes-exclusive", options.writes.exclusive, "of them: by exclusive clients, a block each");
}

} // namespace

int main(int argc, char **argv)
{
	return simulation::run_program<Options>(argc, argv, "PRISM-RS on a simulated network", add_options, run);
}
