/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Histories that are linearizable by construction, and the plainest possible checker to compare with. */
#pragma once

#include <cstdint>
#include <vector>

#include "history.hpp"

namespace prism::test
{

struct StoreOptions {
	std::uint64_t operations = 1000;
	std::uint32_t clients = 8;
	std::uint64_t keys = 4;
	double gets = 40; /**< percent, as all of these; the rest are puts */
	double erases = 15;
	double clears = 0;
	double conditionals = 15;
	double unknown = 0;             /**< operations whose client never learns the outcome */
	std::uint64_t longest = 100;    /**< duration of an operation, and a client's wait between two */
	std::uint64_t longest_late = 0; /**< maximum delay of an unknown operation's effect */
};

/** Simulates clients of an atomic store: every operation takes effect at one moment between call and answer. */
std::vector<Operation> simulate_store(const StoreOptions &options, std::uint64_t seed);

/** Tries all orders. For one key, which is absent at first, and a handful of operations. */
bool is_linearizable_by_trying(const std::vector<Operation> &history);

/** Returns any operations with any answers and any times: some are linearizable, most are not. One key. */
std::vector<Operation> random_history(std::uint64_t operations, std::uint64_t seed);

} // namespace prism::test
