/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Redis and memcached for the driver. */
#pragma once

#include "bench/ycsb/systems.hpp"

namespace prism::ycsb
{

/** Adds "redis" and "memcached". */
void add_foreign_systems(Systems &systems);

} // namespace prism::ycsb
