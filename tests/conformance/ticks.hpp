/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Ticks of the kernel's timer, for readers of counters that the kernel caches for the rest of a tick. */
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace prism::test::ticks
{

/** Returns the time of the last tick: this clock stands still between ticks. */
inline std::chrono::nanoseconds now()
{
	timespec at{};
	clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
	return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
}

/** Waits until a later tick than that of @p then has begun. The clock moves a moment after the kernel's count of ticks,
 * so its first move may still belong to the same tick. */
inline void await_another(std::chrono::nanoseconds then)
{
	timespec tick{};
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	const std::chrono::nanoseconds length(tick.tv_nsec);
	while (now() < then + 2 * length)
		std::this_thread::sleep_for(length / 4);
}

} // namespace prism::test::ticks
