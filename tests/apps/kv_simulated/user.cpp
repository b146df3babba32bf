/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "user.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "simulation/value.hpp"

namespace kv_sim
{

using prism::apps::OperationKind;
using prism::apps::Outcome;
using prism::kv::Lane;
using prism::test::Kind;

User::User(std::uint32_t number, const UserOptions &options, prism::test::Random &random,
	std::function<void(const std::string &)> find)
	: number_(number), options_(options), random_(random), find_(std::move(find)), jobs_(options.depth)
{
	for (Job &job : jobs_)
		job.result.resize(options_.max_words);
}

void User::connect(std::unique_ptr<Pair> pair, Admission admission, std::shared_ptr<History> history)
{
	history_ = std::move(history);
	const ClientOptions options{options_.depth, options_.report_batch, options_.hints, options_.flaw};
	client_ = std::make_unique<Client>(
		std::move(pair), std::move(admission), options, [this](Lane &lane) { ended(lane.number); });
}

void User::die()
{
	client_.reset();
	for (Job &job : jobs_)
		job.step = Step::idle;
}

bool User::busy() const noexcept
{
	return std::any_of(jobs_.begin(), jobs_.end(), [](const Job &job) { return job.step != Step::idle; });
}

void User::poll()
{
	client_->poll();
	for (std::uint32_t lane = 0; lane < jobs_.size(); lane++) {
		if (client_->broken())
			jobs_[lane].step = jobs_[lane].step == Step::has_read ? Step::idle : jobs_[lane].step;
		else if (jobs_[lane].step == Step::has_read)
			begin_change(lane);
		else if (jobs_[lane].step == Step::idle && work_)
			begin(lane);
	}
}

void User::record(Job &job, Kind kind)
{
	prism::test::Operation operation;
	operation.key = job.key;
	operation.client = number_;
	operation.kind = kind;
	if (kind == Kind::put || kind == Kind::conditional_put)
		operation.value = job.value.front();
	if (kind == Kind::conditional_put || kind == Kind::conditional_erase)
		operation.expected = job.version.number ? job.result.front() : prism::test::absent;
	job.record = history_->begin(operation);
}

/** Chooses a key, an operation, and for PUTs a value that no other has. */
void User::begin(std::uint32_t lane)
{
	Job &job = jobs_[lane];
	work_--;
	job.key = random_.below(options_.keys);
	job.value.resize(random_.between(options_.min_words, options_.max_words));
	simulation::fill_value(simulation::name_of_value(number_, ++values_, job.value.size()), job.value);
	job.operation = {};
	job.operation.key = std::as_bytes(std::span(&job.key, 1));
	job.operation.value = std::as_bytes(std::span(job.value));
	job.operation.result = std::as_writable_bytes(std::span(job.result));
	Lane &at = client_->lane(lane);
	if (random_.chance(options_.conditionals)) {
		job.step = Step::read;
		record(job, Kind::get);
		client_->start(at, job.operation,
			[&](Lane &free) { return client_->protocol().get_versioned(free, job.version); });
		return;
	}
	const bool gets = random_.chance(options_.gets), erases = random_.chance(options_.erases);
	job.step = Step::plain;
	job.operation.kind = gets ? OperationKind::get : erases ? OperationKind::erase : OperationKind::put;
	record(job, gets ? Kind::get : erases ? Kind::erase : Kind::put);
	client_->start(at, job.operation, [&](Lane &free) { return client_->protocol().run(free); });
}

void User::begin_change(std::uint32_t lane)
{
	Job &job = jobs_[lane];
	const bool erases = random_.chance(options_.erases) && job.version.number;
	job.step = Step::changes;
	job.operation.kind = erases ? OperationKind::erase : OperationKind::put;
	record(job, erases ? Kind::conditional_erase : Kind::conditional_put);
	client_->start(client_->lane(lane), job.operation, [&](Lane &free) {
		return erases ? client_->protocol().erase_if(free, job.version)
			      : client_->protocol().put_if(free, job.version);
	});
}

void User::ended(std::uint32_t lane)
{
	Job &job = jobs_[lane];
	figures_.operations++;
	figures_.direct += job.operation.round_trips == 1;
	figures_.full += job.operation.outcome == Outcome::full;
	if (job.operation.outcome == Outcome::failed) {
		figures_.failed++;
		errors_.push_back(job.operation.error);
	}
	record_end(job);
	const bool found = job.operation.outcome == Outcome::ok, absent = job.operation.outcome == Outcome::not_found;
	const bool go_on = job.step == Step::read && (found || (absent && random_.chance(options_.inserts)));
	job.step = go_on ? Step::has_read : Step::idle;
}

/** Records the end. A failed operation may have happened: it stays without an end. */
void User::record_end(const Job &job)
{
	const bool gets = job.step == Step::read || job.operation.kind == OperationKind::get;
	switch (job.operation.outcome) {
	case Outcome::ok:
		if (gets)
			check_value(job);
		history_->end(job.record, prism::test::Outcome::ok, job.result.front());
		break;
	case Outcome::not_found:
		history_->end(job.record,
			job.step == Step::changes ? prism::test::Outcome::mismatch : prism::test::Outcome::not_found);
		break;
	case Outcome::full:
		history_->end(job.record, prism::test::Outcome::no_effect);
		break;
	case Outcome::failed:
	case Outcome::unknown: /* never: the simulator's clients know no connections */
		break;
	}
}

/** Checks that the value read is whole, and one that may have been stored. */
void User::check_value(const Job &job)
{
	const std::size_t words = job.operation.length / sizeof(std::uint64_t);
	if (job.operation.length % sizeof(std::uint64_t) || !words || words > job.result.size()) {
		find_(fmt::format("a value of {} bytes, which nobody has stored", job.operation.length));
		return;
	}
	if (!simulation::is_whole(std::as_bytes(std::span(job.result).first(words))))
		find_("a value that is parts of several, or of one");
}

} // namespace kv_sim
