/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The reports of prism-gam-bench. */
#pragma once

#include <cstdio>

#include <nlohmann/json.hpp>

#include "bench/gam/outcome.hpp"
#include "bench/gam/parameters.hpp"

namespace prism::gam::micro
{

/** Prints the table for people. @param out stays the caller's. */
void print_report(std::FILE *out, const Parameters &parameters, const RunResult &result);

/**
 * Returns the same for programs: { "test_info": ..., "results": ... }; latencies in usec, rates in operations a second.
 */
[[nodiscard]] nlohmann::json make_report(const Parameters &parameters, const RunResult &result);

} // namespace prism::gam::micro
