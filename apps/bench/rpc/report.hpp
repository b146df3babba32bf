/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The report that prism-rpc-bench prints and writes. */
#pragma once

#include <cstdio>

#include <nlohmann/json.hpp>
#include <prism/result.hpp>

#include "bench/rpc/outcome.hpp"
#include "bench/rpc/parameters.hpp"

namespace prism::echo
{

/** Prints the table for people. @param out stays the caller's. */
void print_report(std::FILE *out, const Parameters &parameters, const RunResult &result);

/** Returns the same for programs: { "test_info": ..., "results": ... }; latencies in usec, rates in calls a second. */
[[nodiscard]] nlohmann::json make_report(const Parameters &parameters, const RunResult &result);

} // namespace prism::echo
