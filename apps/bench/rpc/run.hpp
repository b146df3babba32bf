/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include "bench/rpc/options.hpp"
#include "bench/rpc/outcome.hpp"

namespace prism::echo
{

/**
 * Connects to a server of echoes, warms up and measures. Blocks until all is done, or nothing has ended for
 * RunOptions::drain. Errors: EINVAL (options), those of connecting, a connection that ended.
 */
[[nodiscard]] Result<RunResult> run(const ServerPlace &server, const RunOptions &options);

} // namespace prism::echo
