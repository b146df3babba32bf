/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <cstdint>

namespace prism::apps
{

/** What options in seconds are for interfaces in milliseconds. */
[[nodiscard]] inline std::chrono::milliseconds milliseconds(double seconds)
{
	return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

} // namespace prism::apps
