/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The time that a run is measured with. */
#pragma once

#include <cstdint>

namespace prism::bench
{

/** Nanoseconds since some moment. Tests have their own. now() of one object is called by many threads. */
class Clock
{
public:
	virtual ~Clock() = default;
	[[nodiscard]] virtual std::uint64_t now() const noexcept = 0;
};

/** CLOCK_MONOTONIC, which all processes of a host share. */
[[nodiscard]] const Clock &monotonic_clock() noexcept;

} // namespace prism::bench
