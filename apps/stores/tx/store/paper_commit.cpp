/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "paper_commit.hpp"

#include <algorithm>
#include <cerrno>

#include "tx/store/resolver.hpp"

namespace prism::tx
{

namespace
{

/* Longest time to wait for a buffer, or for an earlier writer, and the interval of the checks */
constexpr Time longest_wait = std::chrono::seconds(1);
constexpr Time between_looks = std::chrono::microseconds(100);

} // namespace

/** Validates all accesses. Returns Outcome::committed if all writes are prepared. */
apps::Task<Outcome> PaperCommit::validate_all()
{
	if (const int error = take_timestamp(Writer::no_home))
		co_return failed(error);
	for (Access &access : accesses()) {
		const ShardView *const view = lane_.carrier.view(access.shard);
		access.request.begin(access.shard)
			.cas(view ? view->prepared(access.cell) : RemoteAddress{}, validation(access),
				lane_.slice(access.memory.was_prepared, sizeof(Prepared)));
		lane_.post(access.request);
	}
	co_await lane_.requests.all_ended();
	lane_.round_trips++;
	bool done = true, broken = false;
	for (Access &access : accesses()) {
		const Prepare how = judge(access);
		done &= how == Prepare::done;
		broken |= how == Prepare::failed;
	}
	if (broken)
		co_return Outcome::failed;
	co_return done ? Outcome::committed : Outcome::conflict;
}

/**
 * Commits reads. A single read needs no validation: its value is some committed version, whatever happens to it
 * meanwhile.
 */
apps::Task<Outcome> PaperCommit::commit_reads()
{
	if (accesses().size() > 1) {
		if (const Outcome valid = co_await validate_all(); valid != Outcome::committed)
			co_return valid;
	}
	lane_.figures.read_only++;
	co_return Outcome::committed;
}

/**
 * Gives up a prepared write by raising the version. It must not pass over the version that the writer before has
 * prepared: it raises only that writer's version, and may have to wait for it. docs/prism-tx.md, "Blind writes".
 */
apps::Task<void> PaperCommit::give_up(Access &access)
{
	Version before;
	before.committed = is_blind(access) ? access.memory.was_prepared->writer : access.read;
	Version after;
	after.committed = timestamp_;
	const Cas cas = Cas::bytes(CasMode::equal, before, after)
				.compare_only(offsetof(Version, committed), sizeof(Timestamp))
				.swap_only(offsetof(Version, committed), sizeof(Timestamp));
	access.installed = false;
	access.raised = false;
	for (const Time deadline = lane_.carrier.now() + longest_wait; lane_.carrier.now() < deadline;) {
		const ShardView *const view = lane_.carrier.view(access.shard);
		if (!view)
			co_return;
		access.end.begin(access.shard)
			.cas(view->version(access.cell), cas, lane_.slice(access.memory.was_version, sizeof(Version)));
		lane_.post(access.end);
		co_await lane_.requests.all_ended();
		if (access.end.completion.failed() || access.end.completion.ok() ||
			access.memory.was_version->committed >= timestamp_)
			break;
		co_await Event{lane_.waiter, lane_.carrier.now() + between_looks};
	}
}

apps::Task<Outcome> PaperCommit::commit_writes()
{
	if (const Outcome prepared = co_await validate_all(); prepared != Outcome::committed) {
		for (Access &access : accesses()) {
			if (access.raised)
				co_await give_up(access);
		}
		co_return prepared;
	}
	co_return co_await install_all();
}

/** Installs all writes; repeats those that find no buffer. */
apps::Task<Outcome> PaperCommit::install_all()
{
	const Time deadline = lane_.carrier.now() + longest_wait;
	for (bool again = true; again && lane_.carrier.now() < deadline;) {
		for (Access &access : accesses()) {
			if (!access.raised)
				continue;
			Chain &chain = access.end.begin(access.shard);
			stage_object(chain, access, false);
			announce(chain, access, !access.empties);
			install(chain, access, true);
			lane_.post(access.end);
		}
		co_await lane_.requests.all_ended();
		lane_.round_trips++;
		again = false;
		for (Access &access : accesses()) {
			if (access.raised && !take_installed(access))
				co_return Outcome::unknown;
			again |= access.raised;
		}
		if (again)
			co_await Event{lane_.waiter, lane_.carrier.now() + between_looks};
	}
	const bool whole = std::ranges::none_of(accesses(), &Access::raised);
	lane_.figures.prepared += whole;
	error_ = whole ? 0 : ENOBUFS;
	co_return whole ? Outcome::committed : Outcome::unknown;
}

/**
 * Takes the result of an install. The access stays raised if there was no buffer. Returns false if its connection is
 * gone.
 */
bool PaperCommit::take_installed(Access &access) noexcept
{
	const Completion &completion = access.end.completion;
	if (completion.failed()) {
		error_ = errno_of(completion);
		return false;
	}
	access.raised = completion.status == Status::skipped;
	if (completion.status == Status::cas_miss) /* a later write of the whole cell is there */
		release_staged(access);
	if (access.raised) {
		lane_.carrier.report_now(access.shard);
		without_buffer_++;
		(void)choose_free_list(access);
	}
	return true;
}

} // namespace prism::tx
