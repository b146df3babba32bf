/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>

#include "stat/source.hpp"

namespace prism::stat
{

/**
 * Adds the kernel's devices with PRISM that @p filter selects. They count for all their users together, so a filter for
 * a process selects none.
 * @param folder the kernel's folder of RDMA devices, /sys/class/infiniband.
 */
void add_kernel_devices(const std::string &folder, const Filter &filter, Snapshot &snapshot);

} // namespace prism::stat
