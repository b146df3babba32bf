/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How transactions commit: docs/prism-tx.md, "Commit". */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "prism_transaction.hpp"

namespace prism::tx
{

namespace
{

/* How often a commit takes a later timestamp when somebody later has read what it writes */
constexpr unsigned most_timestamps = 4;
/* In one chain are their entries of the log, and one of them whole */
constexpr std::size_t most_writes_together = Chain::capacity - 2;
/* For how many commits a conflict makes a lane read versions beside objects: one that was only raised looks the same */
constexpr unsigned commits_with_care = 16;

} // namespace

/* Parts of chains ------------------------------------------------------------------------------------------------ */

/**
 * One comparison says that nobody has prepared a write since this version was read, and that no later transaction has
 * read it: both words are one number, and the writer's half is never less than the version.
 */
void PrismTransaction::validate(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = carrier_.view(access.shard);
	const Prepared compare{timestamp_, is_blind(access) ? timestamp_ : access.read};
	Cas cas = Cas::bytes(CasMode::greater, compare, Prepared{timestamp_, timestamp_});
	const std::size_t changed = access.is_write() ? offsetof(Prepared, writer) : offsetof(Prepared, reader);
	cas.swap_only(changed, sizeof(Timestamp));
	if (is_blind(access))
		cas.compare_only(offsetof(Prepared, writer), sizeof(Timestamp));
	chain.cas(view ? view->prepared(access.cell) : RemoteAddress{}, cas,
		slice(access.memory.was_prepared, sizeof(Prepared)));
	/* The staged timestamp serves as well as the own, and makes this packet as long as that of the install: both
	 * leave as one train. */
	if (access.is_write() && !client_.store.as_in_paper)
		chain.data_indirect(entry_of(access) + offsetof(LogEntry, cell));
	if (conditional)
		chain.conditional();
}

/** Its address goes to the log entry. A cell without keys has none. */
void PrismTransaction::stage_object(Chain &chain, Access &access, bool conditional) noexcept
{
	*access.memory.allocated = 0;
	if (access.empties)
		return;
	chain.allocate(access.free_list, slice(access.memory.out.data(), access.size))
		.redirect_bounded(
			entry_of(access) + offsetof(LogEntry, version) + offsetof(Version, object), tag_of(timestamp_))
		.result(slice(access.memory.allocated, sizeof(*access.memory.allocated)));
	if (conditional)
		chain.conditional();
}

/** Whose the log entry is; and that there is no object, if there is none. */
void PrismTransaction::announce(Chain &chain, Access &access, bool conditional) noexcept
{
	access.announcement = {access.cell, 0, timestamp_, {}};
	const std::span<const std::byte> bytes = std::as_bytes(std::span(&access.announcement, 1));
	chain.write(entry_of(access) + offsetof(LogEntry, cell),
		access.empties ? bytes : bytes.first(offsetof(Announcement, object)));
	if (conditional)
		chain.conditional();
}

void PrismTransaction::install(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = carrier_.view(access.shard);
	access.installed = true;
	chain.cas(view ? view->version(access.cell) : RemoteAddress{}, tx::install(timestamp_),
		     slice(access.memory.was_version, sizeof(Version)))
		.data_indirect(entry_of(access) + offsetof(LogEntry, version));
	if (conditional)
		chain.conditional();
}

void PrismTransaction::decide(Chain &chain, bool conditional) noexcept
{
	const ShardView *const view = carrier_.view(decision_.shard);
	const RemoteAddress decision = view ? view->place(place_) + offsetof(LogPlace, decision) : RemoteAddress{};
	chain.cas(decision, tx::decide(timestamp_, Decision::committed), slice(was_decided_, sizeof(Decision)));
	if (conditional)
		chain.conditional();
}

void PrismTransaction::post_validation(Access &access, bool conditional) noexcept
{
	validate(access.request.begin(access.shard, conditional), access, conditional);
	post(access.request);
}

/** Validates what was only read, in one chain. False: there is nothing. */
bool PrismTransaction::post_reads() noexcept
{
	bool any = false;
	for (Access &access : accesses()) {
		if (access.is_write())
			continue;
		post_validation(access, any);
		any = true;
	}
	return any;
}

/**
 * Stages and validates at most most_writes_together cells: first all objects, then their log entries, then the
 * validations. Packets of one size one behind the other leave as one train, whose last one may be shorter. The last
 * object, the entries and its validation are one chain.
 */
void PrismTransaction::post_writes(std::span<Access *const> writes, bool conditional) noexcept
{
	const std::span<Access *const> others = writes.first(writes.size() - 1);
	Access &last = *writes.back();
	for (Access *const access : others) {
		Chain &chain = access->object_ahead.begin(access->shard, conditional);
		stage_object(chain, *access, conditional);
		if (chain.size() == 0)
			continue;
		post(access->object_ahead);
		conditional = true;
	}
	Chain &chain = last.request.begin(last.shard, conditional);
	stage_object(chain, last, conditional);
	for (Access *const access : writes)
		announce(chain, *access, conditional || chain.size() > 0);
	validate(chain, last, true);
	post(last.request);
	for (Access *const access : others)
		post_validation(*access, true);
}

/** All of @p shard. */
void PrismTransaction::post_writes(std::size_t shard, bool conditional) noexcept
{
	writes_.clear();
	for (Access &access : accesses()) {
		if (access.is_write() && access.shard == shard)
			writes_.push_back(&access);
	}
	for (std::span<Access *const> rest = writes_; !rest.empty(); conditional = true) {
		const std::span<Access *const> together = rest.first(std::min(rest.size(), most_writes_together));
		post_writes(together, conditional);
		rest = rest.subspan(together.size());
	}
}

/* Commits -------------------------------------------------------------------------------------------------------- */

Outcome PrismTransaction::failed(int error) noexcept
{
	error_ = error;
	return Outcome::failed;
}

/** The records that stay, and the new ones. */
int PrismTransaction::compose(Access &access) noexcept
{
	ObjectWriter writer(access.memory.out);
	bool fits = true;
	access.object.for_each([&](const Record &record) {
		const auto replaces = [&record](const Change &change) {
			return std::ranges::equal(change.key, record.key);
		};
		if (std::ranges::none_of(access.changes, replaces))
			fits &= writer.add(record);
	});
	for (const Change &change : access.changes) {
		if (change.value)
			fits &= writer.add({change.key, *change.value});
	}
	access.empties = writer.empty();
	access.size = writer.size();
	writer.finish(timestamp_);
	return fits ? choose_free_list(access) : ENOSPC;
}

/** Buffers of the best size may be used up, larger ones not. */
int PrismTransaction::choose_free_list(Access &access) noexcept
{
	const ShardView *const view = carrier_.view(access.shard);
	if (!view)
		return EHOSTUNREACH;
	const auto holds = [&access](const SizeClass &size_class) { return size_class.buffer_size >= access.size; };
	const auto fitting = std::ranges::find_if(view->classes, holds);
	if (fitting == view->classes.end())
		return ENOSPC;
	access.free_list = (fitting + without_buffer_ % (view->classes.end() - fitting))->free_list;
	return 0;
}

int PrismTransaction::compose_all() noexcept
{
	for (Access &access : accesses()) {
		if (const int error = access.is_write() ? compose(access) : 0)
			return error;
	}
	return 0;
}

bool PrismTransaction::take_timestamp(std::uint32_t home) noexcept
{
	const std::uint64_t clock = client_.clock.next(carrier_.clock());
	leaves_traces_ = first_write() != nullptr;
	timestamp_ = {Writer{client_.incarnation, home, place_}.packed(), clock};
	for (Access &access : accesses()) {
		access.raised = false;
		access.installed = false;
		if (access.is_write())
			std::memcpy(access.memory.out.data(), &timestamp_, sizeof(timestamp_));
	}
	return clock != 0;
}

bool PrismTransaction::on_one_shard() noexcept
{
	const auto elsewhere = [this](const Access &access) { return access.shard != accesses_[0].shard; };
	return std::ranges::none_of(accesses(), elsewhere);
}

PrismTransaction::Access *PrismTransaction::first_write() noexcept
{
	const auto found = std::ranges::find_if(accesses(), &Access::is_write);
	return found == accesses().end() ? nullptr : &*found;
}

void PrismTransaction::blocked_by(const Access &access, const Timestamp &who) noexcept
{
	if (!blocker_ || blocker_->who != who || blocker_->cell != access.cell || blocker_->shard != access.shard)
		blocker_ = {who, access.shard, access.cell, carrier_.now()};
}

PrismTransaction::Prepare PrismTransaction::judge(Access &access) noexcept
{
	const Completion &completion = access.request.completion;
	if (completion.failed()) {
		error_ = errno_of(completion);
		return Prepare::failed;
	}
	const Prepared &was = *access.memory.was_prepared;
	access.raised = access.is_write() && completion.ok();
	if (completion.status == Status::skipped)
		return Prepare::skipped;
	if (completion.ok() && !is_blind(access))
		return Prepare::done;
	client_.clock.observe(was.reader);
	client_.clock.observe(was.writer);
	if (completion.ok()) /* of a blind write the reader is judged here */
		return was.reader < timestamp_ ? Prepare::done : Prepare::too_old;
	const bool taken = is_blind(access) ? was.writer > timestamp_ : was.writer != access.read;
	if (!taken) /* a later reader is in the way of a writer alone */
		return access.is_write() ? Prepare::too_old : Prepare::done;
	blocked_by(access, was.writer);
	careful_ = commits_with_care;
	return Prepare::taken;
}

/** Outcome::committed: everything is prepared. */
Outcome PrismTransaction::judge_all(bool one_chain, bool &only_too_old) noexcept
{
	/* What has missed is in the way of all that comes after it in the chain of its shard. */
	const auto cut_short = [this, one_chain](std::size_t shard) {
		return std::ranges::any_of(accesses(), [shard, one_chain](const Access &access) {
			return access.shard == shard && (one_chain || access.is_write()) &&
			       access.request.completion.status == Status::cas_miss;
		});
	};
	bool done = true, broken = false;
	only_too_old = true;
	for (Access &access : accesses()) {
		Prepare how = judge(access);
		if (how == Prepare::skipped && access.is_write() && !access.empties && !*access.memory.allocated &&
			!cut_short(access.shard))
			how = Prepare::no_buffer;
		done &= how == Prepare::done;
		broken |= how == Prepare::failed;
		only_too_old &= how != Prepare::taken && how != Prepare::no_buffer && !access.raised;
		if (how == Prepare::no_buffer) {
			no_buffer_ = true;
			carrier_.report_now(access.shard);
		}
	}
	if (broken)
		return Outcome::failed;
	return done ? Outcome::committed : Outcome::conflict;
}

void PrismTransaction::release_staged(Access &access) noexcept
{
	if (const std::uint64_t address = std::exchange(*access.memory.allocated, 0))
		carrier_.release(access.shard, address);
}

/** Cells that this transaction has prepared are others' again; then nobody can find what was staged. */
apps::Task<int> PrismTransaction::give_up()
{
	for (Access &access : accesses()) {
		const ShardView *const view = carrier_.view(access.shard);
		if (!std::exchange(access.raised, false))
			continue;
		retired_ |= !view;
		if (!view)
			continue;
		access.installed = false;
		access.end.begin(access.shard)
			.cas(view->version(access.cell), bump(timestamp_),
				slice(access.memory.was_version, sizeof(Version)));
		post(access.end);
	}
	co_await requests_.all_ended();
	for (Access &access : accesses())
		release_staged(access);
	co_return 0;
}

/** The decision, if there is one to make, and what can be installed with it in the same chain: on its shard. */
apps::Task<Outcome> PrismTransaction::decide_and_install()
{
	co_await requests_.all_ended();
	round_trips_++;
	Access &first = *first_write();
	const bool alone = Writer::of(timestamp_.writer).home == Writer::no_home;
	const Completion &decisive = alone ? first.end.completion : decision_.completion;
	if (decisive.failed()) {
		error_ = errno_of(decisive);
		co_return Outcome::unknown;
	}
	if (!decisive.ok()) { /* somebody took this client for dead */
		(void)co_await give_up();
		co_return Outcome::conflict;
	}
	for (Access &access : accesses()) {
		if (!access.is_write())
			continue;
		const bool tried = access.installed && !access.end.completion.failed() &&
				   access.end.completion.status != Status::skipped;
		retired_ |= !carrier_.view(access.shard);
		if (tried || !carrier_.view(access.shard))
			continue;
		install(access.end.begin(access.shard), access, false);
		post(access.end);
	}
	co_return Outcome::committed;
}

apps::Task<Outcome> PrismTransaction::commit_in_one_chain(bool &only_too_old)
{
	const auto writes = std::ranges::count_if(accesses(), &Access::is_write);
	const std::size_t shard = accesses_[0].shard;
	if (!take_timestamp(writes > 1 ? static_cast<std::uint32_t>(shard) : Writer::no_home))
		co_return failed(EOVERFLOW);
	if (!carrier_.view(shard))
		co_return failed(EHOSTUNREACH);
	post_writes(shard, post_reads());
	if (writes > 1) {
		decide(decision_.begin(shard, true), true);
		post(decision_);
	}
	for (Access &access : accesses()) {
		if (!access.is_write())
			continue;
		install(access.end.begin(shard, true), access, true);
		post(access.end);
	}
	co_await requests_.all_ended();
	const Outcome prepared = judge_all(true, only_too_old);
	if (prepared == Outcome::failed)
		co_return Outcome::unknown;
	const bool chained =
		std::ranges::all_of(accesses(), [](const Access &access) { return access.request.completion.ok(); });
	if (prepared == Outcome::committed && chained) {
		const Outcome outcome = co_await decide_and_install();
		figures_.one_chain += outcome == Outcome::committed;
		only_too_old = false;
		co_return outcome;
	}
	round_trips_++;
	(void)co_await give_up();
	co_return Outcome::conflict;
}

apps::Task<Outcome> PrismTransaction::commit_prepared(bool &only_too_old)
{
	const auto writes = std::ranges::count_if(accesses(), &Access::is_write);
	const std::size_t home = first_write()->shard;
	if (!take_timestamp(writes > 1 ? static_cast<std::uint32_t>(home) : Writer::no_home))
		co_return failed(EOVERFLOW);
	const auto first_there = [this](const Access &access) {
		return std::ranges::none_of(accesses().first(access.number),
			[&access](const Access &other) { return other.is_write() && other.shard == access.shard; });
	};
	for (Access &access : accesses()) {
		if (access.is_write()) {
			if (first_there(access))
				post_writes(access.shard, false);
			continue;
		}
		post_validation(access, false);
	}
	co_await requests_.all_ended();
	round_trips_++;
	if (const Outcome prepared = judge_all(false, only_too_old); prepared != Outcome::committed) {
		(void)co_await give_up();
		co_return prepared;
	}
	only_too_old = false;
	if (writes > 1) {
		decide(decision_.begin(home), false);
		post(decision_);
	}
	for (Access &access : accesses()) {
		if (!access.is_write() || access.shard != home)
			continue;
		install(access.end.begin(home, writes > 1), access, writes > 1);
		post(access.end);
	}
	const Outcome outcome = co_await decide_and_install();
	figures_.prepared += outcome == Outcome::committed;
	co_return outcome;
}

apps::Task<Outcome> PrismTransaction::commit_reads()
{
	figures_.read_only++;
	if (count_ == 0 || (count_ == 1 && !client_.reads_in_session))
		co_return Outcome::committed;
	if (!take_timestamp(Writer::no_home))
		co_return failed(EOVERFLOW);
	for (Access &access : accesses())
		post_validation(access, false);
	co_await requests_.all_ended();
	round_trips_++;
	bool only_too_old = false;
	const Outcome outcome = judge_all(false, only_too_old);
	figures_.read_only -= outcome != Outcome::committed;
	co_return outcome;
}

apps::Task<int> PrismTransaction::look_after_blocker()
{
	if (!blocker_ || client_.store.as_in_paper || carrier_.now() - blocker_->since < client_.patience)
		co_return 0;
	const Blocker blocker = *blocker_;
	blocker_.reset();
	figures_.resolved++;
	co_return co_await resolver_.resolve(blocker.who, blocker.shard, blocker.cell);
}

apps::Task<Outcome> PrismTransaction::attempt()
{
	const auto unknown = [this](const Access &access) {
		return access.is_write() && !access.fetched && !is_blind(access);
	};
	if (std::ranges::any_of(accesses(), unknown)) {
		if (const int error = co_await fetch_all(true))
			co_return failed(error);
	}
	if (!first_write())
		co_return co_await commit_reads();
	if (const int error = compose_all())
		co_return failed(error);
	if (client_.store.as_in_paper)
		co_return co_await commit_as_in_paper();
	for (unsigned times = 1;; times++) {
		bool only_too_old = false;
		const Outcome outcome = on_one_shard() ? co_await commit_in_one_chain(only_too_old)
						       : co_await commit_prepared(only_too_old);
		/* What was read is still true: a later timestamp may do. */
		if (outcome != Outcome::conflict || !only_too_old || times == most_timestamps)
			co_return outcome;
	}
}

/**
 * When a shard was lost in mid-commit, the lane's log and its last decision are all that others have to end the
 * transaction with: the lane goes on in another place, if there is one left.
 */
apps::Task<Outcome> PrismTransaction::commit()
{
	error_ = 0;
	if (retired_) {
		if (client_.spare_places.empty())
			co_return failed(ENOTCONN);
		place_ = client_.spare_places.back();
		client_.spare_places.pop_back();
		retired_ = false;
	}
	no_buffer_ = false;
	committing_ = true;
	serial_ = ++client_.serial;
	Outcome outcome = co_await attempt();
	committing_ = false;
	without_buffer_ = no_buffer_ ? without_buffer_ + 1 : 0;
	if (outcome != Outcome::conflict) {
		careful_ -= careful_ != 0;
		co_return outcome;
	}
	figures_.no_buffer += no_buffer_;
	if (const int error = co_await look_after_blocker())
		co_return failed(error);
	error_ = no_buffer_ ? ENOBUFS : 0;
	co_return outcome;
}

} // namespace prism::tx
