/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/tx/run.hpp"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "bench/frame/threads.hpp"
#include "bench/tx/worker.hpp"

namespace prism::tx
{

namespace
{

using bench::Phase;

constexpr unsigned most_threads = 1024;
constexpr std::uint64_t most_slots = 1 << 16; /* transactions under way in total */

Error refuse(std::string_view what, std::string_view next_step)
{
	return make_error(EINVAL, what, next_step);
}

double share_done(const RunOptions &options, const Workload &workload, Phase phase, double seconds, std::uint64_t ended)
{
	const auto done = static_cast<double>(ended);
	if (phase == Phase::load)
		return done / static_cast<double>(workload.loads());
	if (phase == Phase::warm_up)
		return seconds / options.warm_up;
	return options.duration > 0 ? seconds / options.duration : done / static_cast<double>(options.transactions);
}

using Work = Result<RunResult> (Worker::*)(const ClientFactory &);

/** Runs @p work on all threads together. */
Result<RunResult> run_team(const RunOptions &options, const Workload &workload, const ClientFactory &factory, Work work)
{
	Result<bench::SharedRunState> run_state = bench::make_run_state(options.threads, 0);
	if (!run_state)
		return run_state.error();
	bench::ProgressBar bar(options.progress);
	const auto share = [&](Phase phase, double seconds, std::uint64_t ended) {
		return share_done(options, workload, phase, seconds, ended);
	};
	return bench::run_threads<RunResult>(
		options.threads,
		[&](unsigned index) {
			Worker worker(options, workload, **run_state, index);
			Result<RunResult> result = (worker.*work)(factory);
			if (!result)
				(*run_state)->give_up();
			return result;
		},
		[&] { bench::show_progress(*options.clock, **run_state, share, bar); });
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
	if ((options.duration > 0) == (options.transactions > 0))
		return refuse("how much to measure", "give either a duration or a number of transactions");
	if (!(options.duration >= 0 && options.warm_up >= 0 && options.drain > 0))
		return refuse("a time below 0", "choose another");
	if (options.threads == 0 || options.clients == 0 || options.depth == 0)
		return refuse("no clients", "threads, clients and depth are at least 1");
	if (options.threads > most_threads ||
		std::uint64_t{options.clients} * options.depth > most_slots / options.threads)
		return refuse(fmt::format("{} threads with {} clients of depth {}", options.threads, options.clients,
				      options.depth),
			fmt::format("at most {} threads and {} transactions under way are possible", most_threads,
				most_slots));
	return {};
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
