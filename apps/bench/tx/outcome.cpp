/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <algorithm>

#include "bench/tx/run.hpp"

namespace prism::tx
{

void KindResult::merge(const KindResult &other)
{
	for (std::size_t i = 0; i < by_outcome.size(); i++)
		by_outcome[i] += other.by_outcome[i];
	latency.merge(other.latency);
}

void RunResult::add(const Program &program, const Job &job, std::uint64_t latency)
{
	KindResult &kind = kinds.at(program.kind());
	kind.by_outcome[static_cast<std::size_t>(job.outcome)]++;
	/* The last attempt of a job that ends with a conflict was itself a conflict. */
	conflicts += job.attempts - (job.outcome == Outcome::conflict || job.attempts == 0 ? 0 : 1);
	totals.add(job.outcome, program.effects());
	if (job.outcome == Outcome::committed) {
		kind.latency.add(latency);
		round_trips[std::min<std::size_t>(job.round_trips, most_round_trips)]++;
		round_trips_sum += job.round_trips;
	} else if (job.outcome == Outcome::rolled_back) {
		if (job.error == own_rollback)
			return;
		trouble++;
		errors.add(job.error);
	} else if (job.outcome != Outcome::conflict) {
		errors.add(job.error);
	}
}

void RunResult::merge(const RunResult &other)
{
	kinds.resize(std::max(kinds.size(), other.kinds.size()));
	for (std::size_t i = 0; i < other.kinds.size(); i++)
		kinds[i].merge(other.kinds[i]);
	for (std::size_t i = 0; i < round_trips.size(); i++)
		round_trips[i] += other.round_trips[i];
	round_trips_sum += other.round_trips_sum;
	conflicts += other.conflicts;
	in_time += other.in_time;
	trouble += other.trouble;
	abandoned += other.abandoned;
	errors.merge(other.errors);
	nanoseconds = std::max(nanoseconds, other.nanoseconds);
	traffic += other.traffic;
	totals.merge(other.totals);
}

std::uint64_t RunResult::of(Outcome outcome) const noexcept
{
	std::uint64_t sum = 0;
	for (const KindResult &kind : kinds)
		sum += kind.of(outcome);
	return sum;
}

bench::LatencyHistogram RunResult::all_latencies() const
{
	bench::LatencyHistogram all;
	for (const KindResult &kind : kinds)
		all.merge(kind.latency);
	return all;
}

double RunResult::throughput() const noexcept
{
	return nanoseconds ? static_cast<double>(in_time) * 1e9 / static_cast<double>(nanoseconds) : 0;
}

double RunResult::abort_rate() const noexcept
{
	const std::uint64_t committed = of(Outcome::committed);
	return committed ? static_cast<double>(conflicts) / static_cast<double>(committed) : 0;
}

double RunResult::mean_round_trips() const noexcept
{
	const std::uint64_t committed = of(Outcome::committed);
	return committed ? static_cast<double>(round_trips_sum) / static_cast<double>(committed) : 0;
}

bool RunResult::clean() const noexcept
{
	return of(Outcome::conflict) + of(Outcome::failed) + of(Outcome::unknown) + trouble + abandoned +
		       findings.count() ==
	       0;
}

} // namespace prism::tx
