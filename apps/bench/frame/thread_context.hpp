/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>

#include <prism/device.hpp>
#include <prism/result.hpp>

#include "bench/frame/traffic.hpp"

namespace prism::bench
{

/**
 * Returns the device context that all clients of the calling thread share and drive (Progress::caller). It lives as
 * long as the thread. If each client had its own context, no caller would drive it while the thread polls the others,
 * and its engine thread would take over: on few cores that slows all of them. Errors: those of Context::open().
 */
[[nodiscard]] Result<Context> context_of_thread(const std::string &device);

/** Returns the traffic of @p context's device since it was opened. */
[[nodiscard]] Traffic traffic_of(const Context &context);

/** Returns the traffic of the calling thread's contexts since they were opened. */
[[nodiscard]] Traffic traffic_of_thread();

} // namespace prism::bench
