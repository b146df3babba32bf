/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Is a history what its transactions do one after the other, in the order of their timestamps? */
#pragma once

#include <cstdint>

#include "findings.hpp"
#include "index.hpp"

namespace prism::serializability
{

struct ReplayResult {
	std::uint64_t replayed = 0; /**< in the order of their timestamps; 0: no transaction has one */
	/** Writers without a timestamp that were replayed just before somebody needed them. */
	std::uint64_t placed = 0;
	std::uint64_t unplaced = 0; /**< such writers that nobody needed */
	/** Committed transactions that only read and have no timestamp: each needs some moment at which all holds. */
	std::uint64_t readers = 0;
	std::uint64_t skipped = 0; /**< of these: have read what a writer without a timestamp wrote, not checked */
};

/**
 * Replays what took effect, and adds to @p findings every read that differs, every timestamp that occurs twice, and
 * every client whose timestamps do not grow.
 */
ReplayResult replay(const Index &index, Findings &findings);

/**
 * Adds every committed transaction that has read all keys of a history of registers, whose balances do not sum up to
 * @p total. A bank that is not open yet, all accounts absent, is none of them.
 * @return how many have read all keys
 */
std::uint64_t check_bank(const Index &index, std::uint64_t total, Findings &findings);

} // namespace prism::serializability
