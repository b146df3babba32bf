/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "protected_commit.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::tx
{

namespace
{

/* Most timestamps that a commit tries when later transactions have read the cells that it writes */
constexpr unsigned most_timestamps = 4;
/* Number of further reads of one cell that a lane expects after such a read */
constexpr unsigned reads_to_come = 16;

} // namespace

ProtectedCommit::ProtectedCommit(Lane &lane, Execution &execution, Resolver &resolver, ProtectedCommitMemory &memory)
	: Commit(lane, execution), resolver_(resolver), memory_(memory)
{
	writes_.reserve(max_accesses);
	lane_.reads_alone = reads_to_come;
}

Request *ProtectedCommit::request(std::uint32_t number) noexcept
{
	return number ? nullptr : &decision_;
}

/* Parts of chains ------------------------------------------------------------------------------------------------ */

/**
 * Adds the CAS that validates @p access. It may load the timestamp from the log entry in place of its own: that makes
 * the packet as long as an install's, and both leave as one train. A reader uses any entry of the transaction on the
 * shard.
 */
void ProtectedCommit::validate(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = lane_.carrier.view(access.shard);
	chain.cas(view ? view->prepared(access.cell) : RemoteAddress{}, validation(access),
		lane_.slice(access.memory.was_prepared, sizeof(Prepared)));
	if (access.is_write())
		chain.data_indirect(entry_of(access) + offsetof(LogEntry, cell));
	else if (conditional && !writes_.empty())
		chain.data_indirect(entry_of(*writes_.front()) + offsetof(LogEntry, version));
	if (conditional)
		chain.conditional();
}

/**
 * Writes transaction and cell to the log entries of all writes_, in one WRITE, which also clears their pointers to
 * older objects.
 */
void ProtectedCommit::announce_all(Chain &chain, bool conditional) noexcept
{
	for (const Access *const access : writes_) {
		LogEntry &entry = memory_.entries[access->entry];
		entry.cell = access->cell;
		entry.version = {timestamp_, {}};
	}
	const Access &first = *writes_.front();
	chain.write(entry_of(first) + offsetof(LogEntry, cell),
		lane_.slice(&memory_.entries[first.entry].cell,
			writes_.size() * sizeof(LogEntry) - offsetof(LogEntry, cell)));
	if (conditional)
		chain.conditional();
}

void ProtectedCommit::decide(Chain &chain, bool conditional) noexcept
{
	const ShardView *const view = lane_.carrier.view(decision_.shard);
	const RemoteAddress decision = view ? view->place(lane_.place) + offsetof(LogPlace, decision) : RemoteAddress{};
	chain.cas(decision, tx::decide(timestamp_, Decision::committed),
		lane_.slice(&memory_.was_decided, sizeof(Decision)));
	if (conditional)
		chain.conditional();
}

void ProtectedCommit::post_validation(Access &access, bool conditional) noexcept
{
	validate(access.request.begin(access.shard, conditional), access, conditional);
	lane_.post(access.request);
}

/** Returns false if there is no object. */
bool ProtectedCommit::post_object(Access &access, bool conditional) noexcept
{
	Chain &chain = access.object_ahead.begin(access.shard, conditional);
	stage_object(chain, access, conditional);
	if (chain.size() == 0)
		return false;
	lane_.post(access.object_ahead);
	return true;
}

/** Posts the only write on a shard. The log entry follows the object, as a shorter packet that ends its train. */
void ProtectedCommit::post_one_write(Access &access) noexcept
{
	Chain &chain = access.request.begin(access.shard);
	stage_object(chain, access, false);
	announce(chain, access, !access.empties);
	validate(chain, access, true);
	lane_.post(access.request);
}

/**
 * Stages and validates all writes on @p shard. Consecutive packets of one size leave as one train, whose last one may
 * be shorter: so all objects come together, and all validations. After a conflict the objects follow the validations,
 * or are not sent.
 */
void ProtectedCommit::post_writes(std::size_t shard) noexcept
{
	writes_.clear();
	for (Access &access : accesses()) {
		if (access.is_write() && access.shard == shard)
			writes_.push_back(&access);
	}
	if (writes_.size() == 1 && !lane_.again) {
		post_one_write(*writes_.front());
		return;
	}
	Access &first = *writes_.front();
	Chain &chain = lane_.again ? first.request.begin(shard) : first.object_ahead.begin(shard);
	announce_all(chain, false);
	if (!lane_.again) {
		stage_object(chain, first, true);
		lane_.post(first.object_ahead);
		for (Access *const access : std::span(writes_).subspan(1))
			post_object(*access, true);
		post_validation(first, true);
	} else {
		validate(chain, first, true);
		lane_.post(first.request);
	}
	for (Access *const access : std::span(writes_).subspan(1))
		post_validation(*access, true);
}

/** Posts the decision, if one is needed, and the installs on its shard. */
void ProtectedCommit::post_end(std::size_t home, bool conditional) noexcept
{
	if (!is_alone()) {
		decide(decision_.begin(home, conditional), conditional);
		lane_.post(decision_);
		conditional = true;
	}
	for (Access &access : accesses()) {
		if (!access.is_write() || access.shard != home)
			continue;
		install(access.end.begin(home, conditional), access, conditional);
		lane_.post(access.end);
	}
}

/** Numbers the log entries: those of a shard are consecutive. */
void ProtectedCommit::number_entries() noexcept
{
	std::uint32_t next = 0;
	for (std::size_t shard = 0; shard < lane_.carrier.shards(); shard++) {
		for (Access &access : accesses()) {
			if (access.is_write() && access.shard == shard)
				access.entry = next++;
		}
	}
}

/* Commits -------------------------------------------------------------------------------------------------------- */

bool ProtectedCommit::on_one_shard() noexcept
{
	const auto elsewhere = [this](const Access &access) { return access.shard != accesses().front().shard; };
	return std::ranges::none_of(accesses(), elsewhere);
}

bool ProtectedCommit::is_prepared(const Access &access) const noexcept
{
	const bool staged = !access.is_write() || access.empties || *access.memory.allocated;
	return access.valid && staged;
}

void ProtectedCommit::lack_buffer(const Access &access) noexcept
{
	no_buffer_ = true;
	lane_.carrier.report_now(access.shard);
}

/**
 * Stages and prepares all writes. If all accesses are on one shard, posts the whole commit, which completes if nothing
 * misses.
 */
void ProtectedCommit::post_first_round(bool one_chain) noexcept
{
	for (std::size_t shard = 0; shard < lane_.carrier.shards(); shard++) {
		const auto is_there = [shard](const Access &access) {
			return access.is_write() && access.shard == shard;
		};
		if (std::ranges::any_of(accesses(), is_there))
			post_writes(shard);
	}
	if (!one_chain)
		return;
	for (Access &access : accesses()) {
		if (!access.is_write())
			post_validation(access, true);
	}
	for (Access *const access : writes_) {
		if (lane_.again)
			post_object(*access, true);
	}
	post_end(accesses().front().shard, true);
}

/** Returns Outcome::committed if all writes are prepared. Sets @p only_too_old if only later readers are in the way. */
Outcome ProtectedCommit::judge_writes(bool &only_too_old) noexcept
{
	const auto missed = [this](std::size_t shard) {
		return std::ranges::any_of(accesses(), [shard](const Access &access) {
			return access.is_write() && access.shard == shard &&
			       access.request.completion.status == Status::cas_miss;
		});
	};
	bool done = true, broken = false;
	only_too_old = true;
	for (Access &access : accesses()) {
		if (!access.is_write())
			continue;
		const Prepare how = judge(access);
		/* A request that was skipped although none missed found no buffer. */
		const bool lacks = how == Prepare::skipped && !missed(access.shard);
		if (lacks && !access.empties && !*access.memory.allocated)
			lack_buffer(access);
		done &= how == Prepare::done;
		broken |= how == Prepare::failed;
		only_too_old &= how != Prepare::taken && !lacks && !access.raised;
	}
	if (broken)
		return Outcome::failed;
	return done ? Outcome::committed : Outcome::conflict;
}

/** Likewise for cells that are only read. With @p one_chain some may not be validated yet: see is_prepared(). */
Outcome ProtectedCommit::judge_reads(bool one_chain) noexcept
{
	bool done = true;
	for (Access &access : accesses()) {
		if (access.is_write() || access.valid)
			continue;
		const Prepare how = judge(access);
		if (how == Prepare::failed)
			return Outcome::failed;
		done &= how == Prepare::done || (one_chain && how == Prepare::skipped);
	}
	return done ? Outcome::committed : Outcome::conflict;
}

/** Validates the reads after all writes are prepared, and posts the objects that the chain of one shard has skipped. */
apps::Task<Outcome> ProtectedCommit::prepare_rest()
{
	writes_.clear();
	for (Access &access : accesses()) {
		if (!access.valid)
			post_validation(access, false);
		else if (!is_prepared(access))
			post_object(access, false);
	}
	co_await lane_.requests.all_ended();
	lane_.round_trips++;
	if (const Outcome valid = judge_reads(false); valid != Outcome::committed)
		co_return valid;
	for (const Access &access : accesses()) {
		if (is_prepared(access))
			continue;
		if (access.object_ahead.completion.failed()) {
			error_ = errno_of(access.object_ahead.completion);
			co_return Outcome::failed;
		}
		lack_buffer(access);
		co_return Outcome::conflict;
	}
	co_return Outcome::committed;
}

/**
 * Gives up: frees the cells that this transaction has prepared for others; after that nobody can find the staged
 * objects. Keeps values that still hold for the next attempt.
 */
apps::Task<void> ProtectedCommit::give_up()
{
	for (Access &access : accesses()) {
		const ShardView *const view = lane_.carrier.view(access.shard);
		access.installed = false;
		if (!access.raised)
			continue;
		lane_.retired |= !view;
		if (!view)
			continue;
		access.end.begin(access.shard)
			.cas(view->version(access.cell), bump(timestamp_),
				lane_.slice(access.memory.was_version, sizeof(Version)));
		lane_.post(access.end);
	}
	co_await lane_.requests.all_ended();
	for (Access &access : accesses()) {
		const bool raised = std::exchange(access.raised, false);
		const bool bumped = raised && !access.end.completion.failed() && access.end.completion.ok();
		access.kept = access.holds && (!raised || bumped);
		if (bumped)
			access.read = timestamp_;
		release_staged(access);
	}
}

/** Takes the decision, whose requests must have ended if they are posted; then installs the rest. */
apps::Task<Outcome> ProtectedCommit::decide_and_install()
{
	const Completion &decided = decisive().completion;
	if (decided.failed())
		co_return co_await find_out();
	if (!decided.ok()) { /* another client took this one for dead */
		co_await give_up();
		co_return Outcome::conflict;
	}
	install_rest();
	co_return Outcome::committed;
}

/** Installs all committed writes that were not tried, over connections that are still there. */
void ProtectedCommit::install_rest() noexcept
{
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
}

/**
 * Finds out the outcome. The connection to the shard of the decision was lost before the answer came. Once there is a
 * new one, nothing more of the old one's requests is executed: if the commit is still undecided, it is aborted.
 */
apps::Task<Outcome> ProtectedCommit::find_out()
{
	const Access &first = *execution_.first_write();
	error_ = EHOSTUNREACH;
	lane_.retired = true;
	if (!co_await regains(first.shard))
		co_return Outcome::unknown;
	std::uint64_t verdict = 0;
	int error = 0;
	if (is_alone()) /* not with ?:, as g++ 12 would run the co_await in any case */
		error = co_await resolver_.conclude(timestamp_, first.shard, first.cell, first.empties, verdict);
	else
		error = co_await resolver_.decide_aborted(timestamp_, verdict);
	if (error || !verdict)
		co_return Outcome::unknown;
	lane_.figures.found_out++;
	error_ = 0;
	if (verdict == Decision::committed) {
		install_rest();
		co_return Outcome::committed;
	}
	co_await give_up();
	co_return Outcome::conflict;
}

apps::Task<Outcome> ProtectedCommit::prepare_and_decide(bool &only_too_old)
{
	const bool one_chain = on_one_shard();
	const std::size_t home = execution_.first_write()->shard;
	const bool alone = std::ranges::count_if(accesses(), &Access::is_write) == 1;
	if (const int error = take_timestamp(alone ? Writer::no_home : static_cast<std::uint32_t>(home)))
		co_return failed(error);
	if (!lane_.carrier.view(home))
		co_return failed(EHOSTUNREACH);
	number_entries();
	post_first_round(one_chain);
	co_await lane_.requests.all_ended();
	lane_.round_trips++;
	Outcome prepared = judge_writes(only_too_old);
	if (prepared == Outcome::committed && one_chain)
		prepared = judge_reads(true);
	if (prepared == Outcome::failed && one_chain) /* the chain may have completed the commit */
		co_return co_await find_out();
	const bool decided = one_chain && decisive().completion.status != Status::skipped;
	const auto lacks = [this](const Access &access) { return !is_prepared(access); };
	if (prepared == Outcome::committed && !decided && std::ranges::any_of(accesses(), lacks))
		prepared = co_await prepare_rest();
	if (prepared != Outcome::committed) {
		co_await give_up();
		co_return prepared;
	}
	only_too_old = false;
	if (!decided) {
		post_end(home, false);
		co_await lane_.requests.all_ended();
		lane_.round_trips++;
	}
	const Outcome outcome = co_await decide_and_install();
	(decided ? lane_.figures.one_chain : lane_.figures.prepared) += outcome == Outcome::committed;
	co_return outcome;
}

apps::Task<Outcome> ProtectedCommit::commit_writes()
{
	lane_.reads_alone -= accesses().size() == 1 && lane_.reads_alone;
	for (unsigned times = 1;; times++) {
		bool only_too_old = false;
		const Outcome outcome = co_await prepare_and_decide(only_too_old);
		/* The values read are still current: a later timestamp may succeed. */
		if (outcome != Outcome::conflict || !only_too_old || times == most_timestamps)
			co_return outcome;
	}
}

/**
 * Commits reads. A single read was current at that time if nobody had prepared another version; then it needs no
 * validation.
 */
apps::Task<Outcome> ProtectedCommit::commit_reads()
{
	const bool one = accesses().size() == 1;
	lane_.reads_alone = one ? reads_to_come : lane_.reads_alone;
	if (!accesses().empty() && !(one && accesses().front().settled)) {
		if (const int error = take_timestamp(Writer::no_home))
			co_return failed(error);
		for (Access &access : accesses())
			post_validation(access, false);
		co_await lane_.requests.all_ended();
		lane_.round_trips++;
		if (const Outcome valid = judge_reads(false); valid != Outcome::committed) {
			for (Access &access : accesses())
				access.kept = access.holds;
			co_return valid;
		}
	}
	lane_.figures.read_only++;
	co_return Outcome::committed;
}

/** Checks the fetched cells. Cells that others have prepared are read again after those transactions have ended. */
int ProtectedCommit::after_fetch()
{
	bool free = true;
	for (Access &access : accesses()) {
		if (!access.fetched || !access.with_cell || access.settled)
			continue;
		const Timestamp &writer = access.memory.cell->prepared.writer;
		lane_.client.clock.observe(writer);
		lane_.blocked_by(writer, access.shard, access.cell);
		free = false;
	}
	if (free)
		return 0;
	for (Access &access : accesses())
		access.kept = access.fetched && (!access.with_cell || access.settled);
	return EAGAIN;
}

/** Ends the transactions that have been in the way for too long. */
apps::Task<int> ProtectedCommit::after_conflict()
{
	for (const Lane::Blocker &blocker : lane_.take_overdue()) {
		lane_.figures.resolved++;
		if (const int error = co_await resolver_.resolve(blocker.who, blocker.shard, blocker.cell))
			co_return error;
	}
	co_return 0;
}

} // namespace prism::tx
