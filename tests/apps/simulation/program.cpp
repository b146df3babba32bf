/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "program.hpp"

#include <algorithm>
#include <thread>

#include <fmt/core.h>

#include "seed_range.hpp"

namespace simulation
{

namespace cli = prism::cli;

bool is_one_of(const std::string &finding, const std::vector<std::string> &parts)
{
	const auto is_it = [&finding](const std::string &part) { return finding.find(part) != std::string::npos; };
	return std::ranges::any_of(parts, is_it);
}

void add_run_options(cli::CommandLine &app, ProgramOptions &options, const cli::IsMember &flaws)
{
	app.add_option("--seeds", options.seeds, "A..B or one seed");
	app.add_option("--jobs", options.jobs, "runs at the same time").check(cli::Range(1, 64));
	app.add_option("--crash-at-packet", options.crash_at,
		"the first client dies with its Nth packet, sent or received; all: a run for each N");
	app.add_option("--flaw", options.flaw, "break the protocol so; succeed if a check finds that and nothing else")
		.check(flaws);
	app.add_flag("--verbose", options.verbose, "print what was found of a flaw too, in all runs");
}

void add_network_options(cli::CommandLine &app, test::Faults &faults, test::Delays &delays, std::uint32_t &mtu)
{
	app.add_option("--mtu", mtu, "bytes").check(cli::IsMember({256, 512, 1024, 2048, 4096}));
	app.add_option("--loss", faults.loss, "percent of the packets lost");
	app.add_option("--duplicate", faults.duplicate, "percent duplicated");
	app.add_option("--reorder", faults.reorder, "percent delayed behind others");
	app.add_option("--corrupt", faults.corrupt, "percent with flipped bits");
	app.add_option("--latency-ns", delays.latency, "of a packet, one way");
}

/** Returns the number of crashes of clients in the run. */
std::uint64_t Runs::add(std::uint64_t seed, std::uint64_t crash_at, const Result &result)
{
	const std::lock_guard lock(mutex_);
	runs_++;
	if (result.finding.empty())
		return result.crashes;
	findings_++;
	const bool unexpected = !is_one_of(result.finding, expected_);
	unexpected_ += unexpected;
	if (unexpected || options_.verbose)
		fmt::print("seed {}, crash at packet {}: {}\n", seed, crash_at, result.finding);
	return result.crashes;
}

void Runs::run_seed(const Run &run, std::uint64_t seed, std::uint64_t number)
{
	if (options_.crash_at != "all") {
		const std::uint64_t crash_at = std::stoull(options_.crash_at);
		add(seed, crash_at, run(seed, number, crash_at));
		return;
	}
	for (std::uint64_t crash_at = 1; add(seed, crash_at, run(seed, number, crash_at)); crash_at++)
		;
}

void Runs::run(const Run &run, bool ends_early)
{
	const prism::test::SeedRange range = prism::test::SeedRange::parse(options_.seeds);
	std::atomic<std::uint64_t> next = range.first;
	const auto work = [&] {
		for (std::uint64_t seed = next++; seed <= range.last; seed = next++) {
			run_seed(run, seed, seed - range.first);
			if (ends_early && findings_)
				return;
		}
	};
	std::vector<std::jthread> others;
	for (unsigned job = 1; job < options_.jobs; job++)
		others.emplace_back(work);
	work();
}

double Runs::seconds() const
{
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
	return took.count();
}

std::string Runs::summary(const Result &all, const std::string &found) const
{
	const prism::apps::RecoveryStats &recovery = all.stores.recovery;
	return fmt::format("{} reports, {} scans ({} put off, {} drained a list) found {} buffers{}, {:.1f} s of "
			   "virtual time in {:.1f} s, {} runs with a finding{}",
		all.stores.reports, recovery.scans, recovery.put_off, all.stores.drained, recovery.recovered, found,
		static_cast<double>(all.time) * 1e-9, seconds(), findings_.load(),
		all.others ? fmt::format(", {} findings that were not expected", all.others) : "");
}

int Runs::exit_code() const noexcept
{
	return !unexpected_ && options_.is_broken() == (findings_ > 0) ? 0 : 1;
}

} // namespace simulation
