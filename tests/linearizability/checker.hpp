/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Decides if a history of a key-value store is linearizable; README.md describes the method. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "history.hpp"

namespace prism::test
{

enum class Verdict {
	linearizable,
	violated,  /**< no order of the operations explains the answers */
	malformed, /**< not a history: a response before its invocation, a value put twice, ... */
	undecided, /**< more than the checker's limits on one key: 64 operations at a time, or CheckOptions::effort */
};

[[nodiscard]] std::string_view name_of(Verdict verdict) noexcept;

struct CheckOptions {
	std::size_t findings = 10;      /**< keys to report, more are only counted */
	std::size_t effort = 2'000'000; /**< configurations to look at for one response, before it is undecided */
	std::size_t shrink_below = 200; /**< windows of at most so many operations are made minimal */
};

/** Violation found for one key. */
struct Finding {
	std::uint64_t key = 0;
	Verdict verdict = Verdict::linearizable;
	std::string reason;
	/**
	 * Operations of the key, by invocation, that no order explains whatever the key held before them. Operations
	 * invoked before the window, and those that had not responded at the time of the violation, may have happened
	 * or not.
	 */
	std::vector<Operation> window;
};

/** Returns "key 0x5: not linearizable: REASON" and the window's operations, a line each. @p place: such as "key". */
[[nodiscard]] std::string describe(const Finding &finding, std::string_view place);

struct CheckReport {
	Verdict verdict = Verdict::linearizable; /**< the worst of all keys: violated, malformed, undecided */
	std::uint64_t operations = 0;
	std::uint64_t keys = 0;
	std::uint64_t bad_keys = 0;
	std::size_t most_concurrent = 0;     /**< operations of a key at a time */
	std::size_t most_configurations = 0; /**< examined for one response */
	std::vector<Finding> findings;
};

/**
 * Checks each key separately, which decides for the whole store. Keys are absent at first: preloaded ones need a put
 * each, before everything else. Thread-safe.
 * @param history in any order; an operation that responds at the very moment another is invoked overlaps it
 */
[[nodiscard]] CheckReport check(std::vector<Operation> history, const CheckOptions &options = {});

} // namespace prism::test
