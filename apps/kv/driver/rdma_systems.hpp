/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "kv/driver/systems.hpp"

namespace prism::kv
{

/** Where prism-kv-server listens if nothing else is said. */
constexpr std::uint16_t default_store_port = 18620;

/** Adds the stores that prism-kv-server serves: prism, pilaf, rpc. */
void add_rdma_systems(Systems &systems);

} // namespace prism::kv
