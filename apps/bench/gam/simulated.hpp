/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include "bench/gam/options.hpp"
#include "bench/gam/outcome.hpp"
#include "bench/gam/simulated/hardware.hpp"

namespace prism::gam::micro
{

/**
 * Runs the workload or the case on nodes in virtual time: the protocols' objects and the bench's operations, on
 * simulated hardware. The same options give the same result. Errors: EDEADLK (something never ends: a fault of a
 * protocol).
 */
[[nodiscard]] Result<RunResult> run_simulated(const RunOptions &options, const simulated::Hardware &hardware);

} // namespace prism::gam::micro
