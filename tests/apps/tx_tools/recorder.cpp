/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "../support/connections.hpp"
#include "base/clock.hpp"
#include "base/descriptor.hpp"

namespace tx_test
{

using namespace prism;
using namespace prism::tx;
using namespace std::chrono_literals;

namespace
{

constexpr std::uint64_t cut_after = 20'000'000;  /* least ns between two cuts of a client */
constexpr std::uint64_t jump_after = 20'000'000; /* ns */

/* Percent of the transactions */
constexpr unsigned audits = 15;
constexpr unsigned roll_backs = 3;
constexpr unsigned second_looks = 10;
/* Percent of the accesses */
constexpr unsigned writing = 55;
constexpr unsigned blind = 25; /* of those that write */
constexpr unsigned erasing = 15;

/* Number of keys that the last client reads at once */
constexpr std::size_t together = 16;

Bytes bytes_of(const std::uint64_t &key)
{
	return std::as_bytes(std::span(&key, 1));
}

/** Returns the value of a register. */
record::Value value_of(std::optional<Bytes> bytes)
{
	record::Value value = record::absent;
	if (bytes && bytes->size() == sizeof(value))
		std::memcpy(&value, bytes->data(), sizeof(value));
	else if (bytes)
		value = ~record::absent; /* never written */
	return value;
}

void take_list(std::optional<Bytes> bytes, std::vector<record::Value> &list)
{
	list.resize(bytes ? bytes->size() / sizeof(record::Value) : 0);
	if (!list.empty())
		std::memcpy(list.data(), bytes->data(), list.size() * sizeof(record::Value));
}

} // namespace

Result<SharedState> SharedState::open(const std::filesystem::path &path, bool create)
{
	const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600));
	if (file.get() < 0)
		return make_error(errno, "cannot open " + path.string());
	if (create && ::ftruncate(file.get(), sizeof(RunState)))
		return make_error(errno, "cannot make room for " + path.string());
	void *const memory = ::mmap(nullptr, sizeof(RunState), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
	if (memory == MAP_FAILED)
		return make_error(errno, "cannot map " + path.string());
	SharedState state;
	state.memory_.reset(static_cast<RunState *>(memory)); /* its initial state is all zeros */
	return state;
}

Result<std::unique_ptr<Recorder>> Recorder::create(
	const LoadOptions &options, std::uint32_t number, const Shards &shards, const std::filesystem::path &file)
{
	/* The fields of an account's value are the tightest limit. */
	if ((number + 1) * options.depth >= (1U << 14) - 1)
		return make_error(
			EINVAL, fmt::format("{} lanes are too many for the record", (number + 1) * options.depth));
	auto writer = record::HistoryWriter::create(file, options.kind());
	if (!writer)
		return writer.error();
	std::unique_ptr<Recorder> made(
		new Recorder(options, number, shards, std::move(*writer))); /* private constructor */
	PrismClientOptions client;
	client.depth = options.depth;
	client.setup_timeout = 10s;
	client.retry.timeout = 20s;
	client.retry.seed = number + 1;
	client.reconnect_timeout = 10s;
	client.patience = std::chrono::nanoseconds(static_cast<std::int64_t>(options.patience * 1e9));
	if (options.skew > 0)
		client.clock = [recorder = made.get()] { return recorder->clock(); };
	auto connected = PrismClient::connect(made->context_, shards, client);
	if (!connected)
		return connected.error();
	made->client_ = *std::move(connected);
	return made;
}

Recorder::Recorder(const LoadOptions &options, std::uint32_t number, const Shards &shards, record::HistoryWriter writer)
	: options_(options), shards_(shards), number_(number), writer_(std::move(writer)), random_(number),
	  generations_(options.keys), lanes_(options.depth)
{
	for (std::size_t place = 0; place < lanes_.size(); place++) {
		Lane &lane = lanes_[place];
		lane.draft.client = number * options.depth + static_cast<std::uint32_t>(place);
		lane.job.context = &lane;
		lane.job.body = [this, &lane](Transaction &transaction) { return attempt(lane, transaction); };
	}
}

/** Returns a clock that is wrong by up to the skew, which changes now and then. */
std::uint64_t Recorder::clock()
{
	if (monotonic_ns() >= next_jump_) {
		next_jump_ = monotonic_ns() + jump_after;
		const double seconds = std::uniform_real_distribution<double>(-options_.skew, options_.skew)(random_);
		skew_ = static_cast<std::int64_t>(seconds * 1e9);
	}
	const auto now = std::chrono::system_clock::now().time_since_epoch();
	return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count() + skew_);
}

/* Transactions ----------------------------------------------------------------------------------------------------- */

/** Chooses some keys, each once. */
void Recorder::plan(Lane &lane)
{
	if (options_.load == Load::bank) {
		plan_bank(lane);
		return;
	}
	const std::size_t count = 1 + random_() % options_.accesses;
	lane.steps.clear();
	lane.looks_again = random_() % 100 < second_looks;
	lane.rolls_back = random_() % 100 < roll_backs;
	for (std::size_t i = 0; i < count; i++) {
		const auto slot = static_cast<std::uint32_t>(random_() % options_.keys);
		Step step;
		step.key = slot + Key{options_.keys} * generations_[slot];
		step.writes = random_() % 100 < writing;
		step.reads = !step.writes || random_() % 100 >= blind;
		step.erases = step.writes && options_.load == Load::registers && random_() % 100 < erasing;
		if (std::ranges::none_of(lane.steps, [&step](const Step &other) { return other.key == step.key; }))
			lane.steps.push_back(step);
	}
}

void Recorder::plan_bank(Lane &lane)
{
	lane.steps.clear();
	lane.transfers = random_() % 100 >= audits;
	lane.rolls_back = random_() % 100 < roll_backs;
	if (!lane.transfers) {
		for (Key account = 0; account < options_.keys; account++)
			lane.steps.push_back({account});
		return;
	}
	const std::size_t count = 2 + random_() % (std::max(options_.accesses, 2U) - 1);
	const Key first = random_() % options_.keys;
	for (std::size_t i = 0; i < count && i < options_.keys; i++)
		lane.steps.push_back({(first + i * 7) % options_.keys, true, true, false});
	const auto same = [](const Step &a, const Step &b) { return a.key == b.key; };
	std::ranges::sort(lane.steps, {}, &Step::key);
	lane.steps.erase(std::unique(lane.steps.begin(), lane.steps.end(), same), lane.steps.end());
	std::ranges::shuffle(lane.steps, random_);
}

/** Runs one attempt. A new attempt means that the previous one has changed nothing. */
apps::Task<int> Recorder::attempt(Lane &lane, Transaction &transaction)
{
	if (!lane.recorded)
		record(lane, record::Outcome::aborted);
	lane.draft.sequence = ++lane.sequence;
	lane.draft.stamp = {};
	lane.draft.operations.clear();
	lane.draft.elements.clear();
	lane.draft.invoked = monotonic_ns();
	std::vector<Bytes> keys;
	for (const Step &step : lane.steps) {
		if (step.reads || options_.load == Load::lists)
			keys.push_back(bytes_of(step.key));
	}
	if (const int error = co_await transaction.fetch(keys))
		co_return error;
	if (const int error = look(lane, transaction))
		co_return error;
	if (const int error = change(lane, transaction))
		co_return error;
	lane.recorded = false;
	if (lane.rolls_back)
		co_return ECANCELED;
	if (options_.may_die)
		error_ = error_ ? error_ : writer_.intend(lane.draft);
	co_return 0;
}

int Recorder::look(Lane &lane, const Transaction &transaction)
{
	for (const Step &step : lane.steps) {
		const std::optional<Bytes> found = transaction.value(bytes_of(step.key));
		if (options_.load != Load::lists) {
			if (step.reads)
				lane.draft.read(step.key, value_of(found));
			continue;
		}
		take_list(found, lane.list);
		if (lane.list.size() >= options_.list_length) {
			std::uint32_t &generation = generations_[step.key % options_.keys];
			generation = std::max(generation, static_cast<std::uint32_t>(step.key / options_.keys) + 1);
		}
		if (step.reads)
			lane.draft.read_list(step.key, lane.list);
	}
	return 0;
}

int Recorder::change_list(Lane &lane, Transaction &transaction, const Step &step, record::Value value)
{
	take_list(transaction.value(bytes_of(step.key)), lane.list);
	if (lane.list.size() >= options_.list_length)
		return 0;
	lane.list.push_back(value);
	lane.draft.append(step.key, value);
	return transaction.write(bytes_of(step.key), std::as_bytes(std::span(lane.list)));
}

int Recorder::change(Lane &lane, Transaction &transaction)
{
	if (options_.load == Load::bank)
		return lane.transfers ? transfer(lane, transaction) : 0;
	std::uint32_t place = 0;
	for (const Step &step : lane.steps) {
		const record::Value value = record::unique_value(lane.draft.client, lane.sequence, place++);
		if (!step.writes)
			continue;
		int error = 0;
		if (options_.load == Load::lists) {
			error = change_list(lane, transaction, step, value);
		} else if (step.erases) {
			lane.draft.erase(step.key);
			error = transaction.erase(bytes_of(step.key));
		} else {
			lane.draft.write(step.key, value);
			error = transaction.write(bytes_of(step.key), bytes_of(value));
		}
		if (error)
			return error;
	}
	return lane.looks_again ? look(lane, transaction) : 0;
}

/** Transfers from the first account to the others; nothing if it is too poor. */
int Recorder::transfer(Lane &lane, Transaction &transaction)
{
	const auto others = static_cast<std::uint32_t>(lane.steps.size() - 1);
	const record::Value first = value_of(transaction.value(bytes_of(lane.steps.front().key)));
	const std::uint32_t amount =
		std::min(record::balance_of(first) / std::max(others, 1U), static_cast<std::uint32_t>(random_() % 10));
	for (const Step &step : lane.steps) {
		std::uint32_t balance = record::balance_of(value_of(transaction.value(bytes_of(step.key))));
		balance = &step == &lane.steps.front() ? balance - amount * others : balance + amount;
		const record::Value value = record::account_value(lane.draft.client, lane.sequence, balance);
		lane.draft.write(step.key, value);
		if (const int error = transaction.write(bytes_of(step.key), bytes_of(value)))
			return error;
	}
	return 0;
}

/* Its end ---------------------------------------------------------------------------------------------------------- */

void Recorder::record(Lane &lane, record::Outcome outcome)
{
	lane.recorded = true;
	lane.draft.outcome = outcome;
	lane.draft.responded = outcome == record::Outcome::unknown ? 0 : monotonic_ns();
	error_ = error_ ? error_ : writer_.record(lane.draft);
}

/**
 * Returns true if the lane's transaction came too late for a shard that stops, or has stopped. The record says that
 * nothing was done.
 */
bool Recorder::lost_shard(const Lane &lane) const
{
	const bool done_nothing = lane.job.outcome == Outcome::failed || lane.job.outcome == Outcome::rolled_back;
	return options_.may_lose_shard && done_nothing && lane.job.error == EHOSTUNREACH;
}

Result<void> Recorder::end(Lane &lane)
{
	const Job &job = lane.job;
	lane.draft.stamp = {};
	if (job.outcome == Outcome::committed) {
		lane.draft.stamp = {job.stamp.clock, job.stamp.writer};
		record(lane, record::Outcome::committed);
	} else if (!lane.recorded) {
		record(lane, job.outcome == Outcome::unknown ? record::Outcome::unknown : record::Outcome::aborted);
	}
	if (error_)
		return make_error(error_, "cannot record a transaction");
	const bool own = job.outcome == Outcome::rolled_back && job.error == ECANCELED && lane.rolls_back;
	const bool in_doubt = job.outcome == Outcome::unknown && options_.cuts;
	if (job.outcome == Outcome::committed || own || in_doubt || lost_shard(lane))
		return {};
	static constexpr const char *names[] = {"committed", "rolled back", "in conflict", "failed", "unknown"};
	return make_error(job.error, fmt::format("a transaction is {} after {} attempts",
					     names[static_cast<std::size_t>(job.outcome)], job.attempts));
}

/** Cuts one of the connections now and then, as if the network had reset it. */
void Recorder::cut_now_and_then()
{
	if (cuts_ == options_.cuts || monotonic_ns() < next_cut_)
		return;
	next_cut_ = monotonic_ns() + cut_after + random_() % cut_after;
	if (!cuts_++)
		return; /* not at the very beginning */
	const std::uint16_t port = shards_[random_() % shards_.size()].port;
	for (const int fd : test::connections_to(port))
		(void)test::cut(fd);
}

Result<void> Recorder::go_on(const SharedState &state)
{
	std::vector<Job *> ended(lanes_.size());
	std::size_t under_way = 0;
	RunState::Client &mine = state->clients[number_];
	mine.began = true;
	const auto begin = [&](Lane &lane) -> Result<void> {
		plan(lane);
		if (const int error = client_->start(lane.job))
			return make_error(error, "a transaction cannot begin");
		under_way++;
		return {};
	};
	for (Lane &lane : lanes_) {
		if (Result<void> begun = begin(lane); !begun)
			return begun;
	}
	while (under_way) {
		cut_now_and_then();
		const std::size_t count = client_->poll(ended);
		for (std::size_t i = 0; i < count; i++) {
			Lane &lane = *static_cast<Lane *>(ended[i]->context);
			under_way--;
			if (Result<void> good = end(lane); !good)
				return good;
			mine.committed += lane.job.outcome == Outcome::committed;
			if (state->stop || lost_shard(lane))
				continue;
			if (Result<void> begun = begin(lane); !begun)
				return begun;
		}
		mine.conflicts = client_->conflicts();
		const TransactionFigures figures = client_->figures();
		mine.resolved = figures.resolved;
		mine.no_buffer = figures.no_buffer;
		mine.cuts = cuts_;
		mine.found_out = figures.found_out;
	}
	if (const int error = writer_.close())
		return make_error(error, "cannot end the record");
	return {};
}

/* One after another ------------------------------------------------------------------------------------------------ */

Result<void> Recorder::run(std::vector<Step> steps)
{
	Lane &lane = lanes_.front();
	lane.steps = std::move(steps);
	lane.rolls_back = false;
	lane.looks_again = false;
	(void)client_->run(lane.job);
	return end(lane);
}

Result<void> Recorder::open_bank()
{
	Lane &lane = lanes_.front();
	lane.transfers = false;
	lane.job.body = [this, &lane](Transaction &transaction) -> apps::Task<int> {
		lane.draft.clear();
		lane.draft.client = number_ * options_.depth;
		lane.draft.sequence = ++lane.sequence;
		lane.draft.invoked = monotonic_ns();
		for (Key account = 0; account < options_.keys; account++) {
			const record::Value value =
				record::account_value(lane.draft.client, lane.sequence, options_.balance);
			lane.draft.write(account, value);
			if (const int error = transaction.write(bytes_of(account), bytes_of(value)))
				co_return error;
		}
		lane.recorded = false;
		co_return 0;
	};
	(void)client_->run(lane.job);
	lane.job.body = [this, &lane](Transaction &transaction) { return attempt(lane, transaction); };
	return end(lane);
}

Result<void> Recorder::touch_all()
{
	lanes_.front().transfers = true;
	for (std::uint32_t slot = 0; slot < options_.keys; slot++) {
		const Key next = (Key{slot} + 1) % options_.keys;
		std::uint32_t generation = 0;
		do { /* until there is one that is not full */
			generation = generations_[slot];
			std::vector<Step> steps{{slot + Key{options_.keys} * generation, true, true, false}};
			if (options_.load == Load::bank && next != slot)
				steps.push_back({next, true, true, false});
			if (Result<void> good = run(std::move(steps)); !good)
				return good;
		} while (generation != generations_[slot]);
	}
	return {};
}

/** Reads all keys. Of lists also those replaced by others: touch_all() has found their number. */
Result<void> Recorder::read_all(std::optional<std::size_t> lost_shard)
{
	lanes_.front().transfers = false;
	const std::size_t at_once = options_.load == Load::bank ? options_.keys : together;
	std::vector<Step> steps;
	for (std::uint32_t slot = 0; slot < options_.keys; slot++) {
		for (std::uint32_t generation = 0; generation <= generations_[slot]; generation++) {
			const Key key = slot + Key{options_.keys} * generation;
			KeyPlace place;
			if (lost_shard && (client_->place_of(bytes_of(key), place) || place.shard == *lost_shard))
				continue;
			steps.push_back({key});
			if (steps.size() < at_once)
				continue;
			if (Result<void> good = run(std::exchange(steps, {})); !good)
				return good;
		}
	}
	if (!steps.empty()) {
		if (Result<void> good = run(std::move(steps)); !good)
			return good;
	}
	if (const int error = writer_.close())
		return make_error(error, "cannot end the record");
	return {};
}

} // namespace tx_test
