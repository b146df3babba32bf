/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/one_sided/entry.hpp"

#include <bit>
#include <cstring>

namespace prism::gam::latch
{

namespace
{

static_assert(std::endian::native == std::endian::little, "an entry's words are little-endian");

constexpr std::uint16_t whole = 0xffff;

Entry pointer_mask() noexcept
{
	Entry mask;
	mask.value = {~std::uint64_t{0}, ~std::uint32_t{0}, ~std::uint32_t{0}};
	return mask;
}

/* The values of a CAS, each with the mask of bits that count. */
struct Operands {
	Entry compare, compared, swap, swapped;

	[[nodiscard]] Cas cas() const noexcept
	{
		Cas made = Cas::bytes(CasMode::equal, compare, swap);
		std::memcpy(made.compare_mask.data(), &compared, sizeof(compared));
		std::memcpy(made.swap_mask.data(), &swapped, sizeof(swapped));
		return made;
	}
};

/* Requires that the block is lent, and free for @p me, which may be its waiter */
Operands acquire(NodeId me, bool am_waiter) noexcept
{
	Operands all;
	all.compare.flags = all.compared.flags = entry_lent;
	all.compared.writer = all.compared.waiter = whole;
	all.compare.waiter = am_waiter ? mark(me) : std::uint16_t{0};
	all.swapped.waiter = whole;
	return all;
}

Operands of_writer(NodeId me) noexcept
{
	Operands all;
	all.compare.writer = mark(me);
	all.compared.writer = whole;
	return all;
}

} // namespace

Cas fetch(NodeId me, bool am_waiter) noexcept
{
	Operands all = acquire(me, am_waiter);
	all.swap.sharers = all.swapped.sharers = bit(me);
	return all.cas();
}

Cas claim(NodeId me, bool am_waiter) noexcept
{
	Operands all = acquire(me, am_waiter);
	all.swap.writer = mark(me);
	all.swapped.writer = whole;
	return all.cas();
}

Cas peek() noexcept
{
	Operands all;
	all.compare.flags = all.compared.flags = entry_lent;
	all.compared.writer = whole;
	return all.cas();
}

Cas wait(NodeId me) noexcept
{
	Operands all;
	all.compared.waiter = all.swapped.waiter = whole;
	all.swap.waiter = mark(me);
	return all.cas();
}

Cas write_back(NodeId me) noexcept
{
	Operands all = of_writer(me);
	all.swapped = pointer_mask();
	return all.cas();
}

Cas write_back_and_leave(NodeId me, NodeId waiter) noexcept
{
	Operands all = of_writer(me);
	all.compare.waiter = mark(waiter);
	all.compared.waiter = whole;
	all.swapped = pointer_mask();
	all.swapped.writer = whole;
	all.swapped.waiter = waiter == me ? whole : std::uint16_t{0};
	all.swapped.sharers = ~std::uint64_t{0};
	return all.cas();
}

Cas leave(NodeId me, NodeId waiter, NodeId next, std::uint64_t sharers, NodeId next_waiter) noexcept
{
	Operands all = of_writer(me);
	all.compare.waiter = mark(waiter);
	all.compared.waiter = whole;
	all.swap.writer = mark(next);
	all.swap.waiter = mark(next_waiter);
	all.swap.sharers = sharers;
	all.swapped.writer = all.swapped.waiter = whole;
	all.swapped.sharers = ~std::uint64_t{0};
	return all.cas();
}

Cas undo(NodeId me) noexcept
{
	Operands all = of_writer(me);
	all.swapped.writer = whole;
	return all.cas();
}

Cas lend(bool lent) noexcept
{
	Operands all;
	all.swap.flags = lent ? entry_lent : 0;
	all.swapped.flags = entry_lent;
	return all.cas();
}

Cas sweep_writer(NodeId dead) noexcept
{
	return undo(dead);
}

Cas sweep_waiter(NodeId dead) noexcept
{
	Operands all;
	all.compare.waiter = mark(dead);
	all.compared.waiter = all.swapped.waiter = whole;
	return all.cas();
}

Cas sweep_sharer(NodeId dead) noexcept
{
	Operands all;
	all.swapped.sharers = bit(dead);
	return all.cas();
}

} // namespace prism::gam::latch
