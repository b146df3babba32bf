/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include "bench/gam/options.hpp"
#include "bench/gam/outcome.hpp"

namespace prism::gam::micro
{

/** All nodes in this process, over a network that is memory: what the library costs without a device. */
[[nodiscard]] Result<RunResult> run_in_process(const RunOptions &options);

} // namespace prism::gam::micro
