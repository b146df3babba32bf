/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <iterator>
#include <map>

#include <boost/intrusive/list.hpp>

#include "gam/coherence/address.hpp"

namespace prism::gam::directory
{

/** Blocks that go on when a peer takes more, in the order in which they came. Each has a Turn in its record. */
class Postponed
{
	using AutoUnlink = boost::intrusive::link_mode<boost::intrusive::auto_unlink>;

public:
	/** The place of a block in a queue. Who goes on out of turn unlinks it, so that no queue has what does not
	 * wait. */
	class Turn : public boost::intrusive::list_base_hook<AutoUnlink>
	{
		friend Postponed;
		NodeId peer_ = no_node;
		Address block_;
	};

	[[nodiscard]] bool empty() const noexcept
	{
		return std::ranges::all_of(queues_, [](const auto &queue) { return queue.second.empty(); });
	}

	/** Has @p block wait for @p peer, and no longer for another one. It keeps the place that it has there. */
	void add(NodeId peer, Address block, Turn &turn)
	{
		if (turn.is_linked() && turn.peer_ == peer)
			return;
		turn.unlink();
		turn.peer_ = peer;
		turn.block_ = block;
		queues_[peer].push_back(turn);
	}

	/** Calls @p visit with each block, which may change the turn of this block. */
	template <typename Visit>
	void for_each(const Visit &visit)
	{
		for (auto &[peer, queue] : queues_) {
			for (auto next = queue.begin(); next != queue.end();)
				visit((next++)->block_);
		}
	}

	/** Takes blocks out, and calls @p go_on with each, which may add others, as long as @p takes_more(peer). */
	template <typename TakesMore, typename GoOn>
	void resume(const TakesMore &takes_more, const GoOn &go_on)
	{
		for (auto peer = queues_.begin(); peer != queues_.end();) {
			auto &[node, queue] = *peer;
			while (!queue.empty() && takes_more(node)) {
				const Address block = queue.front().block_;
				queue.pop_front();
				go_on(block);
			}
			peer = queue.empty() ? queues_.erase(peer) : std::next(peer);
		}
	}

private:
	using Queue = boost::intrusive::list<Turn, boost::intrusive::constant_time_size<false>>;

	std::map<NodeId, Queue> queues_;
};

} // namespace prism::gam::directory
