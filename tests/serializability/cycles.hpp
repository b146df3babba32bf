/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Decides if the transactions of a history can have happened one after the other, from what they have seen of each
 * other, as Elle does (Kingsbury and Alvaro, VLDB 2020), without any timestamps.
 */
#pragma once

#include <cstdint>

#include "findings.hpp"
#include "index.hpp"

namespace prism::serializability
{

struct CycleOptions {
	bool sessions = true;       /**< a client's transactions in their order */
	bool real_time = false;     /**< a response before a later invocation: strict serializability */
	std::size_t witnesses = 50; /**< components whose cycles are shown; others are only counted */
};

struct CycleResult {
	std::uint64_t transactions = 0; /**< that took effect */
	std::uint64_t edges = 0;
	std::uint64_t components = 0; /**< with a cycle */
	std::uint64_t largest = 0;    /**< transactions in one of them */
};

/** Adds everything that no order of the transactions explains to @p findings. */
CycleResult check_cycles(const Index &index, const CycleOptions &options, Findings &findings);

} // namespace prism::serializability
