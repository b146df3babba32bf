/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* gam-sim: coherence over any order of messages, or a protocol that is broken on purpose. */
#include <string>

#include <fmt/core.h>

#include "command_line.hpp"
#include "directory_protocol.hpp"
#include "simulation/program.hpp"
#include "world.hpp"

namespace
{

using namespace gam_sim;
namespace cli = prism::cli;
using prism::gam::directory::Rules;

struct Options {
	WorldOptions world;
	simulation::ProgramOptions program;
	std::string protocol = "directory";
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

using Flaw = bool Rules::*;

/** Not of a rule: owners send to who asks, in spite of --through-home. */
const std::string forwards = "forwards";

const simulation::Controls<Flaw> controls{{"none", {nullptr, {}}}, {forwards, {nullptr, {not_linearizable}}},
	{"give-early", {&Rules::await_acks, {not_alone, different, not_linearizable}}},
	{"own-early", {&Rules::await_done, {not_linearizable, never, refused, not_alone}}},
	{"permit-without-copy", {&Rules::upgrade_without_copy, {not_linearizable, different, unlocked}}},
	{"permit-dirty", {&Rules::upgrade_of_dirty, {never, not_alone, different, not_linearizable}}},
	{"forget-evicted", {&Rules::serve_while_evicting, {never}}},
	{"forget-owner", {&Rules::late_eviction, {never, not_alone, not_linearizable, different, refused}}},
	{"silent-without-copy", {&Rules::ack_without_copy, {never}}},
	{"invalidate-waits-for-data", {&Rules::ack_while_reading, {never}}},
	{"keep-invalidated", {&Rules::drop_invalidated, {different, not_alone, not_linearizable}}},
	{"invalidate-waits-for-grant", {&Rules::ack_while_writing, {never}}},
	{"serve-before-grant", {&Rules::serve_after_grant, {never, not_linearizable, different, refused}}},
	{"ignore-locks", {&Rules::locks_hold, {different, not_alone, not_linearizable, never, unlocked, two_holders}}},
	{"upgrade-under-readers", {&Rules::readers_hold_upgrades, {not_linearizable, unlocked, two_holders, never}}},
	{"keep-copies", {&Rules::copies_yield, {never}}},
	{"no-roll-back", {&Rules::roll_back, {not_alone, different, disagree, not_linearizable}}},
	{"wait-for-the-dead", {&Rules::drop_sharers_of_the_dead, {never, unusable, not_at_rest}}}};

int run(Options &options)
{
	const auto &[flaw, findings] = controls.at(options.program.flaw);
	Rules rules;
	if (flaw)
		rules.*flaw = false;
	options.world.protocol = std::make_shared<DirectoryProtocol>(
		rules, options.world.through_home && options.program.flaw != forwards);
	simulation::Runs runs(options.program, findings);
	const auto all =
		simulation::run_worlds<World, WorldResult>(runs, options.world, options.program.flaw != "none");
	const prism::gam::CoherenceStats &stats = all.coherence;
	fmt::print("gam-sim: {}, flaw {}: {} runs, {} accesses ended ({} hits, {} misses, {} tries refused), {} "
		   "messages, {} "
		   "copies and {} owned lines evicted, {} crashes, {} values lost, {:.1f} s\n",
		options.protocol, options.program.flaw, runs.runs(), all.operations, stats.hits, stats.misses, all.busy,
		stats.messages, stats.evictions_shared, stats.evictions_dirty, all.crashes, stats.lost_values,
		runs.seconds());
	return runs.exit_code();
}

void add_options(cli::CommandLine &app, Options &options)
{
	WorldOptions &world = options.world;
	ThreadOptions &thread = world.thread;
	simulation::add_run_options(app, options.program, cli::IsMember(controls));
	app.add_option("--protocol", options.protocol, "of coherence").check(cli::IsMember({"directory"}));
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
	app.add_option("--evictions", world.evictions, "percent of the steps at which a node evicts all that it can");
	app.add_option("--holds", world.holds, "percent of the steps at which a pair of nodes falls silent");
	app.add_flag("--through-home", world.through_home, "what an owner has comes by the home");
	app.add_option("--crashes", world.crashes, "nodes that die on the way, at most");
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Coherence over any order of messages"};
	add_options(app, options);
	if (const auto early = app.parse(argc, argv))
		return early->print();
	return run(options);
}
