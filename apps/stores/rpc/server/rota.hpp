/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* At which connections a worker looks for calls, turn by turn. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace prism::rpc
{

/**
 * A look at a connection takes cache lines that the device writes, so it costs most where there is nothing to see.
 * Connections with a recent call have a look in every turn; of the others some do, one after the other, so that a
 * thousand idle clients hardly slow down one that calls.
 */
template <typename Connection>
class Rota
{
public:
	static constexpr std::size_t some = 8;          /* of the idle ones have a look in a turn */
	static constexpr std::uint32_t patience = 4096; /* turns without a call after which one is idle: milliseconds */

	/** @p most: connections that there can be. Nothing is allocated later. */
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

	/** Whether any of the looks found something. @p everybody: none waits for a later turn. */
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
		std::uint32_t found; /* the last turn in which there was something */
	};

	static void move(std::vector<Place> &from, std::size_t index, std::vector<Place> &to)
	{
		to.push_back(from[index]);
		from[index] = from.back();
		from.pop_back();
	}

	std::vector<Place> busy_;
	std::vector<Place> idle_;
	std::size_t next_ = 0; /* among the idle */
	std::uint32_t turn_ = 0;
};

} // namespace prism::rpc
