/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* rpc-sim: calls on a simulated network, or a protocol that is broken on purpose. */
#include <map>
#include <string>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "simulation/program.hpp"
#include "world.hpp"

namespace
{

using namespace rpc_sim;
namespace cli = prism::cli;

struct Options {
	WorldOptions world;
	simulation::ProgramOptions program;
	std::string way = "two-sided";
	std::uint32_t buffers = 0;
	std::uint32_t call_limit = 0;
};

const std::string not_whole = "a request was executed that is not whole";
const std::string twice = "a call was executed twice";
const std::string another = "a response is not";
const std::string broke = "a link broke: Bad message";
const std::string never = "a call is never answered";

const simulation::Controls<Flaw> controls{{"none", {Flaw::none, {}}}, {"no-crc", {Flaw::no_crc, {not_whole, another}}},
	{"no-seq", {Flaw::no_seq, {broke}}}, {"no-last-read", {Flaw::no_last_read, {never}}},
	{"one-half", {Flaw::one_half, {broke}}}, {"ptr-first", {Flaw::ptr_first, {broke, another}}},
	{"early-fetched", {Flaw::early_fetched, {never, broke, another}}}, {"forgetful", {Flaw::forgetful, {twice}}},
	{"buffer-again", {Flaw::buffer_again, {not_whole}}}};

/** Returns true if calls by @p way have the part that @p flaw breaks. */
bool fits(Flaw flaw, rpc::Way way)
{
	switch (flaw) {
	case Flaw::no_crc:
	case Flaw::no_seq:
	case Flaw::no_last_read:
		return way == rpc::Way::fetch || way == rpc::Way::reply;
	case Flaw::one_half:
	case Flaw::ptr_first:
	case Flaw::early_fetched:
		return way == rpc::Way::slots;
	default:
		return true;
	}
}

const std::map<std::string, int> way_names{{"two-sided", 0}, {"reply", 1}, {"fetch", 2}, {"slots", 3}, {"window", 4}};

int run(Options &options)
{
	WorldOptions &world = options.world;
	const auto &[flaw, findings] = controls.at(options.program.flaw);
	world.user.flaw = world.server.flaw = flaw;
	world.server.way = world.user.client.way = *rpc::way_of(options.way);
	if (!fits(flaw, world.server.way)) {
		fmt::print(stderr, "rpc-sim: calls by {} have nothing that the flaw {} breaks\n", options.way,
			options.program.flaw);
		return 2;
	}
	world.server.sizes = world.user.sizes;
	world.server.depth = world.user.client.depth;
	world.server.connections = 2 * world.users; /* a client may be back before its end is known */
	world.server.buffers = options.buffers ? options.buffers : world.server.connections * world.server.depth;
	world.user.client.call_limit = std::chrono::milliseconds(options.call_limit);
	world.user.client.patience = std::chrono::hours(1);
	world.user.client.resumable = true;
	simulation::Runs runs(options.program, findings);
	const auto all = simulation::run_worlds<World, WorldResult>(runs, world);
	const rpc::LinkCounters &links = all.users.links;
	fmt::print("rpc-sim: {}, flaw {}: {} runs, {} calls answered, {} expired, {} repeated, {} unknown, {} links "
		   "resumed, {} fetches ({} failed, {} second), {} switches, {} refused, {} packets, {} crashes, "
		   "{:.1f} s of virtual time in {:.1f} s\n",
		options.way, options.program.flaw, runs.runs(), all.users.answered, all.users.expired, all.repeated,
		all.users.unknown, all.users.resumed, links.fetches, links.failed_fetches, links.second_fetches,
		links.switches, links.refused, all.packets, all.crashes, static_cast<double>(all.time) * 1e-9,
		runs.seconds());
	return runs.exit_code();
}

void add_options(cli::CommandLine &app, Options &options)
{
	WorldOptions &world = options.world;
	world.user.client.depth = 4;
	simulation::add_run_options(app, options.program, cli::IsMember(controls));
	simulation::add_network_options(app, world.faults, world.delays, world.server.mtu);
	app.add_option("--way", options.way, "of requests and responses").check(cli::IsMember(way_names));
	app.add_option("--clients", world.users, "that call at once").check(cli::Range(1, 32));
	app.add_option("--calls", world.calls, "of each client");
	app.add_option("--depth", world.user.client.depth, "calls of a client under way").check(cli::Range(1, 64));
	app.add_option("--request", world.user.sizes.request, "longest, bytes").check(cli::Range(0, 60000));
	app.add_option("--response", world.user.sizes.response, "longest, bytes").check(cli::Range(0, 60000));
	app.add_option("--busy-ns", world.user.longest_busy, "that the server takes for a call at most");
	app.add_option("--buffers", options.buffers, "of the server, for requests; 0: for all of them");
	app.add_option("--call-limit-ms", options.call_limit, "after which a call expires; 0: it does not");
	app.add_option("--first-read", world.user.client.fetch.first_read, "bytes, of fetch");
	app.add_option("--retries", world.user.client.fetch.retries, "failed READs before a call is a slow one");
	app.add_option("--slow-calls", world.user.client.fetch.slow_calls, "in a row before replies are asked for");
	app.add_option("--crashes", world.crashes, "clients that die on the way, at most");
	app.add_flag("--comes-back", world.comes_back, "who is to die loses the queue pair instead, and comes back");
	app.add_option("--failures", world.failures, "percent of the steps at which a queue pair fails");
	app.add_option("--stalls", world.stalls, "percent of the server's turns behind which it stands still");
	app.add_flag("--server-restart", world.server_restart, "the server dies on the way, and another begins");
}

} // namespace

int main(int argc, char **argv)
{
	return simulation::run_program<Options>(argc, argv, "Calls on a simulated network", add_options, run);
}
