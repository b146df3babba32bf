/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "bench/tx/systems.hpp"

namespace prism::tx
{

/** Adds GAM's transactions, by each protocol: gam-directory, gam-latch. */
void add_gam_systems(Systems &systems);

} // namespace prism::tx
