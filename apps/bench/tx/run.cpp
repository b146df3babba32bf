/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/tx/run.hpp"

#include <utility>

#include <fmt/format.h>

#include "bench/frame/threads.hpp"
#include "bench/tx/worker.hpp"

namespace prism::tx
{

namespace
{

using bench::refuse;

constexpr unsigned most_threads = 1024;
constexpr std::uint64_t most_slots = 1 << 16; /* transactions under way in total */

using Work = Result<RunResult> (Worker::*)(const ClientFactory &);

/** Runs @p work on all threads together. */
Result<RunResult> run_team(const RunOptions &options, const Workload &workload, const ClientFactory &factory, Work work)
{
	Result<bench::SharedRunState> run_state = bench::make_run_state(options.threads, 0);
	if (!run_state)
		return run_state.error();
	return bench::run_team<RunResult>(options, **run_state, workload.loads(),
		[&](unsigned index) { return (Worker(options, workload, **run_state, index).*work)(factory); });
}

Result<Survey> look(const RunOptions &options, const Workload &workload, const ClientFactory &factory)
{
	Result<std::unique_ptr<TransactionClient>> client = factory(options.all_clients());
	if (!client)
		return client.error();
	return workload.survey(**client);
}

} // namespace

Result<void> check(const RunOptions &options)
{
	if (options.threads == 0 || options.clients == 0 || options.depth == 0)
		return refuse("no clients", "--threads, --clients and --depth are at least 1");
	if (options.threads > most_threads ||
		std::uint64_t{options.clients} * options.depth > most_slots / options.threads)
		return refuse(fmt::format("{} threads (--threads) with {} clients (--clients) of depth {} (--depth)",
				      options.threads, options.clients, options.depth),
			fmt::format("at most {} threads and {} transactions under way are possible", most_threads,
				most_slots));
	return bench::check_length(options, "transactions");
}

Result<RunResult> run(const RunOptions &options, const Workload &workload, const ClientFactory &factory)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	if (options.load) {
		const Result<RunResult> loaded = run_team(options, workload, factory, &Worker::load);
		if (!loaded)
			return loaded.error();
	}
	Survey before;
	if (options.check) {
		Result<Survey> looked = look(options, workload, factory);
		if (!looked)
			return looked.error();
		before = *std::move(looked);
	}
	Result<RunResult> result = run_team(options, workload, factory, &Worker::measure);
	if (!result || !options.check)
		return result;
	const Result<Survey> after = look(options, workload, factory);
	if (!after)
		return after.error();
	result->checked = true;
	result->findings = compare(workload, before, *after, result->totals);
	return result;
}

} // namespace prism::tx
