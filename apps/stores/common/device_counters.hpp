/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <infiniband/prismdv.h>

#include <algorithm>
#include <vector>

#include <prism/device.hpp>

namespace prism::apps
{

/** Returns the counters of @p context's device, as in prismdv_query_counters(3); empty if it has none. Any thread. */
[[nodiscard]] inline std::vector<prismdv_counter> device_counters(const Context &context)
{
	const ssize_t count = prismdv_query_counters(context.raw(), nullptr, 0);
	std::vector<prismdv_counter> counters(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
	if (prismdv_query_counters(context.raw(), counters.data(), counters.size()) < 0)
		counters.clear();
	return counters;
}

} // namespace prism::apps
