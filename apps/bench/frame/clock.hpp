/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The clock of a run's measurements. */
#pragma once

#include <cstdint>

namespace prism::bench
{

/** Clock in nanoseconds since some moment. Tests have their own. Many threads call now() of one object. */
class Clock
{
public:
	virtual ~Clock() = default;
	[[nodiscard]] virtual std::uint64_t now() const noexcept = 0;
};

/** Returns CLOCK_MONOTONIC, which all processes of a host share. */
[[nodiscard]] const Clock &monotonic_clock() noexcept;

} // namespace prism::bench
