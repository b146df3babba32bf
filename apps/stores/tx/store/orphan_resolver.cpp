/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "orphan_resolver.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace prism::tx
{

OrphanResolver::OrphanResolver(ClientState &client, Carrier &carrier, std::uint32_t lane, ResolverMemory &memory,
	std::uint32_t lkey, Ended ended)
	: client_(client), carrier_(carrier), ended_(std::move(ended)), requests_(carrier, waiter_, lane),
	  resolver_(carrier, requests_, memory, lkey, 0)
{
}

void OrphanResolver::take(std::size_t shard, std::uint64_t client)
{
	const ShardView *const view = carrier_.view(shard);
	if (!view || client >= view->geometry.clients || client_.store.as_in_paper)
		return;
	/* Once more than it is worked on is enough: a server that asks without end fills no memory. */
	const Orphan order{shard, client};
	if (std::ranges::count(orphans_, order) < 2)
		orphans_.push_back(order);
	go_on();
}

void OrphanResolver::go_on()
{
	if (task_ && task_->done())
		task_.reset();
	if (task_ || (orphans_.empty() && !can_clear()))
		return;
	task_.emplace(end_all());
	task_->start();
}

bool OrphanResolver::can_clear() const noexcept
{
	if (client_.left_places.empty())
		return false;
	for (std::size_t shard = 0; shard < carrier_.shards(); shard++) {
		if (!carrier_.view(shard))
			return false;
	}
	return true;
}

/**
 * Begins to work on a place of a log. It counts as a commit until its installs are reported, as they may replace
 * buffers. Only one place counts at a time: a client may leave hundreds, and a shard that looks for lost buffers waits
 * for the commits that it has asked about.
 */
void OrphanResolver::begin_place() noexcept
{
	serial_ = ++client_.serial;
}

/** Clears a place as a successor would: nothing from the lost connection is executed any more. */
apps::Task<void> OrphanResolver::clear_place()
{
	begin_place();
	const std::uint32_t place = client_.left_places.back();
	client_.left_places.pop_back();
	int error = 0;
	for (std::size_t shard = 0; shard < carrier_.shards() && !error && !client_.store.as_in_paper; shard++) {
		bool cleared = false;
		error = co_await resolver_.clear(shard, place, client_.clock, cleared);
	}
	if (!error)
		client_.spare_places.push_back(place);
	else if (error == EHOSTUNREACH) /* retry later; leave corrupt places alone */
		client_.left_places.push_back(place);
}

apps::Task<void> OrphanResolver::end_all()
{
	while (!orphans_.empty() || can_clear()) {
		if (orphans_.empty()) {
			co_await clear_place();
			continue;
		}
		const Orphan orphan = orphans_.front();
		const ShardView *const view = carrier_.view(orphan.shard);
		int error = view ? 0 : EHOSTUNREACH;
		const std::uint32_t lanes = view ? view->geometry.lanes : 0;
		for (std::uint32_t lane = 0; lane < lanes && !error; lane++) {
			begin_place();
			error = co_await resolver_.end_place(
				orphan.shard, static_cast<std::uint32_t>(orphan.client) * lanes + lane);
		}
		orphans_.pop_front();
		ended_(orphan.shard, orphan.client, error);
	}
}

void OrphanResolver::request_ended(const Completion &completion) noexcept
{
	if (!requests_.ended(resolver_.request(), completion) || !waiter_.waits())
		return;
	waiter_.resume();
	go_on();
}

std::uint64_t OrphanResolver::holding() const noexcept
{
	return task_ && !task_->done() ? serial_ : std::numeric_limits<std::uint64_t>::max();
}

} // namespace prism::tx
