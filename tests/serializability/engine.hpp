/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Histories that are serializable by construction, and histories with one known fault. */
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history.hpp"

namespace prism::serializability
{

/** Error that the engine makes, once, in the middle of the history. */
enum class Fault {
	none,
	lost_update,        /**< two transactions overwrite what both have read */
	write_skew,         /**< two read two keys, and each overwrites one of them */
	dirty_read,         /**< one reads what an aborted one wrote */
	fractured_read,     /**< one reads one of two writes of a transaction, and not the other */
	stale_read,         /**< a client does not see what it has just written */
	backward_timestamp, /**< as stale_read, and the timestamp is from before the write */
	intermediate_read,  /**< one reads what the same transaction overwrote */
	repeated_timestamp, /**< two transactions on other keys have one timestamp */
	half_applied,       /**< of a transaction of unknown outcome one of two writes is seen, the other is not */
	wrong_balance,      /**< a bank only: a transfer takes and does not give */
};

/** Returns all but none. */
[[nodiscard]] const std::vector<Fault> &all_faults();
[[nodiscard]] std::string_view name_of(Fault fault) noexcept;
[[nodiscard]] std::optional<Fault> find_fault(std::string_view name) noexcept;

struct EngineOptions {
	HistoryKind kind = HistoryKind::registers;
	std::uint64_t transactions = 1000; /**< about: without those that begin and end the history */
	std::uint32_t clients = 8;         /**< one transaction at a time each */
	std::uint64_t keys = 100;
	std::uint32_t list_length = 24; /**< a longer list gets no more elements, another key takes its place */
	double reads = 50;              /**< percent of operations; the others change their key */
	double blind = 10;              /**< percent of writes whose key is not read before */
	double erases = 2;              /**< percent of the changes of registers */
	double aborts = 2;              /**< percent of transactions that the client rolls back */
	double unknown = 0.5;           /**< percent whose client never learns the outcome: half of them commit */
	double late = 0;                /**< percent of those that only read whose client looks into the past */
	double unstamped = 0; /**< percent of unknown and reading transactions whose timestamp is not recorded */
	bool bank = false;    /**< registers are accounts: transfers, and audits of all of them */
	Fault fault = Fault::none;
	std::uint64_t seed = 1;
};

/** Returns the total of a bank of EngineOptions::keys accounts. */
[[nodiscard]] std::uint64_t total_of(const EngineOptions &options) noexcept;

/**
 * Runs transactions of all clients at once, in virtual time: each reads when it begins, and commits later unless others
 * have overwritten what it read. Every key is read once more in the end.
 * @param record gets all of them, of each client in their order
 */
void run_engine(const EngineOptions &options, const std::function<void(const Draft &)> &record);

} // namespace prism::serializability
