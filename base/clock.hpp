/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* CLOCK_MONOTONIC, which all processes of a host share. */
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace prism
{

/** Returns the time of the clock. */
[[nodiscard]] inline std::chrono::nanoseconds monotonic_time() noexcept
{
	return std::chrono::steady_clock::now().time_since_epoch();
}

/** Returns the same in ns. */
[[nodiscard]] inline std::uint64_t monotonic_ns() noexcept
{
	return static_cast<std::uint64_t>(monotonic_time().count());
}

/** Returns the time until @p deadline, rounded up: from 0 to 12 days, so that poll(2) can wait for it. */
[[nodiscard]] inline std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point deadline) noexcept
{
	using std::chrono::milliseconds;
	return std::clamp(std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()), milliseconds(0),
		milliseconds(1 << 30));
}

} // namespace prism
