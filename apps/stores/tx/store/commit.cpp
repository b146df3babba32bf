/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "commit.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "service/size_class.hpp"
#include "tx/store/resolver.hpp"

namespace prism::tx
{

namespace
{

/* Commits for which a conflict makes a lane careful */
constexpr unsigned commits_with_care = 16;
/* Interval at which a commit that waits for a connection checks for it */
constexpr Time until_next_look = std::chrono::milliseconds(1);

} // namespace

void Commit::begin() noexcept
{
	timestamp_ = {};
	error_ = 0;
}

/** True if a shard is stopping: it lets commits end that have begun, but no others begin. */
bool Commit::meets_stopping_shard() noexcept
{
	return std::ranges::any_of(accesses(), [this](const Access &access) {
		const ShardView *const view = lane_.carrier.view(access.shard);
		return view && view->stopping;
	});
}

/** Waits until there is a connection to @p shard, or none is expected any more. Returns whether there is one. */
apps::Task<bool> Commit::regains(std::size_t shard)
{
	while (!lane_.carrier.view(shard) && lane_.carrier.may_come_back(shard))
		co_await Event{lane_.waiter, lane_.carrier.now() + until_next_look};
	co_return lane_.carrier.view(shard) != nullptr;
}

/** Returns false if no place is spare: one must first be cleared of what its lane has left in it. */
bool Commit::take_another_place() noexcept
{
	std::vector<std::uint32_t> &spare = lane_.client.spare_places;
	if (lane_.place != Lane::no_place)
		lane_.client.left_places.push_back(std::exchange(lane_.place, Lane::no_place));
	if (spare.empty())
		return false;
	lane_.place = spare.back();
	spare.pop_back();
	lane_.retired = false;
	return true;
}

/**
 * After the loss of a shard in mid-commit, the lane's log and its last decision are all that others have to end the
 * transaction with. So the lane continues in another place, or in the same one after that has been cleared.
 */
apps::Task<Outcome> Commit::run()
{
	error_ = 0;
	if (meets_stopping_shard())
		co_return failed(EHOSTUNREACH);
	if (lane_.retired && !take_another_place()) {
		for (std::size_t shard = 0; shard < lane_.carrier.shards(); shard++) {
			if (!co_await regains(shard))
				co_return failed(EHOSTUNREACH);
		}
		co_return Outcome::conflict; /* try again once places are cleared: that takes some round trips */
	}
	no_buffer_ = false;
	const Outcome outcome = co_await attempt();
	without_buffer_ = no_buffer_ ? without_buffer_ + 1 : 0;
	lane_.again = outcome == Outcome::conflict;
	if (outcome != Outcome::conflict) {
		lane_.careful -= lane_.careful != 0;
		lane_.blockers.clear();
		co_return outcome;
	}
	lane_.figures.no_buffer += no_buffer_;
	if (const int error = co_await after_conflict())
		co_return failed(error);
	error_ = no_buffer_ ? ENOBUFS : 0;
	co_return outcome;
}

apps::Task<Outcome> Commit::attempt()
{
	const auto unread = [this](const Access &access) {
		return access.is_write() && !access.fetched && !is_blind(access);
	};
	if (std::ranges::any_of(accesses(), unread)) {
		if (const int error = co_await execution_.fetch_changed())
			co_return failed(error);
		if (after_fetch())
			co_return Outcome::conflict;
	}
	if (!execution_.first_write())
		co_return co_await commit_reads();
	if (const int error = compose_all())
		co_return failed(error);
	co_return co_await commit_writes();
}

Outcome Commit::failed(int error) noexcept
{
	error_ = error;
	return Outcome::failed;
}

RemoteAddress Commit::entry_of(const Access &access) const noexcept
{
	const ShardView *const view = lane_.carrier.view(access.shard);
	return view ? view->entry(lane_.place, access.entry) : RemoteAddress{};
}

/* Steps ---------------------------------------------------------------------------------------------------------- */

/** Composes the new object: the records that stay, and the new ones. */
int Commit::compose(Access &access) noexcept
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

/** Chooses a free list. Uses up buffers of the best size, but not larger ones. */
int Commit::choose_free_list(Access &access) noexcept
{
	const ShardView *const view = lane_.carrier.view(access.shard);
	if (!view)
		return EHOSTUNREACH;
	const std::span<const SizeClass> fitting = apps::classes_for(view->classes, access.size);
	if (fitting.empty())
		return ENOSPC;
	access.free_list = apps::class_after(fitting, without_buffer_).free_list;
	return 0;
}

int Commit::compose_all() noexcept
{
	for (Access &access : accesses()) {
		if (const int error = access.is_write() ? compose(access) : 0)
			return error;
	}
	return 0;
}

int Commit::take_timestamp(std::uint32_t home) noexcept
{
	const std::uint64_t clock = lane_.client.clock.next(lane_.carrier.clock());
	lane_.leaves_traces = execution_.first_write() != nullptr;
	timestamp_ = {Writer{lane_.client.incarnation, home, lane_.place}.packed(), clock};
	for (Access &access : accesses()) {
		access.entry = access.number;
		access.holds = false;
		access.valid = false;
		access.raised = false;
		access.installed = false;
		*access.memory.allocated = 0;
		if (access.is_write())
			std::memcpy(access.memory.out.data(), &timestamp_, sizeof(timestamp_));
	}
	return clock ? 0 : EOVERFLOW;
}

/**
 * Returns the CAS that validates @p access. One comparison shows that nobody has prepared a write since this version
 * was read, and that no later transaction has read it: both words are one number, and the writer's half is never less
 * than the version.
 */
Cas Commit::validation(const Access &access) const noexcept
{
	const Prepared compare{timestamp_, is_blind(access) ? timestamp_ : access.read};
	Cas cas = Cas::bytes(CasMode::greater, compare, Prepared{timestamp_, timestamp_});
	const std::size_t changed = access.is_write() ? offsetof(Prepared, writer) : offsetof(Prepared, reader);
	cas.swap_only(changed, sizeof(Timestamp));
	if (is_blind(access))
		cas.compare_only(offsetof(Prepared, writer), sizeof(Timestamp));
	return cas;
}

/** Allocates a buffer with the object; its address goes to the log entry. A cell without keys has no object. */
void Commit::stage_object(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = lane_.carrier.view(access.shard);
	*access.memory.allocated = 0;
	access.staged_over = view ? view->connection : 0;
	if (access.empties)
		return;
	chain.allocate(access.free_list, lane_.slice(access.memory.out.data(), access.size, access.memory.object_lkey))
		.redirect_bounded(
			entry_of(access) + offsetof(LogEntry, version) + offsetof(Version, object), tag_of(timestamp_))
		.result(lane_.slice(access.memory.allocated, sizeof(*access.memory.allocated)));
	if (conditional)
		chain.conditional();
}

/** Writes the transaction and the cell to the log entry, and a null object if the cell becomes empty. */
void Commit::announce(Chain &chain, Access &access, bool conditional) noexcept
{
	access.announcement = {access.cell, 0, timestamp_, {}};
	const std::span<const std::byte> bytes = std::as_bytes(std::span(&access.announcement, 1));
	chain.write(entry_of(access) + offsetof(LogEntry, cell),
		access.empties ? bytes : bytes.first(offsetof(Announcement, object)));
	if (conditional)
		chain.conditional();
}

void Commit::install(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = lane_.carrier.view(access.shard);
	access.installed = true;
	chain.cas(view ? view->version(access.cell) : RemoteAddress{}, tx::install(timestamp_),
		     lane_.slice(access.memory.was_version, sizeof(Version)))
		.data_indirect(entry_of(access) + offsetof(LogEntry, version));
	if (conditional)
		chain.conditional();
}

/** Returns the result of the validation of @p access. */
Commit::Prepare Commit::judge(Access &access) noexcept
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
	access.valid = completion.ok() && !is_blind(access);
	access.holds = access.valid;
	if (access.valid)
		return Prepare::done;
	lane_.client.clock.observe(was.reader);
	lane_.client.clock.observe(was.writer);
	if (completion.ok()) { /* a blind write's CAS compares only the writer: check the reader here */
		access.valid = was.reader < timestamp_;
		return access.valid ? Prepare::done : Prepare::too_old;
	}
	const bool taken = is_blind(access) ? was.writer > timestamp_ : was.writer != access.read;
	if (!taken) { /* a later reader is in the way of writers only */
		access.holds = true;
		access.valid = !access.is_write();
		return access.is_write() ? Prepare::too_old : Prepare::done;
	}
	lane_.blocked_by(was.writer, access.shard, access.cell);
	lane_.careful = commits_with_care;
	return Prepare::taken;
}

/** Releases a staged buffer. If the connection was lost since, the shard has found it, or will. */
void Commit::release_staged(Access &access) noexcept
{
	const ShardView *const view = lane_.carrier.view(access.shard);
	const std::uint64_t address = std::exchange(*access.memory.allocated, 0);
	if (address && view && view->connection == access.staged_over)
		lane_.carrier.release(access.shard, address);
}

} // namespace prism::tx
