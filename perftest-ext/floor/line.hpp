/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Time of a cache line from one processor to another: no exchange by shared memory can be faster. It tells processors
 * that share a cache from others, which virtual machines may change while they run.
 */
#pragma once

#include <cstdint>

namespace prism::floor
{

/**
 * Measures two threads that hand one line to and fro, on the first two processors that this process may use.
 * @return nanoseconds one way, the median of several tries of @p rounds each Throws std::runtime_error if there are not
 * two.
 */
double measure_line(std::uint32_t rounds);

} // namespace prism::floor
