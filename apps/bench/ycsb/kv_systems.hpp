/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "bench/ycsb/systems.hpp"

namespace prism::ycsb
{

/** Adds the stores that prism-kv-server serves: prism, pilaf, rpc, and for each way of calls rpc-WAY and jakiro-WAY. */
void add_kv_systems(Systems &systems);

} // namespace prism::ycsb
