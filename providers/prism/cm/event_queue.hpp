/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The events of a channel, in their order. An owner's are found without a look at the others'. */
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
	[[nodiscard]] bool empty() const { return events.empty(); }
	[[nodiscard]] std::size_t size() const { return events.size(); }

	/** Without memory nothing has been pushed. */
	void push(const Owner &owner, Event event)
	{
		const auto number = numbers.insert({owner, next}).first;
		try {
			events.emplace(next, Entry{owner, std::move(event)});
		} catch (...) {
			numbers.erase(number);
			throw;
		}
		next++;
	}

	/** The oldest; there must be one. */
	Event pop() { return remove(events.begin()); }

	/**
	 * Those of @p owner that @p chosen says, in their order; they are no longer in the queue. Without memory all
	 * are still in it.
	 */
	template <typename Chosen>
	std::vector<Event> take(const Owner &owner, const Chosen &chosen)
	{
		const auto first = numbers.lower_bound({owner, 0}), last = numbers.upper_bound({owner, next});
		std::vector<Event> taken;
		taken.reserve(static_cast<std::size_t>(std::distance(first, last)));
		for (auto number = first; number != last;) {
			const auto event = events.find((number++)->second);
			visited++;
			if (chosen(event->second.event))
				taken.push_back(remove(event));
		}
		return taken;
	}

	/** How many events have been looked at since the beginning. Tests count what a call costs. */
	[[nodiscard]] std::uint64_t visits() const { return visited; }

private:
	struct Entry {
		Owner owner;
		Event event;
	};
	using Events = std::map<std::uint64_t, Entry>;

	Event remove(typename Events::iterator at)
	{
		numbers.erase({at->second.owner, at->first});
		Event event = std::move(at->second.event);
		events.erase(at);
		return event;
	}

	Events events;
	std::set<std::pair<Owner, std::uint64_t>> numbers; /* an owner's are neighbours */
	std::uint64_t next = 0;
	std::uint64_t visited = 0;
};

} // namespace prism::cm
