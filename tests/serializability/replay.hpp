/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Replay of a history: compares it with its transactions run one after the other, in the order of their timestamps. */
#pragma once

#include <cstdint>

#include "findings.hpp"
#include "index.hpp"

namespace prism::serializability
{

struct ReplayResult {
	std::uint64_t replayed = 0; /**< in the order of their timestamps; 0: no transaction has one */
	/** Writers without a timestamp that were replayed just before another transaction needed them. */
	std::uint64_t placed = 0;
	std::uint64_t unplaced = 0; /**< such writers that no transaction needed */
	/**
	 * Committed transactions that only read and have no timestamp: each needs a moment at which all its reads hold.
	 */
	std::uint64_t readers = 0;
	std::uint64_t skipped = 0; /**< of these: have read a value of a writer without a timestamp, not checked */
};

/**
 * Replays the transactions that took effect, and adds every read that differs, every timestamp that occurs twice, and
 * every client whose timestamps do not grow to @p findings.
 */
ReplayResult replay(const Index &index, Findings &findings);

/**
 * Adds every committed transaction that has read all keys of a history of registers, if the balances do not sum up to
 * @p total. Skips a bank that is not open yet, with all accounts absent.
 * @return the number of transactions that have read all keys
 */
std::uint64_t check_bank(const Index &index, std::uint64_t total, Findings &findings);

} // namespace prism::serializability
