/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "rs/volume/volume_client.hpp"

namespace prism::rs
{

/** A replica of PRISM-RS. */
constexpr apps::StoreKind prism_kind{apps::Application::rs, 0, "rs", 3};

/**
 * Returns PRISM-RS, for VolumeClient. @p exclusive: not 0, if no other client writes to the volume:
 * ExclusiveLock::generation().
 * @p everywhere: writes go to all replicas, not only to as many as are needed.
 */
VolumeKind prism_rs(const Configuration &volume, std::uint32_t exclusive = 0, bool everywhere = false);

/** Returns the repair of @p replica. See repair(). */
VolumeKind repair_of(const Configuration &volume, unsigned replica);

} // namespace prism::rs
