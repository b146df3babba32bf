/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/frame/threads.hpp"
#include "bench/ycsb/worker.hpp"

namespace prism::ycsb
{

namespace
{

using bench::refuse;

constexpr unsigned most_workers = 1024;
constexpr std::uint64_t most_slots = 1 << 16; /* operations under way in all; RecordCounter's window has this many */

Result<void> check_records(const RunOptions &options)
{
	if (options.records == 0)
		return refuse("no records (--records)", "requests need at least one");
	if (options.key_size == 0 || options.key_size > bench::largest_key)
		return refuse(fmt::format("keys of {} bytes (--key-size)", options.key_size),
			fmt::format("1 to {} are possible", bench::largest_key));
	if (options.numbered_keys && options.key_size != sizeof(std::uint64_t))
		return refuse(fmt::format("keys of {} bytes (--key-size)", options.key_size),
			"the keys of this system are numbers of 8 bytes");
	if (options.records > bench::most_records(options.key_size))
		return refuse(fmt::format("{} records with keys of {} bytes (--records, --key-size)", options.records,
				      options.key_size),
			"make the keys longer");
	if (options.theta <= 0 && options.distribution != bench::Distribution::uniform)
		return refuse("a Zipf exponent (--theta) that is not positive",
			"0.99 is YCSB's; without skew, choose uniform");
	return {};
}

Result<void> check_clients(const RunOptions &options)
{
	if (options.processes == 0 || options.threads == 0 || options.clients == 0 || options.depth == 0)
		return refuse("no clients", "--processes, --threads, --clients and --tx-depth are at least 1");
	const std::uint64_t workers = std::uint64_t{options.processes} * options.threads;
	if (workers > most_workers || std::uint64_t{options.clients} * options.depth > most_slots / workers)
		return refuse(fmt::format("{} threads (--processes, --threads) with {} clients (--clients) of depth {} "
					  "(--tx-depth)",
				      workers, options.clients, options.depth),
			fmt::format("at most {} threads and {} operations under way are possible", most_workers,
				most_slots));
	return {};
}

} // namespace

Result<void> check(const RunOptions &options)
{
	for (const auto part : {check_records, check_clients}) {
		Result<void> checked = part(options);
		if (!checked)
			return checked;
	}
	if (options.rate < 0)
		return refuse("a rate (--rate) below 0", "choose another");
	return bench::check_length(options, "requests");
}

Result<RunResult> run_process(
	const RunOptions &options, bench::RunState &run_state, unsigned process, const ClientFactory &factory)
{
	return bench::run_team<RunResult>(options, run_state, options.records, [&](unsigned thread) {
		return Worker(options, run_state, process * options.threads + thread).run(factory);
	});
}

Result<RunResult> run(const RunOptions &options, const ClientFactory &factory)
{
	Result<void> checked = check(options);
	if (!checked)
		return checked.error();
	if (options.processes != 1)
		return refuse("several processes", "call run_processes()");
	Result<bench::SharedRunState> run_state = bench::make_run_state(options.workers(), options.records);
	if (!run_state)
		return run_state.error();
	return run_process(options, **run_state, 0, factory);
}

} // namespace prism::ycsb
