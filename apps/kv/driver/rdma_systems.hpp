/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "kv/driver/systems.hpp"

namespace prism::kv
{

/** Adds the stores that prism-kv-server serves: prism, pilaf, rpc. */
void add_rdma_systems(Systems &systems);

} // namespace prism::kv
