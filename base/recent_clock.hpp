/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace prism
{

/**
 * The steady clock, for loops that read it without a pause. To read that one takes 20 to 50 ns, the processor's counter
 * a fifth. So a thread's last reading is used again until the counter has moved on by a microsecond.
 */
class RecentClock
{
public:
	/** Returns a time that was right within the last microsecond. Thread-safe; readings of two threads may differ
	 * by that much. */
	[[nodiscard]] static std::chrono::steady_clock::time_point now() noexcept
	{
		const std::uint64_t ticks = counter();
		if (ticks - last_.ticks >= microsecond())
			last_ = {ticks, std::chrono::steady_clock::now()};
		return last_.time;
	}

private:
#if defined(__x86_64__)
	static std::uint64_t counter() noexcept
	{
		return __rdtsc();
	}
	/* Every such processor counts at 1 GHz or faster. */
	static std::uint64_t microsecond() noexcept
	{
		return 1000;
	}
#elif defined(__aarch64__)
	static std::uint64_t counter() noexcept
	{
		std::uint64_t ticks;
		asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
	static std::uint64_t microsecond() noexcept
	{
		std::uint64_t frequency;
		asm("mrs %0, cntfrq_el0" : "=r"(frequency));
		return frequency / 1'000'000;
	}
#else
	static std::uint64_t counter() noexcept
	{
		return 0;
	}
	static std::uint64_t microsecond() noexcept
	{
		return 0;
	}
#endif

	struct Reading {
		std::uint64_t ticks;
		std::chrono::steady_clock::time_point time;
	};

	/* 16 bytes of the static storage that shared libraries may use: the data path must not call for its address. */
	[[gnu::tls_model("initial-exec")]] static inline thread_local Reading last_{};
};

/** Returns the same in ns, as monotonic_ns(). */
[[nodiscard]] inline std::uint64_t recent_ns() noexcept
{
	return static_cast<std::uint64_t>(RecentClock::now().time_since_epoch().count());
}

} // namespace prism
