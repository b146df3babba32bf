/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/run.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "bench/frame/threads.hpp"
#include "bench/rpc/worker.hpp"

namespace prism::echo
{

namespace
{

using bench::Phase;

constexpr unsigned most_threads = 256;
constexpr std::uint64_t most_connections = 4096;
constexpr std::uint64_t most_calls = 1 << 16; /* most calls under way in all */

Error refuse(std::string_view what, std::string_view next_step)
{
	return make_error(EINVAL, what, next_step);
}

Result<void> check_load(const RunOptions &options)
{
	if (options.threads == 0 || options.connections == 0 || options.depth == 0)
		return refuse("no calls", "threads, connections and calls under way are at least 1");
	if (options.threads > most_threads || options.all_connections() > most_connections ||
		options.all_connections() * options.depth > most_calls)
		return refuse(std::to_string(options.all_connections()) + " connections of " +
				      std::to_string(options.threads) + " threads with " +
				      std::to_string(options.depth) + " calls each",
			"at most 256 threads, 4096 connections and 65,536 calls under way are possible");
	return {};
}

Result<void> check_calls(const RunOptions &options)
{
	if (std::max(options.sizes.largest(), options.request_size) > longest_payload)
		return refuse("messages that are too long", std::to_string(longest_payload) + " bytes are possible");
	if (std::max(options.time, options.slow.time) > longest_time)
		return refuse("a server's time of more than a second", "choose a shorter one");
	if (!(options.slow.share >= 0 && options.slow.share <= 1))
		return refuse("a share of slow calls that is none", "give one from 0 to 1");
	return {};
}

Result<void> check_amount(const RunOptions &options)
{
	if ((options.duration > 0) == (options.calls > 0))
		return refuse("how much to measure", "give either a duration or a number of calls");
	if (!(options.duration >= 0 && options.warm_up >= 0 && options.drain > 0))
		return refuse("a time below 0", "choose another");
	return {};
}

double share_done(const RunOptions &options, Phase phase, double seconds, std::uint64_t ended)
{
	if (phase == Phase::warm_up)
		return seconds / options.warm_up;
	return options.duration > 0 ? seconds / options.duration
				    : static_cast<double>(ended) / static_cast<double>(options.calls);
}

} // namespace

Result<void> check(const RunOptions &options)
{
	for (const auto part : {check_load, check_calls, check_amount}) {
		Result<void> checked = part(options);
		if (!checked)
			return checked;
	}
	return {};
}

Result<RunResult> run(const ServerPlace &server, const RunOptions &options)
{
	Result<void> checked = check(options);
	if (!checked)
		return checked.error();
	Result<bench::SharedRunState> state = bench::make_run_state(options.threads, 0);
	if (!state)
		return state.error();
	bench::ProgressBar bar(options.progress);
	const auto share = [&options](Phase phase, double seconds, std::uint64_t ended) {
		return share_done(options, phase, seconds, ended);
	};
	return bench::run_threads<RunResult>(
		options.threads,
		[&](unsigned number) {
			Worker worker(server, options, **state, number);
			Result<RunResult> result = worker.run();
			if (!result)
				(*state)->give_up();
			return result;
		},
		[&] { bench::show_progress(*options.clock, **state, share, bar); });
}

} // namespace prism::echo
