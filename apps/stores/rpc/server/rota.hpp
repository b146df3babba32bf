/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The connections at which a worker looks for calls, turn by turn. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace prism::rpc
{

/**
 * Schedule of looks. A look at a connection loads cache lines that the device writes, so it costs most if there is
 * nothing to see. Connections with a recent call have a look in every turn; of the others only some, in rotation, so
 * that a thousand idle clients hardly slow down an active one.
 */
template <typename Connection>
class Rota
{
public:
	static constexpr std::size_t some = 8;          /* idle connections that have a look in a turn */
	static constexpr std::uint32_t patience = 4096; /* turns without a call until a connection is idle:
							 * milliseconds */

	/** @p most: most connections. Nothing is allocated later. */
	explicit Rota(std::size_t most)
	{
		busy_.reserve(most);
		idle_.reserve(most);
	}

	void add(Connection &connection) { busy_.push_back({&connection, turn_}); }
	void remove(const Connection &connection) noexcept
	{
		for (std::vector<Place> *places : {&busy_, &idle_})
			std::erase_if(*places, [&](const Place &place) { return place.connection == &connection; });
	}

	/**
	 * Looks at connections; returns true if any look found something. @p everybody: looks at all of them in this
	 * turn.
	 */
	template <typename Look>
	bool turn(Look look, bool everybody)
	{
		turn_++;
		bool found = false;
		for (std::size_t i = 0; i < busy_.size();) {
			if (look(*busy_[i].connection)) {
				found = true;
				busy_[i].found = turn_;
			} else if (turn_ - busy_[i].found > patience) {
				move(busy_, i, idle_);
				continue;
			}
			i++;
		}
		for (std::size_t looks = everybody ? idle_.size() : std::min(some, idle_.size()); looks > 0; looks--) {
			if (next_ >= idle_.size())
				next_ = 0;
			if (!look(*idle_[next_].connection)) {
				next_++;
				continue;
			}
			found = true;
			idle_[next_].found = turn_;
			move(idle_, next_, busy_);
		}
		return found;
	}

private:
	struct Place {
		Connection *connection;
		std::uint32_t found; /* the last turn in which something was found */
	};

	static void move(std::vector<Place> &from, std::size_t index, std::vector<Place> &to)
	{
		to.push_back(from[index]);
		from[index] = from.back();
		from.pop_back();
	}

	std::vector<Place> busy_;
	std::vector<Place> idle_;
	std::size_t next_ = 0; /* index of the next idle one */
	std::uint32_t turn_ = 0;
};

} // namespace prism::rpc
