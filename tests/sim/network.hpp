/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A network in virtual time that loses, duplicates, delays and corrupts packets as determined by its seed. */
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "node.hpp"
#include "random.hpp"

namespace prism::test
{

/** Faults in percent of the packets. */
struct Faults {
	double loss = 5;
	double duplicate = 5;
	double reorder = 5;
	double corrupt = 1;
};

/** Durations of a packet's transfer, in nanoseconds. */
struct Delays {
	soft::Time latency = 5'000; /* one way */
	soft::Time jitter = 200;
	soft::Time longest_detour = 300'000; /* of one that is reordered, or of a duplicate */
};

class Network
{
public:
	/** Called for each packet as it arrives, before the engine gets it; returns false to drop the packet. */
	using Shim = std::function<bool(Node &node, std::vector<std::uint8_t> &packet)>;

	Network(std::vector<Node *> nodes, const Faults &faults, Random &random, const Delays &delays = {})
		: nodes_(std::move(nodes)), faults_(faults), delays_(delays), random_(random)
	{
	}

	void set_shim(Shim shim) { shim_ = std::move(shim); }

	/** Takes the packets that the engines have sent. */
	void collect(soft::Time now);
	/** Delivers the packets that have arrived by @p now. */
	void deliver(soft::Time now);
	/** Returns the time at which the next packet arrives; 0: none is under way. */
	[[nodiscard]] soft::Time next() const { return flying_.empty() ? 0 : flying_.top().at; }

	std::uint64_t sent = 0;
	std::uint64_t lost = 0;
	std::uint64_t bad_icrc = 0;

private:
	struct Flight {
		soft::Time at;
		std::uint64_t number; /* equal times in the order of sending */
		std::size_t from, to;
		std::vector<std::uint8_t> bytes;
		bool operator>(const Flight &other) const
		{
			return at != other.at ? at > other.at : number > other.number;
		}
	};

	void send(std::size_t from, const Packet &packet, soft::Time now);
	bool survives_corruption(std::size_t from, std::size_t to, std::vector<std::uint8_t> &bytes);

	std::vector<Node *> nodes_;
	const Faults faults_;
	const Delays delays_;
	Random &random_;
	Shim shim_;
	std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flying_;
	std::uint64_t numbers_ = 0;
	std::map<std::pair<std::size_t, std::size_t>, soft::Time> last_arrival_; /* in order, on each link */
};

} // namespace prism::test
