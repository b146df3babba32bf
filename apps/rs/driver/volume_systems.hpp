/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "kv/driver/systems.hpp"

namespace prism::rs
{

/** Adds the volumes that prism-rs-server serves: rs, abdlock, abdlock-pipelined. */
void add_volume_systems(kv::Systems &systems);

} // namespace prism::rs
