/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The reports of prism-ycsb. */
#pragma once

#include <cstdio>

#include <nlohmann/json.hpp>
#include <prism/result.hpp>

#include "bench/ycsb/outcome.hpp"
#include "bench/ycsb/parameters.hpp"

namespace prism::ycsb
{

/** Prints the table for people. @param out stays the caller's. */
void print_report(std::FILE *out, const Parameters &parameters, const RunResult &result);

/**
 * Returns the same for programs: { "test_info": ..., "results": ... }; latencies in usec, rates in requests a second.
 */
[[nodiscard]] nlohmann::json make_report(const Parameters &parameters, const RunResult &result);

/** Writes make_report() to Parameters::json_file, if there is one. */
[[nodiscard]] Result<void> write_report(const Parameters &parameters, const RunResult &result);

} // namespace prism::ycsb
