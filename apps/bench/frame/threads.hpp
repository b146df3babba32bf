/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The workers of one process, each a thread. */
#pragma once

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <utility>
#include <vector>

#include "bench/frame/measure.hpp"
#include "bench/frame/run_options.hpp"
#include "bench/frame/run_state.hpp"

namespace prism::bench
{

/** Shows the progress of the run. @param loads requests of the phase that loads; 0: there is none. */
void show_progress(const CommonOptions &options, const RunState &run_state, std::uint64_t loads, ProgressBar &bar);

/** Merges the results of threads or processes. Prefers an error that is not only a consequence of another one. */
template <typename Part>
class Merger
{
public:
	void add(Result<Part> part)
	{
		if (part)
			sum_.merge(*part);
		else if (state_ || state_.error().code == ECANCELED)
			state_ = part.error();
	}

	[[nodiscard]] Result<Part> take()
	{
		if (!state_)
			return state_.error();
		return std::move(sum_);
	}

private:
	Part sum_;
	Result<void> state_;
};

/** Runs @p work(0) .. @p work(count - 1) in threads and merges their results; calls @p look now and then. */
template <typename Part>
[[nodiscard]] Result<Part> run_threads(
	unsigned count, const std::function<Result<Part>(unsigned)> &work, const std::function<void()> &look)
{
	constexpr auto interval = std::chrono::milliseconds(100);
	std::vector<std::future<Result<Part>>> threads;
	for (unsigned i = 0; i < count; i++)
		threads.push_back(std::async(std::launch::async, work, i));
	Merger<Part> merger;
	for (std::future<Result<Part>> &thread : threads) {
		while (thread.wait_for(interval) != std::future_status::ready)
			look();
		merger.add(thread.get());
	}
	return merger.take();
}

/**
 * Does the same with CommonOptions::threads threads, of one process of a run, and shows its progress. Gives the run up
 * if one of them fails. @param loads as for show_progress().
 */
template <typename Part>
[[nodiscard]] Result<Part> run_team(const CommonOptions &options, RunState &run_state, std::uint64_t loads,
	const std::function<Result<Part>(unsigned)> &work)
{
	ProgressBar bar(options.progress);
	return run_threads<Part>(
		options.threads,
		[&](unsigned number) {
			Result<Part> result = work(number);
			if (!result)
				run_state.give_up();
			return result;
		},
		[&] { show_progress(options, run_state, loads, bar); });
}

} // namespace prism::bench
