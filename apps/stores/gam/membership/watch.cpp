/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/watch.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include "base/failure_text.hpp"
#include "gam/membership/master.hpp"

namespace prism::gam
{

void Watch::begin(const Admission &me, Membership &membership)
{
	me_ = me;
	membership_ = &membership;
	looked_ = heard_ = Membership::now();
	thread_ = std::jthread([this](const std::stop_token &stop) { run(stop); });
}

void Watch::end()
{
	thread_ = {};
}

void Watch::adopt(const View &view)
{
	const std::lock_guard guard(lock_);
	view_ = view;
	std::erase_if(broken_, [&view](const auto &entry) { return !view.find_live(entry.second.first); });
}

void Watch::broken(const NodeLife &peer) noexcept
try {
	const std::lock_guard guard(lock_);
	const auto found = broken_.find(peer.node);
	if (found == broken_.end() || found->second.first != peer) /* unless it is already known */
		broken_[peer.node] = {peer, Membership::now()};
} catch (const std::bad_alloc &) {
	found_no_memory();
}

void Watch::found_no_memory() noexcept
{
	has_no_memory_ = true;
}

void Watch::mended(const NodeLife &peer)
{
	const std::lock_guard guard(lock_);
	const auto found = broken_.find(peer.node);
	if (found != broken_.end() && found->second.first == peer)
		broken_.erase(found);
}

void Watch::run(const std::stop_token &stop)
{
	while (!stop.stop_requested()) {
		{
			std::unique_lock guard(lock_);
			wake_.wait_for(guard, stop, me_.lease / Master::looks_a_lease, [] { return false; });
		}
		if (has_no_memory_)
			spare_.reset();
		try {
			const std::optional<Error> found = look(Membership::now());
			if (!found || stop.stop_requested())
				continue;
			membership_->give_up(*found); /* no effect if it has already ended */
			return;
		} catch (const std::bad_alloc &) { /* the next look may find some */
			found_no_memory();
		}
	}
}

std::optional<Error> Watch::look(Time now)
{
	const std::lock_guard guard(lock_);
	if (has_no_memory_)
		return make_error(ESTALE, "this node has found no memory for what others ask of it", no_memory);
	if (std::optional<Error> found = look_at_master(now))
		return found;
	return look_at_pairs(now);
}

std::optional<Error> Watch::look_at_master(Time now)
{
	const Time late = uncounted(std::exchange(looked_, now), now, me_.lease);
	if (membership_->lease_until() > now) {
		silent_since_ = Time();
		return std::nullopt;
	}
	silent_since_ = silent_since_ == Time() ? now : silent_since_ + late;
	if (now - silent_since_ < (patience - 1) * me_.lease)
		return std::nullopt;
	const std::string why = membership_->renewal_failure();
	return make_error(ESTALE,
		"the master has been silent for " + std::to_string(patience) + " leases" +
			(why.empty() ? why : " (" + why + ")"),
		"when it is there again, start this node again");
}

/**
 * Returns true if this node has to leave before @p peer. A joining node goes first, whatever their numbers, as nothing
 * is lost with it.
 */
bool Watch::goes_first(const Member &peer) const
{
	const Member *const mine = view_.find_live(me_.life);
	const bool joins = mine && mine->state == NodeState::joining;
	if (joins != (peer.state == NodeState::joining))
		return joins;
	return me_.life.node > peer.life.node;
}

/**
 * Ends the membership of one of two nodes whose pair is broken. The other hears of it two deaths after the first has
 * noticed, so it waits for three, as the first may not have noticed. Time counts as the master counts leases, by its
 * answers: while it stands still, it does not find that the other is dead.
 */
std::optional<Error> Watch::look_at_pairs(Time now)
{
	const Time lease = membership_->lease_until();
	if (std::exchange(lease_found_, lease) == lease)
		return std::nullopt;
	const Time late = uncounted(std::exchange(heard_, now), now, me_.lease);
	const Time death = me_.lease + me_.lease / Master::margin_share;
	for (auto &[node, since] : broken_) {
		auto &[life, when] = since;
		when = std::min(now, when + late);
		const Member *const peer = view_.find_live(life);
		if (peer && now - when > (goes_first(*peer) ? death : 3 * death))
			return make_error(ESTALE,
				"the connection to node " + std::to_string(node) + " has ended, and that node lives",
				"look at the network between the two, and start this node again");
	}
	return std::nullopt;
}

} // namespace prism::gam
