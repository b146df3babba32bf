/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "user.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include <fmt/core.h>

namespace tx_sim
{

using prism::tx::Bytes;
using prism::tx::Outcome;
using prism::tx::Transaction;
using serializability::absent;
using serializability::Value;

namespace
{

constexpr std::uint64_t most_keys = 4; /* of a transaction that is no audit */
constexpr std::uint64_t longest_copies = 5;
constexpr double rollbacks = 2; /* percent */
constexpr double audits = 25;
constexpr double erasures = 10;
constexpr double appends = 60;
constexpr double pairs = 40;
constexpr double single_changes = 30;

Bytes bytes_of(const std::uint64_t &key)
{
	return std::as_bytes(std::span(&key, 1));
}

} // namespace

std::uint32_t longest_value(Workload workload)
{
	const std::size_t words = workload == Workload::lists ? longest_list : longest_copies;
	return static_cast<std::uint32_t>(words * sizeof(Value));
}

std::vector<Value> stored(Value value)
{
	return std::vector<Value>(1 + value % longest_copies, value);
}

bool parse_stored(Bytes bytes, Value &value)
{
	const std::vector<Value> words = parse_list(bytes);
	value = words.empty() ? absent : words.front();
	return value != absent && bytes.size() % sizeof(Value) == 0 && words == stored(value);
}

std::vector<Value> parse_list(Bytes bytes)
{
	std::vector<Value> words(bytes.size() / sizeof(Value));
	if (!words.empty())
		std::memcpy(words.data(), bytes.data(), words.size() * sizeof(Value));
	return words;
}

User::User(const UserOptions &options, prism::test::Random &random, Recorder &recorder, std::function<soft::Time()> now,
	std::function<void(const std::string &)> find)
	: options_(options), random_(random), recorder_(recorder), now_(std::move(now)), find_(std::move(find))
{
	for (std::uint32_t lane = 0; lane < options_.depth; lane++)
		jobs_.push_back(std::make_unique<Job>());
}

void User::use(Client &client)
{
	client_ = &client;
	for (const auto &job : jobs_) {
		job->session = recorder_.begin_session();
		job->sequence = 0;
	}
}

/** Leaves the client. Transactions under way may be committed, or will be by others. */
void User::leave()
{
	for (const auto &job : jobs_) {
		if (!std::exchange(job->under_way, false) || !job->transaction)
			continue;
		const prism::tx::Stamp stamp = job->transaction->stamp();
		job->draft.stamp = {stamp.clock, stamp.writer};
		job->draft.outcome = serializability::Outcome::unknown;
		recorder_.record(job->draft);
		figures_.unknown++;
	}
	client_ = nullptr;
}

bool User::busy() const noexcept
{
	return std::ranges::any_of(jobs_, [](const auto &job) { return job->under_way; });
}

void User::go_on()
{
	for (bool again = true; again;) {
		again = false;
		prism::tx::Job *completed[16];
		for (std::size_t count = client_->poll(completed); count--;)
			ended(*static_cast<Job *>(completed[count]->context));
		for (const auto &job : jobs_) {
			if (job->under_way || !work_ || job->not_before > now_())
				continue;
			begin(*job);
			again = true; /* it may have ended at once */
		}
	}
}

soft::Time User::next_begin() const
{
	soft::Time next = 0;
	for (const auto &job : jobs_) {
		if (!job->under_way && work_ && (!next || job->not_before < next))
			next = job->not_before;
	}
	return next;
}

/* Transactions --------------------------------------------------------------------------------------------------- */

void User::plan(Job &job)
{
	job.plan.clear();
	job.rolls_back = random_.chance(rollbacks);
	if (options_.workload == Workload::pairs) {
		plan_pair(job);
		return;
	}
	const bool all = options_.workload == Workload::bank && random_.chance(audits);
	const std::uint64_t count = all ? options_.keys : std::min(options_.keys, random_.between(1, most_keys));
	std::vector<std::uint64_t> keys(options_.keys);
	for (std::uint64_t key = 0; key < keys.size(); key++)
		keys[key] = key;
	for (std::uint64_t i = 0; i < count; i++) {
		if (!all)
			std::swap(keys[i], keys[random_.between(i, keys.size() - 1)]);
		Deed deed = random_.pick({Deed::read, Deed::read, Deed::change, Deed::replace});
		if (random_.chance(erasures))
			deed = Deed::erase;
		if (options_.workload == Workload::lists)
			deed = random_.chance(appends) ? Deed::change : Deed::read;
		job.plan.push_back({keys[i], options_.workload == Workload::bank ? Deed::change : deed});
	}
	job.fetched_first = random_.chance(30) ? random_.below(count + 1) : count;
}

void User::plan_pair(Job &job)
{
	const std::uint64_t one = random_.below(options_.keys);
	if (!random_.chance(pairs)) {
		job.plan.push_back({one, random_.chance(single_changes) ? Deed::change : Deed::read});
	} else {
		const bool crosses = random_.chance(50); /* reads one, changes the others */
		for (std::uint64_t key = 0; key < options_.keys; key++)
			job.plan.push_back({key, crosses && key == one ? Deed::read : Deed::change});
	}
	job.fetched_first = job.plan.size();
}

void User::begin(Job &job)
{
	work_--;
	plan(job);
	job.began = now_();
	job.transaction = nullptr;
	job.sequence++;
	job.under_way = true;
	job.job = {};
	job.job.context = &job;
	job.job.body = [this, &job](Transaction &transaction) { return body(job, transaction); };
	(void)client_->start(job.job);
}

void User::ended(Job &job)
{
	job.under_way = false;
	job.not_before = now_() + (options_.pause ? random_.below(2 * options_.pause) : 0);
	job.draft.stamp = {job.job.stamp.clock, job.job.stamp.writer};
	job.draft.responded = now_();
	job.draft.outcome = serializability::Outcome::aborted;
	figures_.attempts += job.job.attempts;
	switch (job.job.outcome) {
	case Outcome::committed:
		figures_.committed++;
		job.draft.outcome = serializability::Outcome::committed;
		break;
	case Outcome::rolled_back:
		/* An error of a fetch ends the body, too. */
		(job.job.error == ECANCELED ? figures_.rolled_back : figures_.failed)++;
		if (job.job.error != ECANCELED && !may_fail_)
			find_(fmt::format("a transaction could not read: {}", std::strerror(job.job.error)));
		break;
	case Outcome::conflict:
		figures_.conflicts++;
		figures_.no_buffer += job.job.error == ENOBUFS;
		break;
	case Outcome::unknown:
		figures_.unknown++;
		job.draft.outcome = serializability::Outcome::unknown;
		job.draft.responded = 0;
		if (!may_fail_)
			find_(fmt::format("a transaction's outcome is not known: {}", std::strerror(job.job.error)));
		break;
	case Outcome::failed:
		figures_.failed++;
		if (!may_fail_)
			find_(fmt::format("a transaction failed: {}", std::strerror(job.job.error)));
		break;
	}
	if (options_.as_in_paper && job.job.outcome == Outcome::committed && !job.draft.stamp.known())
		job.draft.client = recorder_.begin_session();
	if (job.transaction)
		recorder_.record(job.draft);
}

prism::apps::Task<int> User::body(Job &job, Transaction &transaction)
{
	job.transaction = &transaction;
	job.draft.clear();
	job.draft.client = job.session;
	job.draft.sequence = job.sequence;
	job.draft.invoked = job.began;
	if (const int error = co_await fetch(job, transaction))
		co_return error;
	int error = 0;
	if (options_.workload == Workload::registers || options_.workload == Workload::pairs)
		error = work_on_registers(job, transaction);
	else if (options_.workload == Workload::lists)
		error = work_on_lists(job, transaction);
	else
		error = work_on_bank(job, transaction);
	co_return error ? error : job.rolls_back ? ECANCELED : 0;
}

/** Fetches all keys except those that are written blindly. */
prism::apps::Task<int> User::fetch(Job &job, Transaction &transaction)
{
	for (const bool first : {true, false}) {
		std::vector<Bytes> keys;
		for (std::size_t i = 0; i < job.plan.size(); i++) {
			const Deed deed = job.plan[i].deed;
			if ((i < job.fetched_first) == first && deed != Deed::replace && deed != Deed::erase)
				keys.push_back(bytes_of(job.plan[i].key));
		}
		const int error = keys.empty() ? 0 : co_await transaction.fetch(keys);
		if (error)
			co_return error;
	}
	co_return 0;
}

Value User::read(Transaction &transaction, std::uint64_t key)
{
	const std::optional<Bytes> found = transaction.value(bytes_of(key));
	Value value = absent;
	if (found && !parse_stored(*found, value))
		find_(fmt::format("key {} has a value that nobody has written", key));
	return value;
}

std::vector<Value> User::read_list(Transaction &transaction, std::uint64_t key)
{
	const std::optional<Bytes> found = transaction.value(bytes_of(key));
	return found ? parse_list(*found) : std::vector<Value>{};
}

int User::write(Transaction &transaction, std::uint64_t key, Value value)
{
	const std::vector<Value> words = stored(value);
	return transaction.write(bytes_of(key), std::as_bytes(std::span(words)));
}

int User::work_on_registers(Job &job, Transaction &transaction)
{
	std::uint32_t place = 0;
	for (const Operation &operation : job.plan) {
		int error = 0;
		if (operation.deed == Deed::read || operation.deed == Deed::change)
			job.draft.read(operation.key, read(transaction, operation.key));
		if (operation.deed == Deed::change || operation.deed == Deed::replace) {
			const Value value = serializability::unique_value(job.session, job.sequence, place++);
			error = write(transaction, operation.key, value);
			job.draft.write(operation.key, value);
		} else if (operation.deed == Deed::erase) {
			error = transaction.erase(bytes_of(operation.key));
			job.draft.erase(operation.key);
		}
		if (error)
			return error;
	}
	return 0;
}

int User::work_on_lists(Job &job, Transaction &transaction)
{
	std::uint32_t place = 0;
	for (const Operation &operation : job.plan) {
		std::vector<Value> list = read_list(transaction, operation.key);
		const bool appends_one = operation.deed == Deed::change && list.size() < longest_list;
		if (!appends_one || job.sequence % 2)
			job.draft.read_list(operation.key, list);
		if (!appends_one)
			continue;
		list.push_back(serializability::unique_value(job.session, job.sequence, place++));
		job.draft.append(operation.key, list.back());
		if (const int error = transaction.write(bytes_of(operation.key), std::as_bytes(std::span(list))))
			return error;
	}
	return 0;
}

int User::work_on_bank(Job &job, Transaction &transaction)
{
	if (job.plan.size() != options_.keys)
		return transfer(job, transaction);
	bool open = false;
	for (const Operation &operation : job.plan) {
		const Value value = read(transaction, operation.key);
		job.draft.read(operation.key, value);
		open |= value != absent;
	}
	for (const Operation &operation : job.plan) {
		if (open)
			break;
		const Value value = serializability::account_value(job.session, job.sequence, first_balance);
		if (const int error = write(transaction, operation.key, value))
			return error;
		job.draft.write(operation.key, value);
	}
	return 0;
}

/** Transfers one unit more from the first account to each of the others. */
int User::transfer(Job &job, Transaction &transaction)
{
	std::vector<std::uint32_t> balances;
	for (const Operation &operation : job.plan) {
		const Value value = read(transaction, operation.key);
		job.draft.read(operation.key, value);
		if (value != absent)
			balances.push_back(serializability::balance_of(value));
	}
	std::uint32_t sum = 0;
	for (std::uint32_t amount = 1; amount < balances.size(); amount++) {
		balances[amount] += amount;
		sum += amount;
	}
	if (balances.size() != job.plan.size() || balances[0] < sum)
		return 0;
	balances[0] -= sum;
	for (std::size_t i = 0; i < balances.size() && sum; i++) {
		const Value value = serializability::account_value(job.session, job.sequence, balances[i]);
		if (const int error = write(transaction, job.plan[i].key, value))
			return error;
		job.draft.write(job.plan[i].key, value);
	}
	return 0;
}

} // namespace tx_sim
