/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "bench/ycsb/systems.hpp"

namespace prism::ycsb
{

/** Adds the volumes that prism-rs-server serves: rs, abdlock, abdlock-pipelined. */
void add_volume_systems(Systems &systems);

} // namespace prism::ycsb
