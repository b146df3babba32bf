/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The workers of one process, each a thread. */
#pragma once

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <utility>
#include <vector>

#include "bench/frame/clock.hpp"
#include "bench/frame/measure.hpp"
#include "bench/frame/run_state.hpp"

namespace prism::bench
{

/** Returns the share of a phase that is done after @p seconds, when @p ended requests have ended. */
using ShareDone = std::function<double(Phase phase, double seconds, std::uint64_t ended)>;

/** Shows the progress of the run. */
void show_progress(const Clock &clock, const RunState &run_state, const ShareDone &share, ProgressBar &bar);

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

} // namespace prism::bench
