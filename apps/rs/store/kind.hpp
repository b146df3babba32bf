/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "rs/volume/volume_client.hpp"

namespace prism::rs
{

/** PRISM-RS, for VolumeClient. @p exclusive: nobody else writes to the volume, see ProtocolOptions. */
VolumeKind prism_rs(const Configuration &volume, bool exclusive = false);

/** The repair of @p replica: see Repair. */
VolumeKind repair_of(const Configuration &volume, unsigned replica);

} // namespace prism::rs
