/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The paper's commit, which a client's death leaves half done: docs/prism-tx.md, "The paper's commit". */
#include <algorithm>
#include <cerrno>

#include "prism_transaction.hpp"

namespace prism::tx
{

namespace
{

/* The paper's commit: how long it waits for a buffer, or for a writer before it, and how often it looks */
constexpr Time longest_wait = std::chrono::seconds(1);
constexpr Time between_looks = std::chrono::microseconds(100);

} // namespace

/**
 * What the writer before this one has prepared must not be passed over: the version becomes later only from that
 * writer's on, which may have to be waited for: docs/prism-tx.md, "Blind writes".
 */
apps::Task<int> PrismTransaction::give_up_as_in_paper(Access &access)
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
	for (const Time deadline = carrier_.now() + longest_wait; carrier_.now() < deadline;) {
		const ShardView *const view = carrier_.view(access.shard);
		if (!view)
			co_return EHOSTUNREACH;
		access.end.begin(access.shard)
			.cas(view->version(access.cell), cas, slice(access.memory.was_version, sizeof(Version)));
		post(access.end);
		co_await requests_.all_ended();
		if (access.end.completion.failed() || access.end.completion.ok() ||
			access.memory.was_version->committed >= timestamp_)
			break;
		co_await Event{waiter_, carrier_.now() + between_looks};
	}
	co_return 0;
}

apps::Task<Outcome> PrismTransaction::commit_as_in_paper()
{
	if (!take_timestamp(Writer::no_home))
		co_return failed(EOVERFLOW);
	for (Access &access : accesses())
		post_validation(access, false);
	co_await requests_.all_ended();
	round_trips_++;
	bool only_too_old = false;
	if (const Outcome prepared = judge_all(false, only_too_old); prepared != Outcome::committed) {
		for (Access &access : accesses()) {
			if (access.raised)
				(void)co_await give_up_as_in_paper(access);
		}
		co_return prepared;
	}
	const Time deadline = carrier_.now() + longest_wait;
	for (bool again = true; again && carrier_.now() < deadline;) {
		again = false;
		for (Access &access : accesses()) {
			if (!access.raised)
				continue;
			Chain &chain = access.end.begin(access.shard);
			stage_object(chain, access, false);
			announce(chain, access, !access.empties);
			install(chain, access, true);
			post(access.end);
		}
		co_await requests_.all_ended();
		round_trips_++;
		for (Access &access : accesses()) {
			const Completion &completion = access.end.completion;
			if (!access.raised)
				continue;
			if (completion.failed()) {
				error_ = errno_of(completion);
				co_return Outcome::unknown;
			}
			access.raised = completion.status == Status::skipped;
			again |= access.raised;
			if (completion.status == Status::cas_miss) /* a later write of the whole is there */
				release_staged(access);
			if (access.raised) {
				carrier_.report_now(access.shard);
				without_buffer_++;
				(void)choose_free_list(access);
			}
		}
		if (again)
			co_await Event{waiter_, carrier_.now() + between_looks};
	}
	const bool whole = std::ranges::none_of(accesses(), &Access::raised);
	figures_.prepared += whole;
	error_ = whole ? 0 : ENOBUFS;
	co_return whole ? Outcome::committed : Outcome::unknown;
}

} // namespace prism::tx
