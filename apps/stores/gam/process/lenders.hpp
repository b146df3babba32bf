/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "gam/process/joined_node.hpp"

namespace prism::gam
{

/** What a node lends that comes for a moment: it cannot lend nothing, and the first block is never handed out. */
constexpr std::uint64_t least_lent = 2 * block_size;

/**
 * The nodes that lend more than that, and can be asked; or only @p which of them. Nodes that were started a moment ago
 * are still joining, so this waits for the first one, and for all that are joining, but no longer than @p patience.
 * Empty if there is none, or if @p joined is no member any more.
 */
std::vector<NodeId> await_lenders(
	JoinedNode &joined, std::chrono::milliseconds patience, std::optional<NodeId> which = {});

} // namespace prism::gam
