/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "gam/api/joined_node.hpp"

namespace prism::gam
{

/**
 * The memory lent by a node that joins only briefly: it cannot lend nothing, and the first block is never allocated.
 */
constexpr std::uint64_t least_lent = 2 * block_size;

/**
 * Returns the nodes that lend more than that, and can be asked; or of them only @p which. Nodes that were just started
 * are still joining, so this waits for the first one, and for all that are joining, but no longer than @p patience.
 * Empty if there is none, or if @p joined is no longer a member.
 */
std::vector<NodeId> await_lenders(
	JoinedNode &joined, std::chrono::milliseconds patience, std::optional<NodeId> which = {});

} // namespace prism::gam
