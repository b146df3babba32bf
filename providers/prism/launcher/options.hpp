// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Environment variables by which prism-run passes the user's options to the preload library; child processes inherit
// them.
#ifndef PRISM_LAUNCHER_OPTIONS_HPP
#define PRISM_LAUNCHER_OPTIONS_HPP

namespace prism::launcher
{

// If not empty: list no kernel devices.
inline constexpr const char *env_only = "PRISM_RUN_ONLY";
// If not empty: list only the device of this name.
inline constexpr const char *env_device = "PRISM_RUN_DEVICE";
// If 0: no local path. Read by the device (prismdv(7)), not by the preload library.
inline constexpr const char *env_local = "PRISM_LOCAL";

} // namespace prism::launcher

#endif
