/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "bench/tx/systems.hpp"

namespace prism::tx
{

/**
 * Runs the program prism-tx-bench over @p systems.
 * @return 0; 1 if the run was impossible, or something was not done or was wrong; 2 for a usage error.
 */
[[nodiscard]] int bench(const Systems &systems, int argc, const char *const *argv);

} // namespace prism::tx
