/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The use of a client for one thread at a time by several threads. */
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace prism::capi
{

using SteadyClock = std::chrono::steady_clock;
using Deadline = SteadyClock::time_point;

inline Deadline deadline_in(std::chrono::milliseconds time) noexcept
{
	return SteadyClock::now() + time;
}

/**
 * Polls under @p lock until @p done() returns true, or until @p deadline; returns the last result of done(). Other
 * threads take turns in between, and each turn polls for all of them. A long wait does not occupy a core.
 */
template <typename Poll, typename Done>
bool wait_until(std::mutex &lock, Deadline deadline, const Poll &poll, const Done &done)
{
	constexpr std::chrono::milliseconds short_wait{1};
	constexpr std::chrono::microseconds pause{50};
	for (const Deadline began = SteadyClock::now();;) {
		{
			const std::lock_guard guard(lock);
			if (done())
				return true;
			poll();
			if (done())
				return true;
		}
		const Deadline now = SteadyClock::now();
		if (now >= deadline)
			return false;
		if (now - began > short_wait)
			std::this_thread::sleep_for(pause);
	}
}

/** Calls a function ten times a second, from its own thread, until it is destroyed: servers want answers. */
class Keeper
{
public:
	explicit Keeper(std::function<void()> poll_);

private:
	static constexpr std::chrono::milliseconds interval{100};

	void run(const std::stop_token &stop);

	const std::function<void()> poll_;
	std::mutex lock_;
	std::condition_variable_any changed_;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::capi
