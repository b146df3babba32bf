/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

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
 * not have heard of the last) and whether it is allocated.
 */
class Newest
{
public:
	void add(const Entry &entry)
	{
		Places &places = of(entry);
		const Place place{entry.kind == EntryKind::allocation ? 0 : entry.counter, entry.order, entry.sequence};
		places.latest = entry.sequence;
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
		/* A free need not be kept if no entry says that the block is allocated. */
		if (entry.kind == EntryKind::allocation && !entry.counter && places.latest == entry.sequence)
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
		std::uint64_t latest = 0; /* sequence of the last one added */
	};

	Places &of(const Entry &entry) { return places_[static_cast<std::size_t>(entry.kind)][entry.block]; }

	std::array<std::unordered_map<Address, Places>, 4> places_;
};

} // namespace prism::gam
