/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The compare-and-swaps of an entry: each is a step of the protocol, in one round trip. */
#pragma once

#include <prism/chain.hpp>

#include <cstdint>

#include "gam/one_sided/layout.hpp"

namespace prism::gam::latch
{

/** Converts a node to the form of Entry::writer and waiter; no_node becomes 0. */
constexpr std::uint16_t mark(NodeId node) noexcept
{
	return node == no_node ? std::uint16_t{0} : static_cast<std::uint16_t>(node + 1);
}
constexpr NodeId node_of(std::uint16_t mark) noexcept
{
	return mark ? static_cast<NodeId>(mark - 1) : no_node;
}

/** Returns true if the writer and waiter of @p entry are possible; otherwise a node has written nonsense. */
constexpr bool is_sound(const Entry &entry) noexcept
{
	return entry.writer <= max_nodes && entry.waiter <= max_nodes;
}

/**
 * If there is no writer, and no waiter except @p me (@p am_waiter): sets the sharer bit of @p me and clears the waiter.
 */
Cas fetch(NodeId me, bool am_waiter) noexcept;
/** Makes @p me the writer under the same conditions. The sharers stay. */
Cas claim(NodeId me, bool am_waiter) noexcept;
/** Checks that there is no writer; changes nothing. */
Cas peek() noexcept;
/** If there is no waiter: makes @p me the waiter. */
Cas wait(NodeId me) noexcept;
/** If @p me is the writer: stores the pointer, which is loaded. */
Cas write_back(NodeId me) noexcept;
/**
 * Likewise, if the waiter is @p waiter; also clears the writer and the sharers. The waiter stays, unless it is @p me.
 */
Cas write_back_and_leave(NodeId me, NodeId waiter) noexcept;
/** If @p me is the writer and @p waiter the waiter: replaces them by @p next, @p sharers and @p next_waiter. */
Cas leave(NodeId me, NodeId waiter, NodeId next, std::uint64_t sharers, NodeId next_waiter) noexcept;
/** If @p me is the writer: clears the writer. */
Cas undo(NodeId me) noexcept;
/** Unconditionally marks the block as lent, or as no longer lent. */
Cas lend(bool lent) noexcept;

/* Remove a dead node from the entry: */
Cas sweep_writer(NodeId dead) noexcept;
Cas sweep_waiter(NodeId dead) noexcept;
Cas sweep_sharer(NodeId dead) noexcept;

} // namespace prism::gam::latch
