// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// How prism-run tells the preload library what the user asked for: the environment, which child processes inherit.
#ifndef PRISM_LAUNCHER_OPTIONS_HPP
#define PRISM_LAUNCHER_OPTIONS_HPP

namespace prism::launcher
{

// Not empty: list no kernel devices.
inline constexpr const char *env_only = "PRISM_RUN_ONLY";
// Not empty: list only the device of this name.
inline constexpr const char *env_device = "PRISM_RUN_DEVICE";
// 0: no local path. The device's own (prismdv(7)), not the preload library's.
inline constexpr const char *env_local = "PRISM_LOCAL";

} // namespace prism::launcher

#endif
