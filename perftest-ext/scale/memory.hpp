/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <string>

#include "common/parameters.hpp"

namespace prism::perftest
{

struct MemoryUse {
	double context = 0;    /**< KiB of a context */
	double queue_pair = 0; /**< KiB of an idle connected queue pair with queues of one element */
};

/** Measures what @p pairs pairs of queue pairs take of the process's memory. Call before other use of the device.
 * Throws Error. */
[[nodiscard]] MemoryUse measure_memory(const std::string &device, Carrier carrier, std::uint32_t pairs);

} // namespace prism::perftest
