/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "bench/frame/thread_context.hpp"

namespace prism::ycsb
{

namespace
{

using apps::Operation;
using apps::OperationKind;
using apps::Outcome;
using bench::Request;

constexpr double ns_per_s = 1e9;
constexpr unsigned version_bits = 48; /* bits below the worker's number */

Error loading_failed(const RunOptions &options, const RunResult &result, std::uint64_t count)
{
	const std::string what =
		fmt::format("loading: {} of {} records were not stored", count - result.puts.of(Outcome::ok), count);
	if (result.puts.of(Outcome::full))
		return make_error(
			ENOSPC, what, "the store is full: give it more room, or load fewer or smaller records");
	const std::map<int, std::uint64_t> errors = result.errors.all();
	const int error = result.abandoned ? ETIMEDOUT : errors.empty() ? EIO : errors.rbegin()->first;
	if (error == EINVAL)
		return make_error(error, what,
			fmt::format("the store takes no keys of {} bytes with values of {}: give a smaller --size, or "
				    "start its server for larger ones",
				options.key_size, options.value_size));
	return make_error(error ? error : EIO, what, "see whether the server is still there");
}

bool was_done(Outcome outcome)
{
	return outcome == Outcome::ok || outcome == Outcome::not_found;
}

} // namespace

Worker::Worker(const RunOptions &run_options, bench::RunState &shared, unsigned worker_index)
	: WorkerLoop(run_options, shared), options_(run_options), index_(worker_index),
	  random_(bench::make_random(run_options.seed, worker_index)),
	  chooser_(run_options.distribution, run_options.records, run_options.theta), completed_(run_options.depth)
{
}

Result<RunResult> Worker::run(const ClientFactory &factory)
{
	Result<void> ready = connect(factory);
	if (ready && options_.load)
		ready = load();
	if (ready && options_.warm_up > 0)
		ready = warm_up();
	if (!ready)
		return ready.error();
	return measure();
}

Result<void> Worker::connect(const ClientFactory &factory)
{
	connections_.reserve(options_.clients);
	for (unsigned i = 0; i < options_.clients; i++) {
		Result<std::unique_ptr<apps::StoreClient>> client = factory(index_ * options_.clients + i);
		if (!client)
			return client.error();
		Result<Connection> connection = make_connection(std::move(*client));
		if (!connection)
			return connection.error();
		connections_.push_back(std::move(*connection));
	}
	return {};
}

Result<Worker::Connection> Worker::make_connection(std::unique_ptr<apps::StoreClient> client) const
{
	if (client->depth() == 0)
		return make_error(EINVAL, "a client that can have no operation under way");
	Connection connection;
	connection.slots.resize(options_.depth);
	connection.idle.reserve(options_.depth);
	connection.pending.set_capacity(options_.depth);
	for (Slot &slot : connection.slots) {
		slot.key.resize(options_.key_size);
		slot.value.resize(options_.value_size);
		slot.result.resize(options_.value_size);
		slot.operation.context = &slot;
		connection.idle.push_back(&slot);
	}
	connection.client = std::move(client);
	return connection;
}

Result<void> Worker::begin(bench::Phase next, std::uint64_t count, double seconds, double rate)
{
	const Result<std::uint64_t> start = begin_phase(next);
	if (!start)
		return start.error();
	const double one_interval = rate > 0 ? ns_per_s / rate : 0;
	pace = bench::Pace(
		{
			.start = *start,
			.count = count,
			.time = static_cast<std::uint64_t>(seconds * ns_per_s),
			.interval = one_interval * options_.workers(),
			.offset = one_interval * index_,
			.arrivals = options_.arrivals,
		},
		random_);
	result_ = RunResult();
	last_end_ = *start;
	return {};
}

Result<void> Worker::load()
{
	const std::uint64_t count = bench::share_of(options_.records, index_, options_.workers());
	load_next_ = index_;
	Result<void> begun = begin(bench::Phase::load, count, 0, 0);
	if (!begun)
		return begun;
	if (count)
		result_.abandoned += drive();
	if (result_.puts.of(Outcome::ok) == count)
		return {};
	if (run_state.has_given_up())
		return canceled();
	return loading_failed(options_, result_, count);
}

Result<void> Worker::warm_up()
{
	Result<void> begun = begin(bench::Phase::warm_up, 0, options_.warm_up, options_.rate);
	if (!begun)
		return begun;
	result_.abandoned += drive();
	if (result_.abandoned)
		return make_error(ETIMEDOUT, fmt::format("warming up: {} operations did not end", result_.abandoned),
			"see whether the server is still there");
	return {};
}

Result<RunResult> Worker::measure()
{
	const std::uint64_t count = bench::share_of(options_.requests, index_, options_.workers());
	Result<void> begun = begin(bench::Phase::measure, count, options_.duration, options_.rate);
	if (!begun)
		return begun.error();
	const bench::Traffic before = bench::traffic_of_thread();
	if (count || options_.requests == 0)
		result_.abandoned += drive();
	result_.traffic = bench::traffic_of_thread().since(before);
	pace.add_backlog(result_.backlog, random_);
	result_.nanoseconds = (pace.is_timed() && !has_no_client() ? pace.deadline() : last_end_) - pace.start();
	if (run_state.has_given_up())
		return canceled();
	return std::move(result_);
}

std::size_t Worker::serve_clients()
{
	std::size_t ended = 0;
	for (Connection &connection : connections_)
		ended += turn(connection);
	return ended;
}

/*
 * Serves a connection. A request begins when the one before it has ended, not at the client's next turn: otherwise
 * clients would rest, uncounted, while others are served. The second look sends what has just begun.
 */
std::size_t Worker::turn(Connection &connection)
{
	const std::size_t first = collect(connection);
	begin_due(connection);
	if (first == 0)
		return 0;
	const std::size_t second = collect(connection);
	if (second)
		begin_due(connection);
	return first + second;
}

void Worker::begin_due(Connection &connection)
{
	take_due(connection, options_.clock->now());
	start_pending(connection);
}

void Worker::take_due(Connection &connection, std::uint64_t now)
{
	while (!connection.idle.empty() && !connection.has_ended) {
		const std::optional<std::uint64_t> due = pace.take(now, random_);
		if (!due)
			return;
		Slot &slot = *connection.idle.back();
		connection.idle.pop_back();
		slot.begun = *due;
		slot.scheduled = pace.is_open();
		prepare(slot);
		connection.pending.push_back(&slot);
	}
}

void Worker::start_pending(Connection &connection)
{
	for (std::size_t left = connection.pending.size(); left; left--) {
		Slot &slot = *connection.pending.front();
		slot.operation.round_trips = 0;
		slot.operation.error = 0;
		if (!slot.scheduled)
			slot.begun = options_.clock->now(); /* making the request is not part of it */
		const int error = connection.client->start(slot.operation);
		if (error == EAGAIN)
			return;
		connection.pending.pop_front();
		if (error == 0) {
			connection.under_way++;
			continue;
		}
		slot.operation.outcome = Outcome::failed;
		slot.operation.error = error;
		finish(connection, slot, options_.clock->now());
	}
}

std::size_t Worker::collect(Connection &connection)
{
	const std::size_t ended = connection.client->poll(completed_);
	if (ended == 0)
		return 0;
	const std::uint64_t now = options_.clock->now();
	connection.under_way -= ended;
	for (std::size_t i = 0; i < ended; i++)
		finish(connection, *static_cast<Slot *>(completed_[i]->context), now);
	return ended;
}

void Worker::prepare(Slot &slot)
{
	if (phase == bench::Phase::load) {
		slot.request = Request::update;
		slot.record = load_next_;
		load_next_ += options_.workers();
	} else {
		slot.request = options_.mix.next(random_);
		slot.record = slot.request == Request::insert ? run_state.records.take()
							      : chooser_.next(random_, run_state.records.readable());
	}
	if (options_.numbered_keys)
		std::memcpy(slot.key.data(), &slot.record, sizeof(slot.record));
	else
		bench::fill_key(slot.record, slot.key);
	slot.operation.key = slot.key;
	if (slot.request == Request::read || slot.request == Request::read_modify_write)
		prepare_get(slot);
	else
		prepare_put(slot, phase == bench::Phase::load ? 0 : next_version());
}

void Worker::prepare_get(Slot &slot)
{
	slot.operation.kind = OperationKind::get;
	slot.operation.result = slot.result;
	slot.operation.value = {};
}

void Worker::prepare_put(Slot &slot, std::uint64_t version)
{
	bench::fill_value(slot.record, version, slot.value);
	slot.operation.kind = OperationKind::put;
	slot.operation.value = slot.value;
	slot.operation.result = {};
}

void Worker::finish(Connection &connection, Slot &slot, std::uint64_t now)
{
	note_progress(now);
	count(slot);
	if (has_failed(slot.operation.outcome))
		connection.has_ended = connection.client->has_ended();
	if (slot.operation.kind == OperationKind::get && slot.operation.outcome == Outcome::ok && options_.verify)
		verify(slot);
	const bool first_half = slot.request == Request::read_modify_write && slot.operation.kind == OperationKind::get;
	if (!first_half || has_failed(slot.operation.outcome)) {
		end_request(connection, slot, now);
		return;
	}
	prepare_put(slot, next_version());
	slot.scheduled = true;
	connection.pending.push_back(&slot);
}

void Worker::count(const Slot &slot)
{
	OperationCounts &counts = slot.operation.kind == OperationKind::get ? result_.gets : result_.puts;
	counts.add(slot.operation);
	if (has_failed(slot.operation.outcome))
		result_.errors.add(slot.operation.error);
}

void Worker::verify(const Slot &slot)
{
	result_.verified++;
	if (slot.operation.length == slot.result.size() && bench::version_of(slot.record, slot.result))
		return;
	if (result_.wrong_values++ == 0)
		result_.first_wrong = slot.record;
}

void Worker::end_request(Connection &connection, Slot &slot, std::uint64_t now)
{
	if (slot.request == Request::insert)
		run_state.records.finish(slot.record);
	result_.requests++;
	last_end_ = std::max(last_end_, now);
	if (was_done(slot.operation.outcome)) {
		result_.latency[static_cast<std::size_t>(slot.request)].add(now - slot.begun);
		if (now <= pace.deadline())
			result_.in_time++;
	}
	connection.idle.push_back(&slot);
}

std::uint64_t Worker::next_version() noexcept
{
	/* Version 0 is that of loading; no two writers write the same one. */
	return (std::uint64_t{index_} << version_bits) + ++versions_;
}

std::size_t Worker::in_flight() const noexcept
{
	std::size_t sum = 0;
	for (const Connection &connection : connections_)
		sum += connection.under_way + connection.pending.size();
	return sum;
}

bool Worker::has_no_client() const noexcept
{
	return std::all_of(
		connections_.begin(), connections_.end(), [](const Connection &each) { return each.has_ended; });
}

} // namespace prism::ycsb
