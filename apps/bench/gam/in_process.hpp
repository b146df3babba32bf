/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include "bench/gam/options.hpp"
#include "bench/gam/outcome.hpp"

namespace prism::gam::micro
{

/** Runs all nodes in this process, over a network in memory: the cost of the library without a device. */
[[nodiscard]] Result<RunResult> run_in_process(const RunOptions &options);

} // namespace prism::gam::micro
