/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "bench/tx/systems.hpp"

namespace prism::tx
{

/** Adds the stores that prism-tx-server serves. */
void add_rdma_systems(Systems &systems);

} // namespace prism::tx
