/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <cstdint>

#include "../net/packet.hpp"
#include "base/clock.hpp"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace prism::soft
{

/**
 * CLOCK_MONOTONIC for loops that read it without a pause. Reading the clock takes as long as a turn of such a loop, the
 * processor's counter a fifth of that. So a reading is used again until the counter has moved on by about a
 * microsecond. Threads may share a clock; their readings may differ by that much.
 */
class RecentClock
{
public:
	/** Returns a time that was right within the last microsecond. */
	[[nodiscard]] Time now()
	{
		const std::uint64_t ticks = counter();
		const std::uint64_t passed = ticks - ticks_.load(std::memory_order_acquire);
		if (ticks && passed < microsecond())
			return time_.load(std::memory_order_relaxed);
		const Time time = monotonic_ns();
		time_.store(time, std::memory_order_relaxed);
		ticks_.store(ticks, std::memory_order_release); /* who reads it reads a time as late, or later */
		return time;
	}

private:
#if defined(__x86_64__)
	static std::uint64_t counter()
	{
		return __rdtsc();
	}
	/* Every such processor counts at 1 GHz or faster. */
	static std::uint64_t microsecond()
	{
		return 1000;
	}
#elif defined(__aarch64__)
	static std::uint64_t counter()
	{
		std::uint64_t ticks;
		asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
	static std::uint64_t microsecond()
	{
		std::uint64_t frequency;
		asm("mrs %0, cntfrq_el0" : "=r"(frequency));
		return frequency / 1'000'000;
	}
#else
	static std::uint64_t counter()
	{
		return 0;
	}
	static std::uint64_t microsecond()
	{
		return 0;
	}
#endif

	std::atomic<Time> time_{0};
	std::atomic<std::uint64_t> ticks_{0};
};

} // namespace prism::soft
