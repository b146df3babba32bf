/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The ticks of the kernel's timer, for those who read counters that the kernel keeps for the rest of a tick. */
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace prism::test::ticks
{

/** As of the last tick: a clock that stands still in between. */
inline std::chrono::nanoseconds now()
{
	timespec at{};
	clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
	return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
}

/** Until another tick has begun than the one of @p then. The clock moves a moment after the kernel's count of ticks, so
 * the first move may still be that of the same tick.
 */
inline void await_another(std::chrono::nanoseconds then)
{
	timespec tick{};
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	const std::chrono::nanoseconds length(tick.tv_nsec);
	while (now() < then + 2 * length)
		std::this_thread::sleep_for(length / 4);
}

} // namespace prism::test::ticks
