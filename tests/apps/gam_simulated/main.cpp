/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* gam-sim: coherence under any order of messages, or a protocol that is broken on purpose. */
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "directory_cluster.hpp"
#include "latch_cluster.hpp"
#include "packet_cluster.hpp"
#include "simulation/program.hpp"
#include "world.hpp"

namespace
{

using namespace gam_sim;
namespace cli = prism::cli;
struct Options {
	WorldOptions world;
	simulation::ProgramOptions program;
	std::string protocol = "directory";
	bool through_home = false;
	bool packets = false;
	PacketOptions packet;
};

const std::string refused = "a message was refused";
const std::string not_linearizable = "the history is not linearizable";
const std::string different = "two nodes read different values";
const std::string not_alone = "a node may write what another has";
const std::string never = "an access never ends";
const std::string not_at_rest = "a node is not at rest";
const std::string unlocked = "under a lock";
const std::string two_holders = "a lock has two holders";
const std::string disagree = "the directory";
const std::string unusable = "after a death";

/** All rules of all protocols. */
struct Rules {
	directory::Rules directory;
	latch::Rules latch;
	LatchSurroundings around;
	bool by_home = true;     /* false: owners send to the requester in spite of --through-home */
	bool writes_back = true; /* false: threads believe that a home has values never written back */
};

using Flaw = void (*)(Rules &);

const simulation::Controls<Flaw> directory_controls{{"none", {[](Rules &) {}, {}}},
	{"forwards", {[](Rules &all) { all.by_home = false; }, {not_linearizable}}},
	{"forget-written", {[](Rules &all) { all.writes_back = false; }, {not_linearizable}}},
	{"write-back-early", {[](Rules &all) { all.directory.receipts = false; }, {not_linearizable}}},
	{"give-early",
		{[](Rules &all) { all.directory.await_acks = false; }, {not_alone, different, not_linearizable}}},
	{"own-early",
		{[](Rules &all) { all.directory.await_done = false; }, {not_linearizable, never, refused, not_alone}}},
	{"permit-without-copy", {[](Rules &all) { all.directory.upgrade_without_copy = false; },
					{not_linearizable, different, unlocked}}},
	{"permit-dirty", {[](Rules &all) { all.directory.upgrade_of_dirty = false; },
				 {never, not_alone, different, not_linearizable}}},
	{"forget-evicted", {[](Rules &all) { all.directory.serve_while_evicting = false; }, {never}}},
	{"forget-owner", {[](Rules &all) { all.directory.late_eviction = false; },
				 {never, not_alone, not_linearizable, different, refused}}},
	{"silent-without-copy", {[](Rules &all) { all.directory.ack_without_copy = false; }, {never}}},
	{"invalidate-waits-for-data", {[](Rules &all) { all.directory.ack_while_reading = false; }, {never}}},
	{"keep-invalidated",
		{[](Rules &all) { all.directory.drop_invalidated = false; }, {different, not_alone, not_linearizable}}},
	{"invalidate-waits-for-grant", {[](Rules &all) { all.directory.ack_while_writing = false; }, {never}}},
	{"serve-before-grant", {[](Rules &all) { all.directory.serve_after_grant = false; },
				       {never, not_linearizable, different, refused}}},
	{"ignore-locks", {[](Rules &all) { all.directory.locks_hold = false; },
				 {different, not_alone, not_linearizable, never, unlocked, two_holders}}},
	{"upgrade-under-readers", {[](Rules &all) { all.directory.readers_hold_upgrades = false; },
					  {not_linearizable, unlocked, two_holders, never}}},
	{"keep-copies", {[](Rules &all) { all.directory.copies_yield = false; }, {never}}},
	{"no-roll-back", {[](Rules &all) { all.directory.roll_back = false; },
				 {not_alone, different, disagree, not_linearizable}}},
	{"wait-for-the-dead",
		{[](Rules &all) { all.directory.drop_sharers_of_the_dead = false; }, {never, unusable, not_at_rest}}}};

const std::string no_writer = "an entry and a line do not agree";
const std::string no_sharer = "does not know of a sharer";
const std::string dead_there = "names a dead node";
const std::string in_use = "a buffer";

const simulation::Controls<Flaw> latch_controls{{"none", {[](Rules &) {}, {}}},
	{"forget-written", {[](Rules &all) { all.writes_back = false; }, {not_linearizable}}},
	{"own-early", {[](Rules &all) { all.latch.await_acks = false; },
			      {not_alone, different, not_linearizable, refused, unlocked, two_holders}}},
	{"keep-invalidated",
		{[](Rules &all) { all.latch.drop_invalidated = false; },
			{not_alone, different, not_linearizable, no_sharer, unlocked, two_holders, refused}}},
	{"blind-upgrade", {[](Rules &all) { all.latch.reread = false; }, {not_linearizable, different, unlocked}}},
	{"silent-without-copy", {[](Rules &all) { all.latch.ack_without_copy = false; }, {never}}},
	{"ack-locked", {[](Rules &all) { all.latch.locks_hold = false; },
			       {not_linearizable, unlocked, two_holders, not_alone}}},
	{"forget-ack", {[](Rules &all) { all.latch.ack_at_unlock = false; }, {never, refused}}},
	{"give-locked", {[](Rules &all) { all.latch.own_locks_hold = false; },
				{not_linearizable, unlocked, two_holders, not_alone}}},
	{"never-turn-away", {[](Rules &all) { all.latch.turn_away = false; }, {never}}},
	{"leave-tries", {[](Rules &all) { all.latch.undo_tries = false; }, {never, no_writer}}},
	{"undo-early", {[](Rules &all) { all.latch.await_all_answers = false; },
			       {not_alone, different, not_linearizable, refused, two_holders, unlocked}}},
	{"grant-unwritten",
		{[](Rules &all) { all.latch.write_back = false; }, {different, not_linearizable, unlocked}}},
	{"release-new", {[](Rules &all) { all.latch.release_old = false; }, {in_use}}},
	{"ask-the-dead", {[](Rules &all) { all.latch.rest_for_the_dead = false; }, {never, not_at_rest}}},
	{"wait-for-the-dead",
		{[](Rules &all) { all.latch.drop_sharers_of_the_dead = false; }, {never, unusable, not_at_rest}}},
	{"confirm-early",
		{[](Rules &all) { all.latch.let_go = false; }, {dead_there, never, unusable, not_at_rest, no_writer}}},
	{"trust-old-entries", {[](Rules &all) { all.latch.look_again = false; }, {never, unusable, not_at_rest}}},
	{"wait-for-the-lost", {[](Rules &all) { all.latch.fail_lost = false; }, {never}}},
	{"keep-writers", {[](Rules &all) { all.latch.sweep_writers = false; },
				 {dead_there, never, unusable, not_at_rest, no_writer}}},
	{"keep-waiters",
		{[](Rules &all) { all.latch.sweep_waiters = false; }, {"waiter", never, unusable, not_at_rest}}},
	{"keep-sharers",
		{[](Rules &all) { all.latch.sweep_sharers = false; }, {dead_there, never, unusable, not_at_rest}}},
	{"keep-queue-pairs", {[](Rules &all) { all.around.end_queue_pairs = false; },
				     {dead_there, never, unusable, not_at_rest, no_writer, not_linearizable, in_use}}},
	{"sweep-early", {[](Rules &all) { all.around.agree = false; },
				{dead_there, never, unusable, not_at_rest, no_writer, not_linearizable}}},
	{"reuse-early", {[](Rules &all) { all.around.reuse_late = false; },
				{never, unusable, not_at_rest, no_writer, not_linearizable, not_alone, different,
					refused, dead_there, "waiter"}}}};

const std::map<std::string, const simulation::Controls<Flaw> *> protocols{
	{"directory", &directory_controls}, {"latch", &latch_controls}};

/** Returns the flaws of all protocols. */
std::vector<std::string> flaws()
{
	std::vector<std::string> names;
	for (const auto &[protocol, controls] : protocols) {
		for (const auto &[name, control] : *controls)
			names.push_back(name);
	}
	return names;
}

MakeCluster maker(const Options &options, const Rules &rules)
{
	const bool through_home = options.through_home && rules.by_home;
	if (options.packets) {
		PacketOptions packet = options.packet;
		packet.latch = options.protocol == "latch";
		packet.directory = rules.directory;
		packet.through_home = through_home;
		packet.rules = rules.latch;
		packet.end_queue_pairs = rules.around.end_queue_pairs;
		return [packet](const ClusterOptions &cluster) {
			return std::make_unique<PacketCluster>(cluster, packet);
		};
	}
	if (options.protocol == "latch")
		return [rules](const ClusterOptions &cluster) {
			return std::make_unique<LatchCluster>(cluster, rules.latch, rules.around);
		};
	return [rules, through_home](const ClusterOptions &cluster) {
		return std::make_unique<DirectoryCluster>(cluster, rules.directory, through_home);
	};
}

int run(Options &options)
{
	const auto &controls = *protocols.at(options.protocol);
	const auto control = controls.find(options.program.flaw);
	if (control == controls.end()) {
		fmt::print("gam-sim: the protocol {} has no flaw {}\n", options.protocol, options.program.flaw);
		return 1;
	}
	if (options.packets && options.world.returns) {
		fmt::print("gam-sim: nobody returns over packets\n");
		return 1;
	}
	Rules rules;
	control->second.flaw(rules);
	options.world.thread.writes_back = rules.writes_back;
	options.world.make = maker(options, rules);
	if (options.packets)
		options.world.longest *= 10;
	options.world.loses_little = options.through_home || options.protocol == "latch";
	simulation::Runs runs(options.program, control->second.findings);
	const auto all =
		simulation::run_worlds<World, WorldResult>(runs, options.world, options.program.flaw != "none");
	const prism::gam::CoherenceStats &stats = all.coherence;
	fmt::print("gam-sim: {}, flaw {}: {} runs, {} accesses ended ({} hits, {} misses, {} tries refused), {} "
		   "messages, {} requests, {} moves, {} copies and {} owned lines evicted, {} crashes, {} returns, {} "
		   "values "
		   "lost, {:.1f} s\n",
		options.protocol, options.program.flaw, runs.runs(), all.operations, stats.hits, stats.misses, all.busy,
		stats.messages, stats.requests, all.packets, stats.evictions_shared, stats.evictions_dirty, all.crashes,
		all.returns, stats.lost_values, runs.seconds());
	return runs.exit_code();
}

void add_options(cli::CommandLine &app, Options &options)
{
	WorldOptions &world = options.world;
	ThreadOptions &thread = world.thread;
	simulation::add_run_options(app, options.program, cli::IsMember(flaws()));
	app.add_option("--protocol", options.protocol, "of coherence").check(cli::IsMember(protocols));
	app.add_option("--nodes", world.nodes, "that share memory").check(cli::Range(2, 64));
	app.add_option("--threads", world.threads, "of each node").check(cli::Range(1, 16));
	app.add_option("--lines", world.lines, "of each node's cache").check(cli::Range(1, 1024));
	app.add_option("--homes", thread.homes, "nodes whose blocks are used; 0: all");
	app.add_option("--blocks", thread.blocks, "of each home").check(cli::Range(1, 1024));
	app.add_option("--words", thread.words, "of each block").check(cli::Range(1, 64));
	app.add_option("--operations", thread.operations, "of each thread");
	app.add_option("--locks", thread.locks, "percent");
	app.add_option("--tries", thread.tries, "percent of the locks");
	app.add_option("--atomics", thread.atomics, "percent of what is under no lock");
	app.add_option("--writes", thread.writes, "percent of the rest");
	app.add_option("--uncached", thread.uncached, "percent of what is under no lock");
	app.add_option("--write-backs", thread.write_backs, "percent of what is under no lock");
	app.add_option("--evictions", world.evictions, "percent of the steps at which a node evicts all that it can");
	app.add_option("--holds", world.holds, "percent of the steps at which a pair of nodes falls silent");
	app.add_flag("--through-home", options.through_home, "directory: what an owner has comes by the home");
	app.add_option("--crashes", world.crashes, "nodes that die on the way, at most");
	app.add_flag("--packets", options.packets, "over packets, which are lost, duplicated and reordered");
	simulation::add_network_options(app, options.packet.faults, options.packet.delays, options.packet.device.mtu);
	app.add_flag("--returns", world.returns, "numbers of the dead are given to others");
}

} // namespace

int main(int argc, char **argv)
{
	return simulation::run_program<Options>(argc, argv, "Coherence over any order of messages", add_options, run);
}
