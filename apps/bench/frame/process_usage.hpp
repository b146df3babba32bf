/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a process has used: its processor time, all threads together, and its memory. */
#pragma once

#include <cstdint>

namespace prism::bench
{

struct ProcessUsage {
	std::uint64_t user = 0;      /**< ns */
	std::uint64_t system = 0;    /**< ns */
	std::uint64_t resident = 0;  /**< bytes: VmRSS */
	std::uint64_t peak = 0;      /**< bytes: VmHWM */
	std::uint64_t allocated = 0; /**< bytes that are its own, touched or not: VmData */
	/** Bytes that it has touched: Pss, which counts a page once that it has mapped twice, and half of one that it
	 * shares with another process. */
	std::uint64_t touched = 0;
};

/** Of the calling process. What cannot be read is 0. Any thread. */
[[nodiscard]] ProcessUsage usage_of_process();

} // namespace prism::bench
