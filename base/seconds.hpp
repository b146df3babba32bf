/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace prism::apps
{

/** Converts seconds to ms; negative and NaN become 0; capped at 1e15 ms (31,000 years). */
[[nodiscard]] inline std::chrono::milliseconds milliseconds(double seconds)
{
	constexpr double most = 1e15;
	const double wanted = std::isnan(seconds) ? 0 : std::clamp(seconds * 1000, 0.0, most);
	return std::chrono::milliseconds(static_cast<std::int64_t>(wanted));
}

} // namespace prism::apps
