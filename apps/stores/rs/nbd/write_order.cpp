/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "write_order.hpp"

#include <algorithm>

namespace prism::rs
{

namespace
{

/** Returns true if @p a changes a part of a block that @p b changes. */
bool disturbs(const Extent &a, const Extent &b)
{
	return (a.first_in_part && b.has(a.first)) || (a.last_in_part && b.has(a.last));
}

} // namespace

/** Returns true if no earlier write has to end first. As all wait only for earlier ones, none waits for ever. */
bool WriteOrder::first_of_its_blocks(std::list<Extent>::const_iterator extent) const noexcept
{
	return std::none_of(extents_.begin(), extent,
		[&extent](const Extent &earlier) { return disturbs(earlier, *extent) || disturbs(*extent, earlier); });
}

WriteOrder::Turn::Turn(WriteOrder &order, const Extent &extent) : order_(order)
{
	std::unique_lock lock(order_.lock_);
	mine_ = order_.extents_.insert(order_.extents_.end(), extent);
	order_.ended_.wait(lock, [this] { return order_.first_of_its_blocks(mine_); });
}

WriteOrder::Turn::~Turn()
{
	const std::lock_guard lock(order_.lock_);
	order_.extents_.erase(mine_);
	order_.ended_.notify_all();
}

} // namespace prism::rs
