/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace prism::apps
{

/** What options in seconds are for interfaces in milliseconds: none below 0, and 31,000 years at most. */
[[nodiscard]] inline std::chrono::milliseconds milliseconds(double seconds)
{
	constexpr double most = 1e15;
	const double wanted = std::isnan(seconds) ? 0 : std::clamp(seconds * 1000, 0.0, most);
	return std::chrono::milliseconds(static_cast<std::int64_t>(wanted));
}

} // namespace prism::apps
