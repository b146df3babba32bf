/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Resources that a process has used: its processor time, of all threads together, and its memory. */
#pragma once

#include <cstdint>

namespace prism::bench
{

struct ProcessUsage {
	std::uint64_t user = 0;      /**< ns */
	std::uint64_t system = 0;    /**< ns */
	std::uint64_t resident = 0;  /**< bytes: VmRSS */
	std::uint64_t peak = 0;      /**< bytes: VmHWM */
	std::uint64_t allocated = 0; /**< bytes of its own, touched or not: VmData */
	/**
	 * Bytes that it has touched: Pss, which counts a page mapped twice only once, and a page shared with another
	 * process as half.
	 */
	std::uint64_t touched = 0;
};

/** Returns the usage of the calling process. Values that cannot be read are 0. Any thread. */
[[nodiscard]] ProcessUsage usage_of_process();

} // namespace prism::bench
