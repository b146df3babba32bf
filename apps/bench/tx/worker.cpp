/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/tx/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "bench/frame/thread_context.hpp"

namespace prism::tx
{

namespace
{

using bench::Phase;

} // namespace

Worker::Worker(
	const RunOptions &run_options, const Workload &the_workload, bench::RunState &shared, unsigned worker_index)
	: WorkerLoop(run_options, shared), options_(run_options), workload_(the_workload), index_(worker_index),
	  random_(bench::make_random(run_options.seed, worker_index)), completed_(run_options.depth)
{
}

Result<void> Worker::connect(const ClientFactory &factory)
{
	connections_.reserve(options_.clients);
	for (unsigned i = 0; i < options_.clients; i++) {
		const unsigned number = index_ * options_.clients + i;
		Result<std::unique_ptr<TransactionClient>> client = factory(number);
		if (!client)
			return client.error();
		Result<Connection> connection = make_connection(*std::move(client), number);
		if (!connection)
			return connection.error();
		connections_.push_back(*std::move(connection));
	}
	return {};
}

Result<Worker::Connection> Worker::make_connection(std::unique_ptr<TransactionClient> client, unsigned number) const
{
	if (client->depth() == 0)
		return make_error(EINVAL, "a client that can have no transaction under way");
	Connection connection;
	connection.slots.resize(std::min<std::size_t>(options_.depth, client->depth()));
	connection.idle.reserve(connection.slots.size());
	for (Slot &slot : connection.slots) {
		slot.job.context = &slot;
		connection.idle.push_back(&slot);
	}
	connection.terminal = workload_.terminal(options_.seed, number);
	connection.client = std::move(client);
	return connection;
}

Result<void> Worker::begin(Phase next, std::uint64_t count, double seconds)
{
	const Result<std::uint64_t> start = begin_closed_phase(next, count, seconds, random_);
	if (!start)
		return start.error();
	const Totals before = result_.totals;
	result_ = RunResult();
	result_.kinds.resize(workload_.kinds().size());
	result_.totals = before;
	last_end_ = *start;
	ended_ = 0;
	return {};
}

Result<RunResult> Worker::load(const ClientFactory &factory)
{
	const std::uint64_t count = bench::share_of(workload_.loads(), index_, options_.threads);
	load_next_ = index_;
	Result<void> ready = connect(factory);
	if (ready)
		ready = begin(Phase::load, count, 0);
	if (!ready)
		return ready.error();
	if (count)
		result_.abandoned += drive();
	if (result_.of(Outcome::committed) == count)
		return std::move(result_);
	if (run_state.has_given_up())
		return canceled();
	return loading_failed(count);
}

Error Worker::loading_failed(std::uint64_t count) const
{
	const std::map<int, std::uint64_t> errors = result_.errors.all();
	int error = errors.empty() ? EIO : errors.rbegin()->first;
	if (result_.abandoned)
		error = ETIMEDOUT;
	else if (result_.of(Outcome::conflict))
		error = EAGAIN;
	const std::string what = fmt::format(
		"loading: {} of {} transactions did not commit", count - result_.of(Outcome::committed), count);
	switch (error) {
	case ENOSPC:
	case ENOMEM:
		return make_error(error, what, "give the store more room, or load less");
	case EINVAL:
	case E2BIG:
		return make_error(error, what, "see which keys, values and transactions the store is for");
	default:
		return make_error(error ? error : EIO, what, "see whether the servers are still there");
	}
}

Result<RunResult> Worker::measure(const ClientFactory &factory)
{
	Result<void> ready = connect(factory);
	if (ready && options_.warm_up > 0) {
		ready = begin(Phase::warm_up, 0, options_.warm_up);
		if (ready)
			result_.abandoned += drive();
		if (ready && result_.abandoned)
			ready = make_error(ETIMEDOUT,
				fmt::format("warming up: {} transactions did not end", result_.abandoned),
				"see whether the servers are still there");
	}
	const std::uint64_t count = bench::share_of(options_.requests, index_, options_.threads);
	if (ready)
		ready = begin(Phase::measure, count, options_.duration);
	if (!ready)
		return ready.error();
	const bench::Traffic before = bench::traffic_of_thread();
	if (count || options_.requests == 0)
		result_.abandoned += drive();
	result_.traffic = bench::traffic_of_thread().since(before);
	result_.nanoseconds = (pace.is_timed() && !has_no_client() ? pace.deadline() : last_end_) - pace.start();
	if (run_state.has_given_up())
		return canceled();
	return std::move(result_);
}

std::size_t Worker::serve_clients()
{
	std::size_t sum = 0;
	for (Connection &connection : connections_)
		sum += turn(connection);
	return sum;
}

/* Collects twice, as the driver of key-value stores does: no client stays idle and uncounted until the next turn. */
std::size_t Worker::turn(Connection &connection)
{
	const std::size_t first = collect(connection);
	start_due(connection);
	if (first == 0)
		return 0;
	const std::size_t second = collect(connection);
	if (second)
		start_due(connection);
	return first + second;
}

void Worker::start_due(Connection &connection)
{
	while (!connection.idle.empty() && !connection.has_ended && pace.take(options_.clock->now(), random_)) {
		Slot &slot = *connection.idle.back();
		connection.idle.pop_back();
		start(connection, slot);
	}
}

void Worker::start(Connection &connection, Slot &slot)
{
	slot.program = next_program(connection);
	slot.job.body = body_of(*slot.program);
	slot.begun = options_.clock->now(); /* exclude the making of the transaction */
	const int error = connection.client->start(slot.job);
	if (error == 0)
		return;
	slot.job.outcome = Outcome::failed;
	slot.job.error = error;
	slot.job.attempts = 0;
	finish(connection, slot, slot.begun);
}

std::unique_ptr<Program> Worker::next_program(Connection &connection)
{
	if (phase != Phase::load)
		return connection.terminal->next();
	return workload_.load(std::exchange(load_next_, load_next_ + options_.threads));
}

std::size_t Worker::collect(Connection &connection)
{
	const std::size_t count = connection.client->poll(completed_);
	if (count == 0)
		return 0;
	const std::uint64_t now = options_.clock->now();
	for (std::size_t i = 0; i < count; i++)
		finish(connection, *static_cast<Slot *>(completed_[i]->context), now);
	return count;
}

void Worker::finish(Connection &connection, Slot &slot, std::uint64_t now)
{
	ended_++;
	last_end_ = std::max(last_end_, now);
	note_progress(now);
	if (slot.job.outcome != Outcome::committed) /* a body that cannot read rolls back */
		connection.has_ended = connection.client->has_ended();
	result_.add(*slot.program, slot.job, now - slot.begun);
	if (slot.job.outcome == Outcome::committed && now <= pace.deadline())
		result_.in_time++;
	connection.idle.push_back(&slot);
}

std::size_t Worker::in_flight() const noexcept
{
	std::size_t sum = 0;
	for (const Connection &connection : connections_)
		sum += connection.under_way();
	return sum;
}

bool Worker::has_no_client() const noexcept
{
	return std::all_of(
		connections_.begin(), connections_.end(), [](const Connection &each) { return each.has_ended; });
}

} // namespace prism::tx
