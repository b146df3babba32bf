/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The state that all clients of a run share: the clock, the network, the server's threads, and the counters. */
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "bench/rpc/model/events.hpp"
#include "bench/rpc/model/network.hpp"
#include "bench/rpc/model/parameters.hpp"

namespace prism::rpc::model
{

/** Counts of the calls that ended after the warm-up. */
struct Counts {
	std::vector<Time> latencies;
	std::uint64_t reads = 0;
	std::uint64_t failed_fetches = 0;
	std::uint64_t in_reply_mode = 0;
};

struct World {
	explicit World(const Parameters &given);

	/** Draws the server's time for a call. */
	[[nodiscard]] Time work();
	/** Draws the bytes of payload of a call's answer. */
	[[nodiscard]] std::uint32_t size();
	/** Draws a number from 0 to 1. */
	[[nodiscard]] double random() { return static_cast<double>(generator() >> 11) * 0x1p-53; }
	void ended(Time posted);
	void read_failed() { counts.failed_fetches += measuring(); }
	[[nodiscard]] bool measuring() const { return events.now() >= parameters.warm_up; }

	const Parameters &parameters;
	Events events;
	Network network;
	Processor processor;
	Counts counts;
	std::mt19937_64 generator;
};

} // namespace prism::rpc::model
