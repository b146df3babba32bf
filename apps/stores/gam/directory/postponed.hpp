/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <deque>
#include <iterator>
#include <map>

#include "gam/coherence/address.hpp"

namespace prism::gam::directory
{

/** Blocks that go on when a peer takes more, in the order in which they came. */
class Postponed
{
public:
	[[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }
	void add(NodeId peer, Address block) { blocks_[peer].push_back(block); }

	/** Calls @p visit with each block; it may add none. */
	template <typename Visit>
	void for_each(const Visit &visit) const
	{
		for (const auto &[peer, blocks] : blocks_) {
			for (const Address block : blocks)
				visit(block);
		}
	}

	/** Takes blocks out, and calls @p go_on with each, which may add others, as long as @p takes_more(peer). */
	template <typename TakesMore, typename GoOn>
	void resume(const TakesMore &takes_more, const GoOn &go_on)
	{
		for (auto peer = blocks_.begin(); peer != blocks_.end();) {
			auto &[node, blocks] = *peer;
			while (!blocks.empty() && takes_more(node)) {
				const Address block = blocks.front();
				blocks.pop_front();
				go_on(block);
			}
			peer = blocks.empty() ? blocks_.erase(peer) : std::next(peer);
		}
	}

private:
	std::map<NodeId, std::deque<Address>> blocks_;
};

} // namespace prism::gam::directory
