/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The driver of transactional workloads: loads, warms up, measures, checks. */
#pragma once

#include <cstdint>
#include <vector>

#include <prism/result.hpp>

#include "bench/frame/error_counts.hpp"
#include "bench/frame/measure.hpp"
#include "bench/frame/run_options.hpp"
#include "bench/frame/traffic.hpp"
#include "bench/tx/systems.hpp"
#include "bench/tx/workloads/workload.hpp"

namespace prism::tx
{

struct RunOptions : bench::CommonOptions {
	unsigned clients = 1; /**< of each thread, which serves them in turns */
	unsigned depth = 1;   /**< transactions that each client has under way */

	bool load = true;
	bool check = false; /**< look at the whole store before and after */

	[[nodiscard]] unsigned all_clients() const noexcept { return threads * clients; }
};

/** Refuses options that make no sense, with EINVAL. */
[[nodiscard]] Result<void> check(const RunOptions &options);

/** Outcomes and latencies of the transactions of one kind. A transaction counts once, with all its attempts. */
struct KindResult {
	static constexpr std::size_t outcomes = 5;

	std::array<std::uint64_t, outcomes> by_outcome{}; /**< by Outcome */
	bench::LatencyHistogram latency;                  /**< of the transactions that committed, from begin to end */

	[[nodiscard]] std::uint64_t of(Outcome outcome) const noexcept
	{
		return by_outcome[static_cast<std::size_t>(outcome)];
	}
	void merge(const KindResult &other);
};

struct RunResult {
	static constexpr std::size_t most_round_trips = 16; /**< the last count is of these and more */

	std::vector<KindResult> kinds; /**< by Program::kind() */
	/** Counts of round trips of the attempts that committed. */
	std::array<std::uint64_t, most_round_trips + 1> round_trips{};
	std::uint64_t round_trips_sum = 0;
	std::uint64_t conflicts = 0; /**< attempts that did not commit because of others */
	std::uint64_t in_time = 0;   /**< commits before the time was up */
	std::uint64_t trouble = 0;   /**< transactions rolled back for a reason other than the workload's */
	std::uint64_t abandoned = 0; /**< still under way after RunOptions::drain */
	bench::ErrorCounts errors;   /**< of the transactions that failed, are unknown, or are trouble */
	std::uint64_t nanoseconds = 0;
	bench::Traffic traffic; /**< of the clients' devices during the measurement */
	Totals totals;          /**< of all transactions that ended, including those of the warm-up */

	bool checked = false;
	Findings findings;

	void add(const Program &program, const Job &job, std::uint64_t nanoseconds);
	void merge(const RunResult &other);

	[[nodiscard]] std::uint64_t of(Outcome outcome) const noexcept;
	[[nodiscard]] bench::LatencyHistogram all_latencies() const;
	/** Returns the commits a second. */
	[[nodiscard]] double throughput() const noexcept;
	/** Returns the conflicts for each commit. */
	[[nodiscard]] double abort_rate() const noexcept;
	/** Returns the average number of round trips of a commit. */
	[[nodiscard]] double mean_round_trips() const noexcept;
	/**
	 * Returns true if all transactions ended as the workload intends and the checks found nothing. Conflicts and
	 * the workload's own rollbacks count as intended.
	 */
	[[nodiscard]] bool clean() const noexcept;
};

/**
 * Runs @p workload with the threads of this process. Blocks until all is done; if the store stops answering, until
 * RunOptions::drain has passed.
 * @return the measurements, whatever the outcomes of the transactions; an error if a client could not connect, the
 * store could not be loaded or surveyed, or the options make no sense (EINVAL).
 */
[[nodiscard]] Result<RunResult> run(const RunOptions &options, const Workload &workload, const ClientFactory &factory);

} // namespace prism::tx
