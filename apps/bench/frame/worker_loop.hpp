/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>

#include <prism/result.hpp>

#include "bench/frame/pace.hpp"
#include "bench/frame/run_options.hpp"
#include "bench/frame/run_state.hpp"

namespace prism::bench
{

/**
 * One thread of a run, for any kind of clients: it begins each phase together with all other workers, then serves its
 * clients in turn until the phase is over. A driver's worker derives from it. Used only by the thread that made it.
 */
class WorkerLoop
{
public:
	WorkerLoop(const WorkerLoop &) = delete;
	WorkerLoop &operator=(const WorkerLoop &) = delete;
	virtual ~WorkerLoop() = default;

protected:
	/** @param options, state outlive this. */
	WorkerLoop(const CommonOptions &options, RunState &state) noexcept : run_state(state), run_options_(options) {}

	/** Serves each client once. @return the number of operations that ended. */
	virtual std::size_t serve_clients() = 0;
	/** Returns the number of requests under way. */
	[[nodiscard]] virtual std::size_t in_flight() const noexcept = 0;
	/** Returns true if all clients have ended, so that nothing can be begun any more. */
	[[nodiscard]] virtual bool has_no_client() const noexcept { return false; }
	/** Returns the number of requests of this phase that have ended, for the progress bar. */
	[[nodiscard]] virtual std::uint64_t requests_ended() const noexcept = 0;

	/** Waits until all workers have come to @p next. @return the time at which it begins. Errors: canceled(). */
	Result<std::uint64_t> begin_phase(Phase next) noexcept;
	/**
	 * Likewise, but requests are always due from then on: @p count of them, or for @p seconds; 0: no such limit.
	 */
	Result<std::uint64_t> begin_closed_phase(
		Phase next, std::uint64_t count, double seconds, Random &random) noexcept;
	/**
	 * Serves until the pace is over, or there is no client any more, and nothing is under way; or until a worker
	 * gives up, or requests are given up.
	 * @return the number of requests given up.
	 */
	std::size_t drive();
	/** Notes that a request ended at @p now. */
	void note_progress(std::uint64_t now) noexcept { last_progress_ = now; }

	/** Returns the error of a worker after another one has failed: ECANCELED. */
	[[nodiscard]] static Error canceled();

	RunState &run_state;
	Phase phase = Phase::load;
	Pace pace;

private:
	[[nodiscard]] bool stalled(std::uint64_t now, std::size_t ended) noexcept;
	void report_progress(std::uint64_t now) noexcept;

	const CommonOptions &run_options_;
	std::uint64_t last_progress_ = 0; /* last time at which something ended, or nothing was under way */
	std::uint64_t last_report_ = 0;
	std::uint64_t reported_ = 0;
};

} // namespace prism::bench
