/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The workers of a run as processes: each sends its results through a pipe. */
#pragma once

#include <cerrno>
#include <exception>
#include <functional>

#include <nlohmann/json.hpp>
#include <prism/result.hpp>

#include "bench/frame/threads.hpp"

namespace prism::bench
{

/** Work of a run of several processes. */
struct ProcessesOptions {
	unsigned count = 1;
	/** Called in child @p number, which ends afterwards. */
	std::function<Result<nlohmann::json>(unsigned number)> work;
	/** Called with the result of each child, in their order, when all have ended. */
	std::function<void(Result<nlohmann::json> result)> take;
	/**
	 * Called when a child has failed: makes the others end as soon as they can. Any child may call it, and this
	 * process.
	 */
	std::function<void()> give_up = [] {};
	/** Called now and then. */
	std::function<void()> look = [] {};
};

/**
 * Runs the children and returns when all have ended. They end with this process, too. The calling process must have no
 * other thread, and nothing open that does not survive a fork. Errors: those of pipe(2) and fork(2).
 */
[[nodiscard]] Result<void> run_children(const ProcessesOptions &options);

/**
 * Runs @p work(0) .. @p work(count - 1), each in a child, and merges their results. A Part has to_json() and
 * from_json(), which may throw. Errors: those of run_children(); EPIPE (a child ended without a result); the first one
 * that is not ECANCELED, if a child failed.
 */
template <typename Part>
[[nodiscard]] Result<Part> run_processes(unsigned count, const std::function<Result<Part>(unsigned)> &work,
	const std::function<void()> &give_up, const std::function<void()> &look)
{
	Merger<Part> merger;
	const auto take = [&merger](Result<nlohmann::json> result) {
		if (!result)
			return merger.add(result.error());
		try {
			merger.add(Part::from_json(*result));
		} catch (const std::exception &) {
			merger.add(make_error(EPIPE, "a process of the driver has sent no result"));
		}
	};
	const auto encode = [&work](unsigned number) -> Result<nlohmann::json> {
		const Result<Part> part = work(number);
		if (!part)
			return part.error();
		return part->to_json();
	};
	const Result<void> done = run_children({count, encode, take, give_up, look});
	if (!done)
		return done.error();
	return merger.take();
}

} // namespace prism::bench
