/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The report that prism-tx-bench prints and writes. */
#pragma once

#include <cstdio>

#include <nlohmann/json.hpp>

#include "bench/tx/parameters.hpp"

namespace prism::tx
{

/** Prints the table for people. @param out stays the caller's. */
void print_report(std::FILE *out, const Parameters &parameters, const RunResult &result);

/**
 * Returns the same for programs: { "test_info": ..., "results": ... }; latencies in usec, rates in commits a second.
 */
[[nodiscard]] nlohmann::json make_report(const Parameters &parameters, const RunResult &result);

} // namespace prism::tx
