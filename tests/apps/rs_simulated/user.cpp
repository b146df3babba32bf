/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "user.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

namespace rs_sim
{

using prism::apps::OperationKind;
using prism::apps::Outcome;
using prism::test::Kind;

namespace
{
/* Longest delay of an operation's time-out: clients are busy with other things now and then */
constexpr soft::Time patience = 100'000;
} // namespace

User::User(std::uint32_t number, const UserOptions &options, prism::test::Random &random, simulation::History &history,
	std::function<void(const std::string &)> find)
	: number_(number), options_(options), random_(random), history_(history), find_(std::move(find)),
	  jobs_(options.depth)
{
	for (Job &job : jobs_)
		job.result.resize(options_.block_size / sizeof(std::uint64_t));
}

void User::leave() noexcept
{
	client_ = nullptr;
	usurped_ = false;
	for (Job &job : jobs_)
		job.under_way = false;
}

bool User::busy() const noexcept
{
	return std::any_of(jobs_.begin(), jobs_.end(), [](const Job &job) { return job.under_way; });
}

void User::go_on(soft::Time now)
{
	for (Job &job : jobs_) {
		if (client_ && !job.under_way && work_ && job.not_before <= now)
			begin(job, now);
	}
}

soft::Time User::next_begin(soft::Time now) const noexcept
{
	soft::Time next = 0;
	for (const Job &job : jobs_) {
		if (!job.under_way && work_ && job.not_before > now && (!next || job.not_before < next))
			next = job.not_before;
	}
	return next;
}

/** Chooses a block, an operation, and for PUTs a value that no other has, which fills the block. */
void User::begin(Job &job, soft::Time now)
{
	work_--;
	const std::uint64_t busy = std::min(options_.busy, options_.blocks);
	const std::uint64_t block = options_.blocks - busy + random_.below(busy);
	const bool gets = random_.chance(options_.gets);
	job.value.assign(job.result.size(), (std::uint64_t{number_} + 1) << 32 | ++values_);
	job.operation = {};
	job.operation.kind = gets ? OperationKind::get : OperationKind::put;
	job.operation.value = std::as_bytes(std::span(job.value));
	job.operation.result = std::as_writable_bytes(std::span(job.result));
	job.operation.context = &job;
	job.began = now;
	job.hopeless = hopeless_;
	job.under_way = true;
	prism::test::Operation record;
	record.key = block;
	record.client = number_;
	record.kind = gets ? Kind::get : Kind::put;
	record.value = gets ? prism::test::absent : job.value.front();
	job.record = history_.begin(record);
	if (!client_->start(job.operation, block))
		find_("a client takes fewer operations than its depth");
}

/**
 * Records the end. An operation of unknown outcome stays without an end; a failed one has changed nothing. A block that
 * was never written reads as zeros: it is absent to the checker.
 */
void User::ended(const prism::apps::Operation &operation, soft::Time now)
{
	Job &job = *static_cast<Job *>(operation.context);
	job.under_way = false;
	job.not_before = options_.pause ? now + random_.below(2 * options_.pause) : 0;
	figures_.operations++;
	figures_.direct += job.operation.round_trips == 1;
	if (has_failed(job.operation.outcome)) {
		if (job.operation.outcome == Outcome::failed)
			history_.end(job.record, prism::test::Outcome::no_effect);
		check_failure(job, now);
		return;
	}
	if (job.hopeless)
		find_("an operation has ended well, though no quorum is there");
	if (job.operation.kind == OperationKind::put) {
		history_.end(job.record, prism::test::Outcome::ok);
		return;
	}
	const std::uint64_t value = job.result.front();
	if (job.operation.length != options_.block_size)
		find_(fmt::format("a block of {} bytes", job.operation.length));
	if (std::any_of(job.result.begin(), job.result.end(), [value](std::uint64_t word) { return word != value; }))
		find_("a block that is parts of several");
	history_.end(job.record,
		value == prism::test::absent ? prism::test::Outcome::not_found : prism::test::Outcome::ok, value);
}

void User::check_failure(const Job &job, soft::Time now)
{
	figures_.failed += job.operation.error == EHOSTUNREACH;
	figures_.stale += job.operation.error == ESTALE;
	if (job.operation.error == ESTALE) {
		usurped_ = true;
		return;
	}
	const soft::Time took = now - job.began;
	if (job.operation.error != EHOSTUNREACH)
		find_(fmt::format("an operation failed with {}", std::strerror(job.operation.error)));
	else if (took < options_.timeout || took > options_.timeout + patience)
		find_(fmt::format("an operation failed after {} us", took / 1000));
}

} // namespace rs_sim
