/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the programs of the simulators have in common: runs of many seeds, and what they have come to. */
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

/** A flaw, and what the checks say of it: nothing else may be found, or the control has found something else. */
template <typename Flaw>
struct Control {
	Flaw flaw{};
	std::vector<std::string> findings; /* parts of them */
};

/** By the names of --flaw. */
template <typename Flaw>
using Controls = std::map<std::string, Control<Flaw>>;

/** Whether @p finding contains one of @p parts. */
[[nodiscard]] bool is_one_of(const std::string &finding, const std::vector<std::string> &parts);

struct ProgramOptions {
	std::string seeds = "1..20";
	std::string flaw = "none";
	std::string crash_at = "0";
	unsigned jobs = 1; /* runs at the same time */
	bool verbose = false;

	[[nodiscard]] bool is_broken() const { return flaw != "none"; }
};

/** --seeds and what else says which runs there are. */
void add_run_options(prism::cli::CommandLine &app, ProgramOptions &options, const prism::cli::IsMember &flaws);
/** The network's faults, its latency, and the path MTU. */
void add_network_options(prism::cli::CommandLine &app, test::Faults &faults, test::Delays &delays, std::uint32_t &mtu);

/** Runs, by seed and packet with which the first client dies, and what they have come to. */
class Runs
{
public:
	/** One run; it adds its figures to the program's under lock(). @p run: which of the seeds it is, from 0. */
	using Run = std::function<Result(std::uint64_t seed, std::uint64_t run, std::uint64_t crash_at)>;

	/** @p expected: parts of the findings that a flaw is to have. */
	Runs(const ProgramOptions &options, std::vector<std::string> expected)
		: options_(options), expected_(std::move(expected))
	{
	}

	/**
	 * All that the options say. With --crash-at-packet all a run for each packet of the first client with which it
	 * can die: the last of them ends, or finds something, before. @p ends_early: with the first finding of a flaw.
	 */
	void run(const Run &run, bool ends_early = false);

	[[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
	[[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
	/**
	 * How each report ends: scans of the servers, which have @p found something beside buffers, times, findings.
	 * @p all: of all runs.
	 */
	[[nodiscard]] std::string summary(const Result &all, const std::string &found = {}) const;
	/** Of real time, so far. */
	[[nodiscard]] double seconds() const;
	/** 0 if everything is well, or if a flaw was found and nothing but the flaw. */
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
	std::uint64_t unexpected_ = 0; /* of these: not what the flaw does */
};

/**
 * Runs a World for each, and sums up what they have come to. @p prepare: is given the options of a run and which of the
 * seeds it is, from 0.
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
