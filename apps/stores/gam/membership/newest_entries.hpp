/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "gam/membership/log_entry.hpp"

namespace prism::gam
{

/**
 * The entries of a log that recovery may need: for each block the last value, the last two transfers (the new owner may
 * not have heard of the last) and what is allocated in it.
 */
class Newest
{
public:
	void add(const Entry &entry)
	{
		Places &places = of(entry);
		const Place place{is_allocation(entry) ? 0 : entry.counter, entry.order, entry.sequence};
		if (is_allocation(entry))
			blocks_[entry.block.block()].add(entry);
		/* An equal one is a copy: compaction was killed, or copied while a newer one was appended. */
		if (place == places.last)
			places.last = place;
		else if (places.last < place)
			places.before = std::exchange(places.last, place);
		else if (!(place < places.before))
			places.before = place;
	}

	/** Returns true if @p entry, which was added, is needed. Of copies, only the last one added is. */
	[[nodiscard]] bool has(const Entry &entry)
	{
		const Places &places = of(entry);
		if (is_allocation(entry) && !blocks_[entry.block.block()].needs(entry))
			return false;
		return entry.sequence == places.last.sequence ||
		       (entry.kind == EntryKind::transfer && entry.sequence == places.before.sequence);
	}

private:
	struct Place {
		std::uint64_t counter = 0;
		std::uint64_t order = 0;
		std::uint64_t sequence = 0;

		friend bool operator==(const Place &a, const Place &b) noexcept
		{
			return a.counter == b.counter && a.order == b.order;
		}
		friend bool operator<(const Place &a, const Place &b) noexcept
		{
			return std::pair(a.counter, a.order) < std::pair(b.counter, b.order);
		}
	};
	struct Places {
		Place last;
		Place before;
	};
	/* The allocations in a block */
	struct Block {
		std::uint64_t latest = 0; /* sequence of the last entry added */
		std::uint64_t whole = 0;  /* order of the last one that tells of all the block */

		void add(const Entry &entry)
		{
			latest = entry.sequence;
			if (entry.kind == EntryKind::allocation)
				whole = std::max(whole, entry.order);
		}
		[[nodiscard]] bool needs(const Entry &entry) const
		{
			const bool is_overtaken = entry.kind == EntryKind::piece && entry.order < whole;
			/* A free need not be kept if no entry says that something is allocated there. */
			return !is_overtaken && !(entry.frees() && entry.sequence == latest);
		}
	};

	static bool is_allocation(const Entry &entry) noexcept
	{
		return entry.kind == EntryKind::piece || entry.kind == EntryKind::allocation;
	}
	Places &of(const Entry &entry)
	{
		const EntryKind kind = is_allocation(entry) ? EntryKind::allocation : entry.kind;
		return places_[static_cast<std::size_t>(kind)][entry.block];
	}

	std::array<std::unordered_map<Address, Places>, 5> places_;
	std::unordered_map<Address, Block> blocks_;
};

} // namespace prism::gam
