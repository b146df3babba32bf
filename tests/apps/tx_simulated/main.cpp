/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* tx-sim: PRISM-TX's transactions on a simulated network, or with something broken on purpose. */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "command_line.hpp"
#include "seed_range.hpp"
#include "world.hpp"

namespace
{

using namespace tx_sim;
namespace cli = prism::cli;

/* As many runs as one history can tell from each other */
constexpr std::uint64_t most_runs = 4000;

struct Options {
	WorldOptions world;
	std::string seeds = "1..20";
	std::string workload = "registers";
	std::string flaw = "none";
	std::string crash_at = "0";
	std::string history;
	unsigned jobs = 1;
	bool verbose = false;
};

const std::map<std::string, Workload> workloads{{"registers", Workload::registers}, {"pairs", Workload::pairs},
	{"lists", Workload::lists}, {"bank", Workload::bank}};

const std::map<std::string, Flaw> flaws{{"none", Flaw::none}, {"undecided-help", Flaw::undecided_help},
	{"no-takeover", Flaw::no_takeover}, {"hasty-lane", Flaw::hasty_lane}, {"sure-decision", Flaw::sure_decision},
	{"unvalidated-reads", Flaw::unvalidated_reads}, {"unchecked-reads", Flaw::unchecked_reads},
	{"late-version", Flaw::late_version}, {"blind-install", Flaw::blind_install},
	{"repeated-timestamps", Flaw::repeated_timestamps}, {"unscanned-logs", Flaw::unscanned_logs},
	{"unconditional", Flaw::unconditional}, {"parted-requests", Flaw::parted_requests},
	{"paper-crashes", Flaw::paper_crashes}, {"no-collect", Flaw::no_collect}};

/** What many runs have come to. */
class Sum
{
public:
	explicit Sum(const Options &options) : options_(options) {}

	void add(std::uint64_t seed, std::uint64_t crash_at, const WorldResult &result);
	/** Prints it; 0 if everything is well, or if a flaw was found. */
	[[nodiscard]] int report() const;
	[[nodiscard]] std::uint64_t findings() const noexcept { return findings_; }

private:
	const Options &options_;
	const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
	std::mutex mutex_;
	WorldResult all_;
	std::uint64_t runs_ = 0;
	std::atomic<std::uint64_t> findings_ = 0;
};

void Sum::add(std::uint64_t seed, std::uint64_t crash_at, const WorldResult &result)
{
	const std::lock_guard lock(mutex_);
	runs_++;
	all_.users.committed += result.users.committed;
	all_.users.attempts += result.users.attempts;
	all_.users.rolled_back += result.users.rolled_back;
	all_.users.conflicts += result.users.conflicts;
	all_.users.failed += result.users.failed;
	all_.users.unknown += result.users.unknown;
	all_.transactions.one_chain += result.transactions.one_chain;
	all_.transactions.prepared += result.transactions.prepared;
	all_.transactions.read_only += result.transactions.read_only;
	all_.transactions.resolved += result.transactions.resolved;
	all_.transactions.no_buffer += result.transactions.no_buffer;
	all_.transactions.requests += result.transactions.requests;
	all_.stores.reports += result.stores.reports;
	all_.stores.recovery.scans += result.stores.recovery.scans;
	all_.stores.recovery.put_off += result.stores.recovery.put_off;
	all_.stores.drained += result.stores.drained;
	all_.stores.recovery.recovered += result.stores.recovery.recovered;
	all_.packets += result.packets;
	all_.crashes += result.crashes;
	all_.shard_crashes += result.shard_crashes;
	all_.partitions += result.partitions;
	all_.clients += result.clients;
	all_.takeovers += result.takeovers;
	all_.time += result.time;
	all_.others += result.others;
	if (result.finding.empty())
		return;
	findings_++;
	if (options_.world.flaw == Flaw::none || options_.verbose)
		fmt::print("seed {}, crash at packet {}: {}\n", seed, crash_at, result.finding);
}

int Sum::report() const
{
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
	const UserFigures &users = all_.users;
	const prism::tx::TransactionFigures &transactions = all_.transactions;
	fmt::print(
		"tx-sim: flaw {}: {} runs, {} transactions committed in {} attempts ({} in one chain, {} prepared, {} "
		"that only read), {} rolled back, {} given up, {} failed, {} in doubt; {} of others resolved, {} "
		"attempts without a buffer, {} requests, {} packets; {} clients ({} takeovers), {} partitions, {} "
		"crashes of clients, {} of shards; {} reports, {} scans ({} put off, {} drained a list) found {} "
		"buffers; {:.1f} s of virtual time in {:.1f} s, {:.0f} transactions/s; {} runs with a finding"
		"{}\n",
		options_.flaw, runs_, users.committed, users.attempts, transactions.one_chain, transactions.prepared,
		transactions.read_only, users.rolled_back, users.conflicts, users.failed, users.unknown,
		transactions.resolved, transactions.no_buffer, transactions.requests, all_.packets, all_.clients,
		all_.takeovers, all_.partitions, all_.crashes, all_.shard_crashes, all_.stores.reports,
		all_.stores.recovery.scans, all_.stores.recovery.put_off, all_.stores.drained,
		all_.stores.recovery.recovered, static_cast<double>(all_.time) * 1e-9, took.count(),
		static_cast<double>(users.committed) / took.count(), findings_.load(),
		all_.others ? fmt::format(", {} findings that were not expected", all_.others) : "");
	return (options_.flaw == "none") == (findings_ == 0) ? 0 : 1;
}

/** A run for each packet of the first user with which it can die. */
void crash_everywhere(WorldOptions world, std::uint64_t seed, Sum &sum)
{
	for (world.crash_at = 1;; world.crash_at++) {
		const WorldResult result = World(seed, world).run();
		if (!result.crashes && result.finding.empty())
			return;
		sum.add(seed, world.crash_at, result);
	}
}

void run_seed(const Options &options, std::uint64_t seed, std::uint64_t run, Sum &sum)
{
	WorldOptions world = options.world;
	if (options.crash_at == "all") {
		crash_everywhere(world, seed, sum);
		return;
	}
	world.crash_at = std::stoull(options.crash_at);
	world.run = world.history ? run : 0;
	sum.add(seed, world.crash_at, World(seed, world).run());
}

/** A control is over with its first finding. */
void run_seeds(const Options &options, const prism::test::SeedRange &range, Sum &sum)
{
	std::atomic<std::uint64_t> next = range.first;
	const auto work = [&] {
		const bool ends_early = options.world.flaw != Flaw::none && !options.verbose;
		for (std::uint64_t seed = next++; seed <= range.last; seed = next++) {
			run_seed(options, seed, seed - range.first, sum);
			if (ends_early && sum.findings())
				return;
		}
	};
	std::vector<std::jthread> others;
	for (unsigned job = 1; job < options.jobs; job++)
		others.emplace_back(work);
	work();
}

int refuse(const std::string &why)
{
	fmt::print(stderr, "tx-sim: {}\n", why);
	return 2;
}

int run(Options &options)
{
	WorldOptions &world = options.world;
	world.flaw = flaws.at(options.flaw);
	world.user.workload = workloads.at(options.workload);
	world.as_in_paper |= world.flaw == Flaw::paper_crashes;
	world.user.as_in_paper = world.as_in_paper;
	const bool crashes = world.crashes || options.crash_at != "0" || world.shard_crashes || world.partitions;
	if (!world.expected.empty() && world.flaw == Flaw::none)
		return refuse("--expect says what shows a flaw: name one with --flaw");
	if (world.as_in_paper && crashes && world.flaw != Flaw::paper_crashes)
		return refuse("the paper's commit does not stand clients that die: no --crashes, --partitions with it");
	const prism::test::SeedRange range = prism::test::SeedRange::parse(options.seeds);
	std::optional<serializability::HistoryWriter> history;
	if (!options.history.empty()) {
		if (options.jobs > 1 || options.crash_at == "all" || range.last - range.first >= most_runs)
			return refuse(fmt::format("a history is that of one job, and of {} seeds at most", most_runs));
		auto created = serializability::HistoryWriter::create(options.history,
			world.user.workload == Workload::lists ? serializability::HistoryKind::lists
							       : serializability::HistoryKind::registers);
		if (!created)
			return refuse(created.error().message);
		world.history = &history.emplace(*std::move(created));
	}
	Sum sum(options);
	run_seeds(options, range, sum);
	return sum.report();
}

void add_options(cli::CommandLine &app, Options &options)
{
	WorldOptions &world = options.world;
	app.add_option("--seeds", options.seeds, "A..B or one seed");
	app.add_option("--jobs", options.jobs, "runs at the same time").check(cli::Range(1, 64));
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
	app.add_option("--mtu", world.mtu, "bytes").check(cli::IsMember({256, 512, 1024, 2048, 4096}));
	app.add_option("--loss", world.faults.loss, "percent of the packets lost");
	app.add_option("--duplicate", world.faults.duplicate, "percent duplicated");
	app.add_option("--reorder", world.faults.reorder, "percent delayed behind others");
	app.add_option("--corrupt", world.faults.corrupt, "percent with flipped bits");
	app.add_option("--latency-ns", world.delays.latency, "of a packet, one way");
	app.add_option("--slots-a-step", world.slots_a_step, "that a scan looks at in a turn");
	app.add_option("--scans", world.scans, "percent of the steps at which a recovery scan is asked for");
	app.add_option("--jumps", world.jumps, "percent of the steps at which a client's clock jumps");
	app.add_option("--crashes", world.crashes, "clients that die on the way, at most");
	app.add_option("--crash-at-packet", options.crash_at,
		"the first client dies with its Nth packet, sent or received; all: a run for each N");
	app.add_option("--shard-crashes", world.shard_crashes, "shards that vanish on the way and stay away, at most");
	app.add_option("--partitions", world.partitions, "of a client from a shard, at most");
	app.add_option("--longest-partition-ns", world.longest_partition, "of them");
	app.add_option("--history", options.history, "write all transactions to this file, for check_transactions");
	app.add_option("--flaw", options.flaw, "break the protocol so; succeed if a check finds it")
		.check(cli::IsMember(flaws));
	app.add_option("--expect", world.expected, "of a flaw: only a finding with this text counts");
	app.add_flag("--verbose", options.verbose, "print what was found of a flaw too, in all runs");
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"PRISM-TX on a simulated network"};
	add_options(app, options);
	if (const auto early = app.parse(argc, argv))
		return early->print();
	return run(options);
}
