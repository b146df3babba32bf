/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A clock that jumps from event to event. The same events in the same order give the same run. */
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace prism::apps
{

/** @tparam Time since the beginning, in any unit; Time() is the beginning */
template <typename Time>
class Events
{
public:
	[[nodiscard]] Time now() const noexcept { return now_; }

	/**
	 * Schedules @p what at @p when, which has not passed. Events of one time happen in the order of these calls.
	 */
	void at(Time when, std::function<void()> what)
	{
		waiting_.push_back({std::max(when, now_), next_++, std::move(what)});
		std::push_heap(waiting_.begin(), waiting_.end(), later);
	}

	/** Runs the next event. Returns false if none is left. */
	bool step()
	{
		if (waiting_.empty())
			return false;
		std::pop_heap(waiting_.begin(), waiting_.end(), later);
		const Event event = std::move(waiting_.back());
		waiting_.pop_back();
		now_ = event.when;
		event.what();
		return true;
	}

	/** Runs events until the clock is at @p end, or none is left. */
	void run(Time end)
	{
		while (!waiting_.empty() && waiting_.front().when < end)
			step();
		now_ = end;
	}

private:
	struct Event {
		Time when{};
		std::uint64_t number = 0;
		std::function<void()> what;
	};

	static bool later(const Event &one, const Event &other) noexcept
	{
		return one.when != other.when ? one.when > other.when : one.number > other.number;
	}

	std::vector<Event> waiting_; /* a heap, the next in front */
	std::uint64_t next_ = 0;
	Time now_{};
};

/** A server that serves requests one after the other, in the order of arrival. */
template <typename Time>
class Server
{
public:
	/** Serves a request that arrives at @p time and takes @p service. Returns the time of its end. */
	Time serve(Time time, Time service) noexcept
	{
		busy_ += service;
		return free_ = std::max(time, free_) + service;
	}
	/** Returns the time that it has served until @p now. */
	[[nodiscard]] Time busy(Time now) const noexcept { return busy_ - std::max(Time(), free_ - now); }

private:
	Time free_{};
	Time busy_{};
};

/** Threads that take tasks from one queue. */
template <typename Time>
class Processor
{
public:
	/** Ends a task, and returns how much longer it keeps its thread. */
	using Work = std::function<Time()>;

	/** @p events outlives it. */
	explicit Processor(Events<Time> &events, unsigned threads = 1) : events_(events), idle_(threads) {}

	/** Queues a task: @p begun is called when a thread takes it, @p work after the time @p cost. */
	void submit(
		Time cost, Work work, std::function<void()> begun = [] {})
	{
		queue_.push_back({cost, std::move(work), std::move(begun)});
		begin();
	}
	/** Returns the time of all tasks that were taken so far. */
	[[nodiscard]] Time busy() const noexcept { return busy_; }

private:
	struct Task {
		Time cost{};
		Work work;
		std::function<void()> begun;
	};

	void begin()
	{
		while (idle_ && !queue_.empty()) {
			Task task = std::move(queue_.front());
			queue_.pop_front();
			idle_--;
			busy_ += task.cost;
			task.begun();
			events_.at(events_.now() + task.cost, [this, work = std::move(task.work)] { end(work()); });
		}
	}
	void end(Time longer)
	{
		busy_ += longer;
		events_.at(events_.now() + longer, [this] {
			idle_++;
			begin();
		});
	}

	Events<Time> &events_;
	unsigned idle_;
	std::deque<Task> queue_;
	Time busy_{};
};

} // namespace prism::apps
