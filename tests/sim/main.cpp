/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* prism_sim: runs many seeds of the simulation, or of one that is broken on purpose. */
#include <chrono>
#include <map>
#include <string>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "seed_range.hpp"
#include "simulation.hpp"

namespace
{

using namespace prism::test;

struct Options {
	SimulationOptions simulation;
	std::string seeds = "1..100";
	std::string sabotage = "none";
	bool verbose = false;
};

const std::map<std::string, Sabotage> sabotages{{"none", Sabotage::none}, {"execute-again", Sabotage::execute_again},
	{"splice", Sabotage::splice}, {"forget", Sabotage::forget}, {"replay-wrong", Sabotage::replay_wrong}};

int run(const Options &options)
{
	const SeedRange range = SeedRange::parse(options.seeds);
	const auto start = std::chrono::steady_clock::now();
	SimulationResult sum;
	std::uint64_t runs = 0, findings = 0;
	for (std::uint64_t seed = range.first; seed <= range.last; seed++, runs++) {
		const SimulationResult result = simulate(seed, options.simulation);
		sum.operations += result.operations;
		sum.packets += result.packets;
		sum.retransmits += result.retransmits;
		sum.replays += result.replays;
		sum.bundled += result.bundled;
		sum.time += result.time;
		if (!result.finding.empty()) {
			findings++;
			if (options.simulation.sabotage == Sabotage::none || options.verbose)
				fmt::print("seed {}: {}\n", seed, result.finding);
		}
	}
	const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
	fmt::print("simulator: seeds {}..{} loss {}% duplicate {}% reorder {}% corrupt {}% sabotage {}: {} runs, {} "
		   "operations, {} packets, {} bundled entries, {} retransmissions, {} replays, {:.1f} s of virtual "
		   "time in {:.1f} s, {} "
		   "runs with a finding\n",
		range.first, range.last, options.simulation.faults.loss, options.simulation.faults.duplicate,
		options.simulation.faults.reorder, options.simulation.faults.corrupt, options.sabotage, runs,
		sum.operations, sum.packets, sum.bundled, sum.retransmits, sum.replays,
		static_cast<double>(sum.time) * 1e-9, seconds.count(), findings);
	/* A negative control passes if the checks have found it. */
	return (options.simulation.sabotage == Sabotage::none) == (findings == 0) ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	prism::cli::CommandLine app{"Simulation of PRISM connections over a bad network"};
	app.add_option("--seeds", options.seeds, "A..B or one seed");
	app.add_option("--loss", options.simulation.faults.loss, "percent of the packets lost");
	app.add_option("--duplicate", options.simulation.faults.duplicate, "percent duplicated");
	app.add_option("--reorder", options.simulation.faults.reorder, "percent delayed behind others");
	app.add_option("--corrupt", options.simulation.faults.corrupt, "percent with flipped bits");
	app.add_option("--qps", options.simulation.qps, "connections to the server").check(prism::cli::Range(1, 32));
	app.add_option("--operations", options.simulation.operations, "operations for each connection");
	app.add_option("--long-reads", options.simulation.long_reads, "percent of operations: READs of up to 1 MiB");
	app.add_flag("--long-prism-reads", options.simulation.long_prism_reads, "long READs by PRISM too");
	app.add_flag("!--no-bundles", options.simulation.bundles, "all peers speak version 1 of the wire protocol");
	app.add_option("--sabotage", options.sabotage, "break the protocol so; succeed if a check finds it")
		.check(prism::cli::IsMember(sabotages));
	app.add_flag("--verbose", options.verbose, "print the findings of negative controls too");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	options.simulation.sabotage = sabotages.at(options.sabotage);
	return run(options);
}
