/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Common part of the simulators' programs: runs of many seeds, and their results. */
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "network.hpp"
#include "result.hpp"

namespace simulation
{

/**
 * Flaw, and parts of the findings that it causes. Any other finding means that the control has found something else.
 */
template <typename Flaw>
struct Control {
	Flaw flaw{};
	std::vector<std::string> findings; /* parts of the expected findings */
};

/** Controls by their names for --flaw. */
template <typename Flaw>
using Controls = std::map<std::string, Control<Flaw>>;

/** Returns true if @p finding contains one of @p parts. */
[[nodiscard]] bool is_one_of(const std::string &finding, const std::vector<std::string> &parts);

struct ProgramOptions {
	std::string seeds = "1..20";
	std::string flaw = "none";
	std::string crash_at = "0";
	unsigned jobs = 1; /* runs at the same time */
	bool verbose = false;

	[[nodiscard]] bool is_broken() const { return flaw != "none"; }
};

/** Adds --seeds and the other options that select runs. */
void add_run_options(prism::cli::CommandLine &app, ProgramOptions &options, const prism::cli::IsMember &flaws);
/** Adds options for the network's faults, its latency and the path MTU. */
void add_network_options(prism::cli::CommandLine &app, test::Faults &faults, test::Delays &delays, std::uint32_t &mtu);

/** The main() of a simulator. */
template <typename Options>
int run_program(int argc, char **argv, const char *title, void (*add_options)(prism::cli::CommandLine &, Options &),
	int (*run)(Options &))
{
	Options options;
	prism::cli::CommandLine app{title};
	add_options(app, options);
	if (const auto early = app.parse(argc, argv))
		return early->print();
	return run(options);
}

/** Runs, each given by its seed and the packet with which the first client dies, and their results. */
class Runs
{
public:
	/** One run; it adds its figures to the program's under lock(). @p run: index of its seed, from 0. */
	using Run = std::function<Result(std::uint64_t seed, std::uint64_t run, std::uint64_t crash_at)>;

	/** @p expected: parts of the findings that the flaw causes. */
	Runs(const ProgramOptions &options, std::vector<std::string> expected)
		: options_(options), expected_(std::move(expected))
	{
	}

	/**
	 * Runs all seeds of the options. With --crash-at-packet all, does one run for each packet of the first client
	 * with which it can die; the last of them ends or finds something before that packet. @p ends_early: stop at
	 * the first finding.
	 */
	void run(const Run &run, bool ends_early = false);

	[[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
	[[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
	/**
	 * Returns the end of a report: scans of the servers, buffers that these found and, in words, what else
	 * (@p found), times, findings. @p all: sums over all runs.
	 */
	[[nodiscard]] std::string summary(const Result &all, const std::string &found = {}) const;
	/** Returns the real time used so far. */
	[[nodiscard]] double seconds() const;
	/** Returns 0 if nothing was found, or if a flaw was to be found and nothing else was. */
	[[nodiscard]] int exit_code() const noexcept;

private:
	void run_seed(const Run &run, std::uint64_t seed, std::uint64_t number);
	std::uint64_t add(std::uint64_t seed, std::uint64_t crash_at, const Result &result);

	const ProgramOptions &options_;
	const std::vector<std::string> expected_;
	const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
	std::mutex mutex_;
	std::uint64_t runs_ = 0;
	std::atomic<std::uint64_t> findings_ = 0;
	std::uint64_t unexpected_ = 0; /* those that the flaw does not cause */
};

/**
 * Runs a World for each run and sums up the results. @p prepare: called with the options of a run and the index of its
 * seed, from 0.
 */
template <typename World, typename WorldResult, typename WorldOptions>
WorldResult run_worlds(Runs &runs, const WorldOptions &world, bool ends_early = false,
	const std::function<void(WorldOptions &, std::uint64_t)> &prepare = {})
{
	WorldResult all;
	const auto run = [&](std::uint64_t seed, std::uint64_t number, std::uint64_t crash_at) -> Result {
		WorldOptions one = world;
		one.crash_at = crash_at;
		if (prepare)
			prepare(one, number);
		const WorldResult result = World(seed, one).run();
		const auto lock = runs.lock();
		all.add(result);
		return result;
	};
	runs.run(run, ends_early);
	return all;
}

} // namespace simulation
