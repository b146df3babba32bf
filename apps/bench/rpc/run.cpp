/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/run.hpp"

#include <algorithm>
#include <string>

#include "bench/frame/threads.hpp"
#include "bench/rpc/worker.hpp"

namespace prism::echo
{

namespace
{

using bench::refuse;

constexpr unsigned most_threads = 256;
constexpr std::uint64_t most_connections = 4096;
constexpr std::uint64_t most_calls = 1 << 16; /* most calls under way in all */

Result<void> check_load(const RunOptions &options)
{
	if (options.threads == 0 || options.connections == 0 || options.depth == 0)
		return refuse("no calls", "--threads, --connections and --depth are at least 1");
	if (options.threads > most_threads || options.all_connections() > most_connections ||
		options.all_connections() * options.depth > most_calls)
		return refuse(std::to_string(options.all_connections()) + " connections of " +
				      std::to_string(options.threads) + " threads with " +
				      std::to_string(options.depth) + " calls each",
			"at most 256 threads (--threads), 4096 connections (--connections) and 65,536 calls under way "
			"(--depth) "
			"are possible");
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

} // namespace

Result<void> check(const RunOptions &options)
{
	for (const auto part : {check_load, check_calls}) {
		Result<void> checked = part(options);
		if (!checked)
			return checked;
	}
	return bench::check_length(options, "calls");
}

Result<RunResult> run(const ServerPlace &server, const RunOptions &options)
{
	Result<void> checked = check(options);
	if (!checked)
		return checked.error();
	Result<bench::SharedRunState> state = bench::make_run_state(options.threads, 0);
	if (!state)
		return state.error();
	return bench::run_team<RunResult>(
		options, **state, 0, [&](unsigned number) { return Worker(server, options, **state, number).run(); });
}

} // namespace prism::echo
