/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The events of a channel, in their order. An owner's are found without a look at the others'. */
#pragma once

#include <cstdint>
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

	void push(const Owner &owner, Event event)
	{
		events.emplace(next, Entry{owner, std::move(event)});
		numbers[owner].insert(next++);
	}

	/** The oldest; there must be one. */
	Event pop() { return remove(events.begin()); }

	/** Those of @p owner that @p chosen says, in their order; they are no longer in the queue. */
	template <typename Chosen>
	std::vector<Event> take(const Owner &owner, const Chosen &chosen)
	{
		std::vector<Event> taken;
		const auto found = numbers.find(owner);
		if (found == numbers.end())
			return taken;
		for (const std::uint64_t number : std::set(found->second)) {
			const auto event = events.find(number);
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
		const auto owner = numbers.find(at->second.owner);
		owner->second.erase(at->first);
		if (owner->second.empty())
			numbers.erase(owner);
		Event event = std::move(at->second.event);
		events.erase(at);
		return event;
	}

	Events events;
	std::map<Owner, std::set<std::uint64_t>> numbers;
	std::uint64_t next = 0;
	std::uint64_t visited = 0;
};

} // namespace prism::cm
