/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <ctime>

#include "packet.hpp"

namespace prism::soft
{

/** Reads the clock of the carriers. */
[[nodiscard]] inline Time now()
{
	timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return static_cast<Time>(ts.tv_sec) * 1'000'000'000 + static_cast<Time>(ts.tv_nsec);
}

} // namespace prism::soft
