/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "protected_commit.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::tx
{

namespace
{

/* How often a commit takes a later timestamp when somebody later has read what it writes */
constexpr unsigned most_timestamps = 4;
/* In one chain are their entries of the log, and one of them whole */
constexpr std::size_t most_writes_together = Chain::capacity - 2;

} // namespace

ProtectedCommit::ProtectedCommit(Lane &lane, Execution &execution, Resolver &resolver, Decision &was_decided)
	: Commit(lane, execution), resolver_(resolver), was_decided_(was_decided)
{
	writes_.reserve(max_accesses);
}

Request *ProtectedCommit::request(std::uint32_t number) noexcept
{
	return number ? nullptr : &decision_;
}

/* Parts of chains ------------------------------------------------------------------------------------------------ */

void ProtectedCommit::validate(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = lane_.carrier.view(access.shard);
	chain.cas(view ? view->prepared(access.cell) : RemoteAddress{}, validation(access),
		lane_.slice(access.memory.was_prepared, sizeof(Prepared)));
	/* The staged timestamp serves as well as the own, and makes this packet as long as that of the install: both
	 * leave as one train. */
	if (access.is_write())
		chain.data_indirect(entry_of(access) + offsetof(LogEntry, cell));
	if (conditional)
		chain.conditional();
}

void ProtectedCommit::decide(Chain &chain, bool conditional) noexcept
{
	const ShardView *const view = lane_.carrier.view(decision_.shard);
	const RemoteAddress decision = view ? view->place(lane_.place) + offsetof(LogPlace, decision) : RemoteAddress{};
	chain.cas(decision, tx::decide(timestamp_, Decision::committed), lane_.slice(&was_decided_, sizeof(Decision)));
	if (conditional)
		chain.conditional();
}

void ProtectedCommit::post_validation(Access &access, bool conditional) noexcept
{
	validate(access.request.begin(access.shard, conditional), access, conditional);
	lane_.post(access.request);
}

/** Validates what was only read, in one chain. False: there is nothing. */
bool ProtectedCommit::post_reads() noexcept
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
void ProtectedCommit::post_writes(std::span<Access *const> writes, bool conditional) noexcept
{
	const std::span<Access *const> others = writes.first(writes.size() - 1);
	Access &last = *writes.back();
	for (Access *const access : others) {
		Chain &chain = access->object_ahead.begin(access->shard, conditional);
		stage_object(chain, *access, conditional);
		if (chain.size() == 0)
			continue;
		lane_.post(access->object_ahead);
		conditional = true;
	}
	Chain &chain = last.request.begin(last.shard, conditional);
	stage_object(chain, last, conditional);
	for (Access *const access : writes)
		announce(chain, *access, conditional || chain.size() > 0);
	validate(chain, last, true);
	lane_.post(last.request);
	for (Access *const access : others)
		post_validation(*access, true);
}

/** All of @p shard. */
void ProtectedCommit::post_writes(std::size_t shard, bool conditional) noexcept
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

bool ProtectedCommit::on_one_shard() noexcept
{
	const auto elsewhere = [this](const Access &access) { return access.shard != accesses().front().shard; };
	return std::ranges::none_of(accesses(), elsewhere);
}

/** Cells that this transaction has prepared are others' again; then nobody can find what was staged. */
apps::Task<int> ProtectedCommit::give_up()
{
	for (Access &access : accesses()) {
		const ShardView *const view = lane_.carrier.view(access.shard);
		if (!std::exchange(access.raised, false))
			continue;
		lane_.retired |= !view;
		if (!view)
			continue;
		access.installed = false;
		access.end.begin(access.shard)
			.cas(view->version(access.cell), bump(timestamp_),
				lane_.slice(access.memory.was_version, sizeof(Version)));
		lane_.post(access.end);
	}
	co_await lane_.requests.all_ended();
	for (Access &access : accesses())
		release_staged(access);
	co_return 0;
}

/** The decision, if there is one to make, and what can be installed with it in the same chain: on its shard. */
apps::Task<Outcome> ProtectedCommit::decide_and_install()
{
	co_await lane_.requests.all_ended();
	lane_.round_trips++;
	Access &first = *execution_.first_write();
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
		lane_.retired |= !lane_.carrier.view(access.shard);
		if (tried || !lane_.carrier.view(access.shard))
			continue;
		install(access.end.begin(access.shard), access, false);
		lane_.post(access.end);
	}
	co_return Outcome::committed;
}

apps::Task<Outcome> ProtectedCommit::commit_in_one_chain(bool &only_too_old)
{
	const auto writes = std::ranges::count_if(accesses(), &Access::is_write);
	const std::size_t shard = accesses().front().shard;
	if (!take_timestamp(writes > 1 ? static_cast<std::uint32_t>(shard) : Writer::no_home))
		co_return failed(EOVERFLOW);
	if (!lane_.carrier.view(shard))
		co_return failed(EHOSTUNREACH);
	post_writes(shard, post_reads());
	if (writes > 1) {
		decide(decision_.begin(shard, true), true);
		lane_.post(decision_);
	}
	for (Access &access : accesses()) {
		if (!access.is_write())
			continue;
		install(access.end.begin(shard, true), access, true);
		lane_.post(access.end);
	}
	co_await lane_.requests.all_ended();
	const Outcome prepared = judge_all(true, only_too_old);
	if (prepared == Outcome::failed)
		co_return Outcome::unknown;
	const bool chained =
		std::ranges::all_of(accesses(), [](const Access &access) { return access.request.completion.ok(); });
	if (prepared == Outcome::committed && chained) {
		const Outcome outcome = co_await decide_and_install();
		lane_.figures.one_chain += outcome == Outcome::committed;
		only_too_old = false;
		co_return outcome;
	}
	lane_.round_trips++;
	(void)co_await give_up();
	co_return Outcome::conflict;
}

apps::Task<Outcome> ProtectedCommit::commit_prepared(bool &only_too_old)
{
	const auto writes = std::ranges::count_if(accesses(), &Access::is_write);
	const std::size_t home = execution_.first_write()->shard;
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
	co_await lane_.requests.all_ended();
	lane_.round_trips++;
	if (const Outcome prepared = judge_all(false, only_too_old); prepared != Outcome::committed) {
		(void)co_await give_up();
		co_return prepared;
	}
	only_too_old = false;
	if (writes > 1) {
		decide(decision_.begin(home), false);
		lane_.post(decision_);
	}
	for (Access &access : accesses()) {
		if (!access.is_write() || access.shard != home)
			continue;
		install(access.end.begin(home, writes > 1), access, writes > 1);
		lane_.post(access.end);
	}
	const Outcome outcome = co_await decide_and_install();
	lane_.figures.prepared += outcome == Outcome::committed;
	co_return outcome;
}

apps::Task<Outcome> ProtectedCommit::commit_reads()
{
	lane_.figures.read_only++;
	if (accesses().empty() || (accesses().size() == 1 && !lane_.client.reads_in_session))
		co_return Outcome::committed;
	if (!take_timestamp(Writer::no_home))
		co_return failed(EOVERFLOW);
	for (Access &access : accesses())
		post_validation(access, false);
	co_await lane_.requests.all_ended();
	lane_.round_trips++;
	bool only_too_old = false;
	const Outcome outcome = judge_all(false, only_too_old);
	lane_.figures.read_only -= outcome != Outcome::committed;
	co_return outcome;
}

apps::Task<Outcome> ProtectedCommit::commit_writes()
{
	for (unsigned times = 1;; times++) {
		bool only_too_old = false;
		const Outcome outcome = on_one_shard() ? co_await commit_in_one_chain(only_too_old)
						       : co_await commit_prepared(only_too_old);
		/* What was read is still true: a later timestamp may do. */
		if (outcome != Outcome::conflict || !only_too_old || times == most_timestamps)
			co_return outcome;
	}
}

/** Ends who has been in the way for too long. */
apps::Task<int> ProtectedCommit::after_conflict()
{
	if (!lane_.blocker || lane_.carrier.now() - lane_.blocker->since < lane_.client.patience)
		co_return 0;
	const Lane::Blocker blocker = *std::exchange(lane_.blocker, std::nullopt);
	lane_.figures.resolved++;
	co_return co_await resolver_.resolve(blocker.who, blocker.shard, blocker.cell);
}

} // namespace prism::tx
