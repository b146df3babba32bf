/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include "bench/gam/options.hpp"
#include "bench/gam/outcome.hpp"

namespace prism::gam::micro
{

/** Runs one of the nodes of a cluster whose master exists. Errors: those of JoinedNode, ECANCELED, ETIMEDOUT. */
[[nodiscard]] Result<RunResult> run_joined(const RunOptions &options);

/** Starts a master and all nodes, each a process of its own. Errors: as run_joined(); those of fork(2). */
[[nodiscard]] Result<RunResult> run_processes(const RunOptions &options);

} // namespace prism::gam::micro
