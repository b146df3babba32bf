/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The state that all clients of a run share: the clock, the network, the server's threads, and the counters. */
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "bench/rpc/model/events.hpp"
#include "bench/rpc/model/network.hpp"
#include "bench/rpc/model/parameters.hpp"

namespace prism::rpc::model
{

/** Threads that take work from one queue. */
class Processor
{
public:
	Processor(Events &events, unsigned threads) : events_(events), idle_(threads) {}

	/** Queues work: @p begun is called when a thread takes it, @p done after the time @p work. */
	void submit(Time work, std::function<void()> begun, std::function<void()> done)
	{
		queue_.push_back({work, std::move(begun), std::move(done)});
		begin();
	}

private:
	struct Task {
		Time work = 0;
		std::function<void()> begun;
		std::function<void()> done;
	};

	void begin()
	{
		while (idle_ && !queue_.empty()) {
			const Task task = std::move(queue_.front());
			queue_.pop_front();
			idle_--;
			task.begun();
			events_.at(events_.now() + task.work, [this, done = task.done] {
				idle_++;
				done();
				begin();
			});
		}
	}

	Events &events_;
	unsigned idle_;
	std::deque<Task> queue_;
};

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
