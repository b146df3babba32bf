/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The events of a channel, in their order. Finds an owner's events without looking at the others'. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace prism::cm
{

template <typename Owner, typename Event>
class EventQueue
{
public:
	[[nodiscard]] bool empty() const { return events_.empty(); }
	[[nodiscard]] std::size_t size() const { return events_.size(); }

	/** Adds an event. Throws std::bad_alloc, and has then added nothing. */
	void push(const Owner &owner, Event event)
	{
		const auto number = numbers_.insert({owner, next_}).first;
		try {
			events_.emplace(next_, Entry{owner, std::move(event)});
		} catch (...) {
			numbers_.erase(number);
			throw;
		}
		next_++;
	}

	/** Removes and returns the oldest; there must be one. */
	Event pop() { return remove(events_.begin()); }

	/**
	 * Removes the events of @p owner that @p chosen selects, and returns them in order. Throws std::bad_alloc, and
	 * has then removed none.
	 */
	template <typename Chosen>
	std::vector<Event> take(const Owner &owner, const Chosen &chosen)
	{
		const auto first = numbers_.lower_bound({owner, 0}), last = numbers_.upper_bound({owner, next_});
		std::vector<Event> taken;
		taken.reserve(static_cast<std::size_t>(std::distance(first, last)));
		for (auto number = first; number != last;) {
			const auto event = events_.find((number++)->second);
			visited_++;
			if (chosen(event->second.event))
				taken.push_back(remove(event));
		}
		return taken;
	}

	/** Number of events looked at since the beginning. Tests count the cost of a call by it. */
	[[nodiscard]] std::uint64_t visits() const { return visited_; }

private:
	struct Entry {
		Owner owner;
		Event event;
	};
	using Events = std::map<std::uint64_t, Entry>;

	Event remove(typename Events::iterator at)
	{
		numbers_.erase({at->second.owner, at->first});
		Event event = std::move(at->second.event);
		events_.erase(at);
		return event;
	}

	Events events_;
	std::set<std::pair<Owner, std::uint64_t>> numbers_; /* an owner's are adjacent */
	std::uint64_t next_ = 0;
	std::uint64_t visited_ = 0;
};

} // namespace prism::cm
