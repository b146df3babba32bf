/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/worker_loop.hpp"

#include <cerrno>
#include <optional>

#include <sched.h>

namespace prism::bench
{

namespace
{

constexpr double ns_per_s = 1e9;
constexpr std::uint64_t report_interval = 50'000'000; /* ns */

} // namespace

Result<std::uint64_t> WorkerLoop::begin_phase(Phase next) noexcept
{
	const std::optional<std::uint64_t> start = run_state.begin(next, *run_options_.clock);
	if (!start)
		return canceled();
	phase = next;
	last_progress_ = last_report_ = *start;
	reported_ = 0;
	return *start;
}

Result<std::uint64_t> WorkerLoop::begin_closed_phase(
	Phase next, std::uint64_t count, double seconds, Random &random) noexcept
{
	const Result<std::uint64_t> start = begin_phase(next);
	if (!start)
		return start.error();
	PaceOptions plan;
	plan.start = *start;
	plan.count = count;
	plan.time = static_cast<std::uint64_t>(seconds * ns_per_s);
	pace = Pace(plan, random);
	return start;
}

std::size_t WorkerLoop::drive()
{
	for (;;) {
		const std::size_t ended = serve_clients();
		const std::uint64_t now = run_options_.clock->now();
		report_progress(now);
		if ((pace.over(now) || has_no_client()) && in_flight() == 0)
			return 0;
		if (stalled(now, ended))
			return in_flight();
		if (run_state.has_given_up())
			return 0;
		if (ended == 0 && run_options_.yield)
			sched_yield();
	}
}

bool WorkerLoop::stalled(std::uint64_t now, std::size_t ended) noexcept
{
	if (ended || in_flight() == 0)
		last_progress_ = now;
	return static_cast<double>(now - last_progress_) > run_options_.drain * ns_per_s;
}

void WorkerLoop::report_progress(std::uint64_t now) noexcept
{
	if (now - last_report_ < report_interval)
		return;
	last_report_ = now;
	const std::uint64_t ended = requests_ended();
	run_state.ended[static_cast<std::size_t>(phase)].fetch_add(ended - reported_, std::memory_order_relaxed);
	reported_ = ended;
}

Error WorkerLoop::canceled()
{
	return make_error(ECANCELED, "another worker of the run failed");
}

} // namespace prism::bench
