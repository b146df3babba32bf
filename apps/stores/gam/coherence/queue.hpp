/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <chrono>

#include "gam/coherence/access.hpp"

namespace prism::gam
{

/** A FIFO linked through Access::next, so an access is in one queue at most. Owns no access. */
class AccessQueue
{
public:
	[[nodiscard]] bool empty() const noexcept { return !first_; }
	[[nodiscard]] Access &front() const noexcept { return *first_; }

	void push(Access &access) noexcept
	{
		access.next = nullptr;
		*end() = &access;
		last_ = &access;
	}

	void push_front(Access &access) noexcept
	{
		access.next = first_;
		if (!first_)
			last_ = &access;
		first_ = &access;
	}

	Access &pop() noexcept
	{
		Access &access = *first_;
		first_ = access.next;
		access.next = nullptr;
		return access;
	}

	/** Removes all accesses for which @p leaves returns true; they are in no queue while it is called. */
	template <typename Leaves>
	void remove_if(Leaves leaves)
	{
		AccessQueue all = *this;
		*this = {};
		while (!all.empty()) {
			Access &access = all.pop();
			if (!leaves(access))
				push(access);
		}
	}

	/**
	 * Moves all accesses that wait for room no longer than until @p now, in order, to @p over. Returns the time at
	 * which the first of the others does.
	 */
	std::chrono::nanoseconds remove_overdue(std::chrono::nanoseconds now, AccessQueue &over) noexcept
	{
		auto next = std::chrono::nanoseconds::max();
		remove_if([&](Access &access) {
			const bool is_overdue = access.room_until <= now;
			if (is_overdue)
				over.push(access);
			else
				next = std::min(next, access.room_until);
			return is_overdue;
		});
		return next;
	}

private:
	[[nodiscard]] Access **end() noexcept { return first_ ? &last_->next : &first_; }

	Access *first_ = nullptr;
	Access *last_ = nullptr; /* valid if first_ is set */
};

} // namespace prism::gam
