/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The compare-and-swaps of an entry: each step of the protocol is one of these, in one round trip. */
#pragma once

#include <prism/chain.hpp>

#include <cstdint>

#include "gam/latch/layout.hpp"

namespace prism::gam::latch
{

/** As writer and waiter have it; no_node is nobody. */
constexpr std::uint16_t mark(NodeId node) noexcept
{
	return node == no_node ? std::uint16_t{0} : static_cast<std::uint16_t>(node + 1);
}
constexpr NodeId node_of(std::uint16_t mark) noexcept
{
	return mark ? static_cast<NodeId>(mark - 1) : no_node;
}

/** Whether a node wrote the marks of @p entry, or somebody nonsense. */
constexpr bool is_sound(const Entry &entry) noexcept
{
	return entry.writer <= max_nodes && entry.waiter <= max_nodes;
}

/** Nobody writes, and nobody but @p me, who has set it, is `waiter`: set the bit of @p me, and take the waiter off. */
Cas fetch(NodeId me, bool am_waiter) noexcept;
/** The same; @p me is writer. The sharers stay. */
Cas claim(NodeId me, bool am_waiter) noexcept;
/** Changes nothing: nobody writes. */
Cas peek() noexcept;
/** Nobody waits: @p me does. */
Cas wait(NodeId me) noexcept;
/** @p me is writer: store the pointer, which is loaded. */
Cas write_back(NodeId me) noexcept;
/** The same, if the waiter is @p waiter: and there is no writer, nor a sharer. The waiter stays, unless it is @p me. */
Cas write_back_and_leave(NodeId me, NodeId waiter) noexcept;
/** @p me is writer and the waiter is @p waiter: they become @p next, @p sharers and @p next_waiter. */
Cas leave(NodeId me, NodeId waiter, NodeId next, std::uint64_t sharers, NodeId next_waiter) noexcept;
/** @p me is writer: nobody is. */
Cas undo(NodeId me) noexcept;
/** Whatever is there: the block is lent, or no longer. */
Cas lend(bool lent) noexcept;

/* A dead node leaves no trace: */
Cas sweep_writer(NodeId dead) noexcept;
Cas sweep_waiter(NodeId dead) noexcept;
Cas sweep_sharer(NodeId dead) noexcept;

} // namespace prism::gam::latch
