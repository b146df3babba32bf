/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "bench/ycsb/systems.hpp"

namespace prism::ycsb
{

/** Adds GAM's hash table, by each protocol: gam-directory, gam-latch. */
void add_gam_systems(Systems &systems);

} // namespace prism::ycsb
