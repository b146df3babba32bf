/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>

#include <prism/prism.hpp>

#include "bench/frame/traffic.hpp"

namespace prism::bench
{

/**
 * The device context of all clients of the calling thread, which any of them drives (Progress::caller). It lives as
 * long as the thread. If each client had its own context, no caller would drive it while the thread polls the others,
 * and its engine thread would take over: on few cores that slows all of them. Errors: those of Context::open().
 */
[[nodiscard]] Result<Context> context_of_thread(const std::string &device);

/** What @p context's device has sent and received since it was opened. */
[[nodiscard]] Traffic traffic_of(const Context &context);

/** What the calling thread's contexts have sent and received since they were opened. */
[[nodiscard]] Traffic traffic_of_thread();

} // namespace prism::bench
