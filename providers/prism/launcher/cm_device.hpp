// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// /dev/infiniband/rdma_cm for programs that open it by open().
#ifndef PRISM_LAUNCHER_CM_DEVICE_HPP
#define PRISM_LAUNCHER_CM_DEVICE_HPP

#include <optional>

namespace prism::launcher
{

// Opens PATH as open() does if it is the connection manager's file: returns a descriptor, or -1 and errno. Returns
// nothing for any other path.
std::optional<int> open_cm_device(const char *path, int flags);

} // namespace prism::launcher

#endif
