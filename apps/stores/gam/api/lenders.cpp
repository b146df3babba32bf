/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/api/lenders.hpp"

#include <thread>

namespace prism::gam
{

std::vector<NodeId> await_lenders(JoinedNode &joined, std::chrono::milliseconds patience, std::optional<NodeId> which)
{
	constexpr auto pause = std::chrono::milliseconds(20);
	constexpr auto patience_with_strangers = std::chrono::milliseconds(500); /* they may never come */
	const auto begin = std::chrono::steady_clock::now();
	for (;;) {
		std::vector<NodeId> found;
		bool some_join = false;
		for (const Member &member : joined.view().members) {
			const NodeId node = member.life.node;
			if (!member.live() || member.lent <= least_lent || which.value_or(node) != node)
				continue;
			if (member.state == NodeState::serving && joined.node().is_member(node))
				found.push_back(node);
			else
				some_join = true;
		}
		const auto waited = std::chrono::steady_clock::now() - begin;
		const bool enough = !found.empty() && (!some_join || waited > patience_with_strangers);
		if (enough || joined.is_expelled() || waited > patience)
			return found;
		std::this_thread::sleep_for(pause);
	}
}

} // namespace prism::gam
