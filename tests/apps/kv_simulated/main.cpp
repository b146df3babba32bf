/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* kv-sim: PRISM-KV's protocol on a simulated network, or a protocol that is broken on purpose. */
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "round_trips.hpp"
#include "simulation/program.hpp"
#include "world.hpp"

namespace
{

using namespace kv_sim;
namespace cli = prism::cli;

struct Options {
	WorldOptions world;
	simulation::ProgramOptions program;
	std::uint32_t buffers = 40;
	bool month = false;
	std::vector<double> delays; /* us */
};

const std::string nobody_held = "reports of buffers that nobody held";
const std::string at_two_places = "times in the table and";
const std::string contradiction = "a slot and its object contradict each other";
const std::string not_linearizable = "the history is not linearizable";

const simulation::Controls<Flaw> controls{{"none", {Flaw::none, {}}},
	{"double-report", {Flaw::double_report, {nobody_held, at_two_places}}},
	{"no-grace", {Flaw::no_grace, {"a value that is parts of several"}}},
	{"no-tag", {Flaw::no_tag, {not_linearizable}}},
	{"blind-insert", {Flaw::blind_insert, {"a key is in the table twice", not_linearizable}}},
	{"hasty-settle", {Flaw::hasty_settle, {nobody_held, at_two_places, contradiction}}},
	{"unsure-flush", {Flaw::unsure_flush, {nobody_held, at_two_places}}},
	{"few-reports", {Flaw::few_reports, {nobody_held, at_two_places}}},
	{"no-collect", {Flaw::no_collect, {"buffers are in the table or in a list"}}},
	{"collect-anyway", {Flaw::collect_anyway, {nobody_held, at_two_places, contradiction}}},
	{"claims-stay", {Flaw::claims_stay, {"claims are left"}}}};

int run(Options &options)
{
	if (!options.delays.empty())
		return report_round_trips(options.delays);
	WorldOptions &world = options.world;
	const auto &[flaw, findings] = controls.at(options.program.flaw);
	world.user.flaw = world.server.flaw = flaw;
	const std::uint32_t small = 128, object = 8 * (world.user.max_words + 3);
	world.server.classes = {{small, options.buffers}};
	if (object > small)
		world.server.classes.push_back({(object + 63) / 64 * 64, options.buffers});
	world.server.max_value_size = 8 * world.user.max_words;
	world.server.max_connections = 2 * world.users; /* a client may be back before its end is known */
	if (options.month)
		world.days = 30;
	simulation::Runs runs(options.program, findings);
	const auto all = simulation::run_worlds<World, WorldResult>(runs, world);
	fmt::print("kv-sim: flaw {}: {} runs, {} operations ({} in one round trip, {} full, {} failed), {} packets, {} "
		   "crashes, {}\n",
		options.program.flaw, runs.runs(), all.users.operations, all.users.direct, all.users.full,
		all.users.failed, all.packets, all.crashes,
		runs.summary(all, fmt::format(" and {} claims", all.claims)));
	if (all.longest_failure)
		fmt::print("kv-sim: a server's end was an error at its clients after at most {:.0f} ms\n",
			static_cast<double>(all.longest_failure) * 1e-6);
	return runs.exit_code();
}

void add_options(cli::CommandLine &app, Options &options)
{
	WorldOptions &world = options.world;
	simulation::add_run_options(app, options.program, cli::IsMember(controls));
	simulation::add_network_options(app, world.faults, world.delays, world.server.mtu);
	app.add_option("--clients", world.users, "that work at once").check(cli::Range(1, 32));
	app.add_option("--keys", world.user.keys, "that they share");
	app.add_option("--operations", world.operations, "of each client; of a month, of each at a time");
	app.add_option("--depth", world.user.depth, "operations of a client under way").check(cli::Range(1, 16));
	app.add_option("--buckets", world.server.buckets, "of the table").check(cli::Range(2, 4096));
	app.add_option("--buffers", options.buffers, "of each size class");
	app.add_option("--min-words", world.user.min_words, "of 8 bytes, of a value").check(cli::Range(1, 65535));
	app.add_option("--max-words", world.user.max_words, "of 8 bytes, of a value").check(cli::Range(1, 65535));
	app.add_option("--report-batch", world.user.report_batch, "freed buffers of a report").check(cli::Range(1, 30));
	app.add_option("--hints", world.user.hints, "of how many keys a client remembers where they are");
	app.add_option("--gets", world.user.gets, "percent");
	app.add_option("--erases", world.user.erases, "percent of the changes");
	app.add_option("--conditionals", world.user.conditionals, "percent: a GET and what depends on it");
	app.add_option("--inserts", world.user.inserts,
		"percent of the conditionals whose key is absent: those that put it if it still is");
	app.add_option("--server-turn-ns", world.server_turn, "between two turns of the server's loop");
	app.add_option("--slots-a-step", world.server.recovery.slots_a_step, "that a scan looks at in a turn");
	app.add_option("--scans", world.scans, "percent of the steps at which a recovery scan is asked for");
	app.add_option("--crashes", world.crashes, "clients that die on the way, at most");
	app.add_flag("--server-restart", world.server_restart, "the server vanishes on the way and comes back empty");
	app.add_flag("--month", options.month, "30 days of bursts of operations");
	app.add_option("--pause", world.pause, "seconds between two bursts");
	app.add_option("--delay-us", options.delays,
		   "instead of all that: what an operation takes with these one-way delays, in microseconds")
		.delimiter(',');
}

} // namespace

int main(int argc, char **argv)
{
	return simulation::run_program<Options>(argc, argv, "PRISM-KV on a simulated network", add_options, run);
}
