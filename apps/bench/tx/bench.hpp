/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "bench/tx/systems.hpp"

namespace prism::tx
{

/**
 * The program prism-tx-bench over @p systems.
 * @return 0; 1 if the run was impossible, or something was not done or wrong; 2 for an error of usage.
 */
[[nodiscard]] int bench(const Systems &systems, int argc, const char *const *argv);

} // namespace prism::tx
