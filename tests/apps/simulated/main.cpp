/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* kv-sim: PRISM-KV's protocol on a simulated network, or one that is broken on purpose. */
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "command_line.hpp"
#include "round_trips.hpp"
#include "seed_range.hpp"
#include "world.hpp"

namespace
{

using namespace kv_sim;
namespace cli = prism::cli;

struct Options {
	WorldOptions world;
	std::string seeds = "1..20";
	std::string flaw = "none";
	std::string crash_at = "0";
	std::uint32_t buffers = 40;
	bool month = false;
	std::vector<double> delays; /* us */
	bool verbose = false;
};

/** A flaw, and what the checks say of it: nothing else may be found, or the control has found something else. */
struct Control {
	Flaw flaw = Flaw::none;
	std::vector<std::string> findings; /* parts of them */
};

const std::string nobody_held = "reports of buffers that nobody held";
const std::string at_two_places = "times in the table and";
const std::string contradiction = "a slot and its object contradict each other";
const std::string not_linearizable = "the history is not linearizable";

const std::map<std::string, Control> controls{{"none", {Flaw::none, {}}},
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

/** What many runs have come to. */
class Sum
{
public:
	explicit Sum(const Options &options) : options_(options) {}

	void add(std::uint64_t seed, std::uint64_t crash_at, const WorldResult &result);
	/** Prints it; 0 if everything is well, or if a flaw was found and nothing but the flaw. */
	int report() const;

private:
	const Options &options_;
	const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
	WorldResult all_;
	std::uint64_t runs_ = 0;
	std::uint64_t findings_ = 0;
	std::uint64_t unexpected_ = 0; /* of these: not what the flaw does */
};

void Sum::add(std::uint64_t seed, std::uint64_t crash_at, const WorldResult &result)
{
	runs_++;
	all_.users.operations += result.users.operations;
	all_.users.direct += result.users.direct;
	all_.users.full += result.users.full;
	all_.users.failed += result.users.failed;
	all_.server.recovery.scans += result.server.recovery.scans;
	all_.server.recovery.put_off += result.server.recovery.put_off;
	all_.server.drained += result.server.drained;
	all_.server.recovery.recovered += result.server.recovery.recovered;
	all_.server.claims += result.server.claims;
	all_.server.reports += result.server.reports;
	all_.packets += result.packets;
	all_.crashes += result.crashes;
	all_.longest_failure = std::max(all_.longest_failure, result.longest_failure);
	all_.time += result.time;
	if (result.finding.empty())
		return;
	findings_++;
	const auto is_it = [&](const std::string &part) { return result.finding.find(part) != std::string::npos; };
	const bool unexpected = std::ranges::none_of(controls.at(options_.flaw).findings, is_it);
	unexpected_ += unexpected;
	if (unexpected || options_.verbose)
		fmt::print("seed {}, crash at packet {}: {}\n", seed, crash_at, result.finding);
}

int Sum::report() const
{
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
	fmt::print("kv-sim: flaw {}: {} runs, {} operations ({} in one round trip, {} full, {} failed), {} packets, {} "
		   "crashes, {} reports, {} scans ({} put off, {} drained a list) found {} buffers and {} claims, "
		   "{:.1f} s of virtual time in {:.1f} s, {} runs with a finding\n",
		options_.flaw, runs_, all_.users.operations, all_.users.direct, all_.users.full, all_.users.failed,
		all_.packets, all_.crashes, all_.server.reports, all_.server.recovery.scans,
		all_.server.recovery.put_off, all_.server.drained, all_.server.recovery.recovered, all_.server.claims,
		static_cast<double>(all_.time) * 1e-9, took.count(), findings_);
	if (all_.longest_failure)
		fmt::print("kv-sim: a server's end was an error at its clients after at most {:.0f} ms\n",
			static_cast<double>(all_.longest_failure) * 1e-6);
	return !unexpected_ && (options_.flaw == "none") == (findings_ == 0) ? 0 : 1;
}

/** A run for each packet of the first user with which it can die; the last of them ends, or finds something, before. */
void crash_everywhere(WorldOptions world, std::uint64_t seed, Sum &sum)
{
	for (world.crash_at = 1;; world.crash_at++) {
		const WorldResult result = World(seed, world).run();
		sum.add(seed, world.crash_at, result);
		if (!result.crashes)
			return;
	}
}

int run(Options &options)
{
	WorldOptions &world = options.world;
	world.user.flaw = world.server.flaw = controls.at(options.flaw).flaw;
	const std::uint32_t small = 128, object = 8 * (world.user.max_words + 3);
	world.server.classes = {{small, options.buffers}};
	if (object > small)
		world.server.classes.push_back({(object + 63) / 64 * 64, options.buffers});
	world.server.max_value_size = 8 * world.user.max_words;
	world.server.max_connections = 2 * world.users; /* a client may be back before its end is known */
	if (options.month)
		world.days = 30;
	const prism::test::SeedRange range = prism::test::SeedRange::parse(options.seeds);
	Sum sum(options);
	for (std::uint64_t seed = range.first; seed <= range.last; seed++) {
		if (options.crash_at == "all") {
			crash_everywhere(world, seed, sum);
			continue;
		}
		world.crash_at = std::stoull(options.crash_at);
		sum.add(seed, world.crash_at, World(seed, world).run());
	}
	return sum.report();
}

void add_options(cli::CommandLine &app, Options &options)
{
	WorldOptions &world = options.world;
	app.add_option("--seeds", options.seeds, "A..B or one seed");
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
	app.add_option("--mtu", world.server.mtu, "bytes").check(cli::IsMember({256, 512, 1024, 2048, 4096}));
	app.add_option("--loss", world.faults.loss, "percent of the packets lost");
	app.add_option("--duplicate", world.faults.duplicate, "percent duplicated");
	app.add_option("--reorder", world.faults.reorder, "percent delayed behind others");
	app.add_option("--corrupt", world.faults.corrupt, "percent with flipped bits");
	app.add_option("--latency-ns", world.delays.latency, "of a packet, one way");
	app.add_option("--server-turn-ns", world.server_turn, "between two turns of the server's loop");
	app.add_option("--slots-a-step", world.server.recovery.slots_a_step, "that a scan looks at in a turn");
	app.add_option("--scans", world.scans, "percent of the steps at which a recovery scan is asked for");
	app.add_option("--crashes", world.crashes, "clients that die on the way, at most");
	app.add_option("--crash-at-packet", options.crash_at,
		"the first client dies with its Nth packet, sent or received; all: a run for each N");
	app.add_flag("--server-restart", world.server_restart, "the server vanishes on the way and comes back empty");
	app.add_flag("--month", options.month, "30 days of bursts of operations");
	app.add_option("--pause", world.pause, "seconds between two bursts");
	app.add_option("--delay-us", options.delays,
		   "instead of all that: what an operation takes with these one-way delays, in microseconds")
		.delimiter(',');
	app.add_option("--flaw", options.flaw, "break the protocol so; succeed if a check finds that and nothing else")
		.check(cli::IsMember(controls));
	app.add_flag("--verbose", options.verbose, "print what was found of a flaw too");
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"PRISM-KV on a simulated network"};
	add_options(app, options);
	if (const auto early = app.parse(argc, argv))
		return early->print();
	return options.delays.empty() ? run(options) : report_round_trips(options.delays);
}
