/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "abdlock/protocol.hpp"
#include "rs/volume/volume_client.hpp"

namespace prism::rs
{

/** A replica of the lock-based ABD. */
constexpr apps::StoreKind abdlock_kind{apps::Application::rs, 1, "abdlock", 3};

/**
 * Returns ABDLOCK, for VolumeClient. Of @p options only the mode and the times are used; the rest follows from the
 * volume.
 */
VolumeKind abdlock(const Configuration &volume, const LockOptions &options = {});

} // namespace prism::rs
