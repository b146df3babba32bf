/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The one way in which coroutines of a client wait: until they are resumed, or until a point in time. */
#pragma once

#include <chrono>
#include <coroutine>
#include <utility>

namespace prism::apps
{

using Time = std::chrono::nanoseconds; /* time of any monotonic clock */

/** The coroutine that waits here, if any. One at a time. */
struct Waiter {
	std::coroutine_handle<> handle;
	Time wake_at = Time::max(); /* unless it is resumed before */

	[[nodiscard]] bool waits() const noexcept { return static_cast<bool>(handle); }

	/** Resumes the coroutine, which may wait here again before this returns. Returns false if none waited. */
	bool resume() noexcept
	{
		if (!handle)
			return false;
		std::exchange(*this, {}).handle.resume();
		return true;
	}
};

/** co_await waits until the waiter is resumed, or the time has come. */
struct Event {
	Waiter &waiter;
	Time at = Time::max();
	bool happened = false; /* true if it has already happened: nothing to wait for */

	[[nodiscard]] bool await_ready() const noexcept { return happened; }
	void await_suspend(std::coroutine_handle<> handle) const noexcept { waiter = {handle, at}; }
	void await_resume() const noexcept {}
};

} // namespace prism::apps
