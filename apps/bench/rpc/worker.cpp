/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "bench/frame/thread_context.hpp"

namespace prism::echo
{

namespace
{

using bench::Phase;

constexpr unsigned number_shift = 48; /* a nonce: the worker's number, and below it that of the call */

/** Returns true with probability @p share. */
bool happens(double share, bench::Random &random) noexcept
{
	constexpr double above_all = 18446744073709551616.0; /* 2^64 */
	return share > 0 && static_cast<double>(random()) < share * above_all;
}

} // namespace

Worker::Worker(const ServerPlace &place, const RunOptions &run_options, bench::RunState &shared, unsigned worker_number)
	: WorkerLoop(run_options, shared), server_(place), options_(run_options), number_(worker_number),
	  random_(bench::make_random(run_options.seed, worker_number))
{
}

Result<RunResult> Worker::run()
{
	if (looks())
		idle_ = bench::usage_of_process();
	Result<void> ready = connect();
	if (ready && options_.warm_up > 0)
		ready = warm_up();
	if (!ready)
		return ready.error();
	return measure();
}

Result<void> Worker::connect()
{
	Result<Context> context = bench::context_of_thread(server_.device);
	if (!context)
		return context.error();
	callers_.reserve(options_.connections);
	for (unsigned i = 0; i < options_.connections && !run_state.has_given_up(); i++) {
		Result<std::unique_ptr<Caller>> caller = Caller::connect(*context, server_, options_);
		if (!caller)
			return caller.error();
		callers_.push_back(*std::move(caller));
		if (i || !looks())
			continue;
		Result<Figures> told = callers_.front()->ask();
		if (!told)
			return told.error();
		first_ = *told;
	}
	return {};
}

Result<void> Worker::begin_part(Phase next, std::uint64_t count, double seconds)
{
	const Result<std::uint64_t> start = begin_closed_phase(next, count, seconds, random_);
	if (!start)
		return start.error();
	result_ = RunResult();
	result_.latency.resize(options_.sizes.count());
	last_end_ = *start;
	return {};
}

Result<void> Worker::drive_part()
{
	result_.abandoned += drive();
	if (lost_)
		return loss_of(server_, lost_);
	if (run_state.has_given_up())
		return canceled();
	return {};
}

Result<void> Worker::warm_up()
{
	Result<void> done = begin_part(Phase::warm_up, 0, options_.warm_up);
	if (done)
		done = drive_part();
	if (done && result_.abandoned)
		return make_error(ETIMEDOUT, "warming up: " + std::to_string(result_.abandoned) + " calls did not end",
			"see whether the server stands still");
	return done;
}

Result<void> Worker::look(Figures &server, bench::ProcessUsage &client)
{
	if (!looks())
		return {};
	Result<Figures> told = callers_.front()->ask();
	if (!told)
		return loss_of(server_, told.error().code);
	server = *told;
	client = bench::usage_of_process();
	return {};
}

Result<RunResult> Worker::measure()
{
	Figures server_before;
	bench::ProcessUsage client_before;
	const std::uint64_t count = bench::share_of(options_.requests, number_, options_.threads);
	Result<void> done = look(server_before, client_before);
	if (done)
		done = begin_part(Phase::measure, count, options_.duration);
	if (!done)
		return done.error();
	const bench::Traffic before = bench::traffic_of_thread();
	const rpc::LinkCounters links_before = counters();
	if (count || options_.requests == 0)
		done = drive_part();
	if (!done)
		return done.error();
	result_.traffic = bench::traffic_of_thread().since(before);
	result_.links = since(links_before, counters());
	result_.nanoseconds = (pace.is_timed() ? pace.deadline() : last_end_) - pace.start();
	result_.client_idle = idle_;
	result_.client_before = client_before;
	result_.server_first = first_;
	result_.server_before = server_before;
	if (!result_.abandoned)
		done = look(result_.server_after, result_.client_after);
	if (!done)
		return done.error();
	return std::move(result_);
}

rpc::LinkCounters Worker::counters() const noexcept
{
	rpc::LinkCounters sum;
	for (const auto &caller : callers_)
		add(sum, caller->counters());
	return sum;
}

std::size_t Worker::serve_clients()
{
	std::size_t ended = 0;
	for (const auto &caller : callers_) {
		ended += caller->poll(*this);
		if (caller->broken()) {
			lost_ = caller->broken();
			run_state.give_up();
			return ended;
		}
		begin_due(*caller);
	}
	return ended;
}

/*
 * Begins the calls that are due, in the turn in which others end: none stays uncounted until the connection's next
 * turn.
 */
void Worker::begin_due(Caller &caller)
{
	bool begun = false;
	for (; caller.idle() && pace.take(options_.clock->now(), random_); begun = true) {
		EchoCall call = next_call();
		call.begun = options_.clock->now(); /* exclude the making of the call */
		caller.begin(call);
	}
	if (begun)
		caller.flush();
}

EchoCall Worker::next_call() noexcept
{
	EchoCall call;
	call.place = options_.sizes.next(random_);
	call.request.wanted = options_.sizes[call.place];
	call.request.nonce = (std::uint64_t{number_} << number_shift) + ++calls_begun_;
	call.request.time = options_.time;
	if (happens(options_.slow.share, random_)) {
		call.request.time = options_.slow.time;
		result_.slow++;
	}
	return call;
}

void Worker::on_end(const EchoCall &call, bool right) noexcept
{
	const std::uint64_t now = options_.clock->now();
	note_progress(now);
	last_end_ = std::max(last_end_, now);
	result_.calls++;
	result_.wrong += !right;
	result_.in_time += now <= pace.deadline();
	result_.latency[call.place].add(now - call.begun);
}

std::size_t Worker::in_flight() const noexcept
{
	std::size_t sum = 0;
	for (const auto &caller : callers_)
		sum += caller->under_way();
	return sum;
}

} // namespace prism::echo
