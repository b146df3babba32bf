/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Arithmetic on sizes that users and peers choose: a result that is too large is the largest number, never a small one.
 */
#pragma once

#include <cstdint>
#include <limits>

namespace prism::apps
{

constexpr std::uint64_t saturated = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t sum_of(std::uint64_t one, std::uint64_t other) noexcept
{
	return other > saturated - one ? saturated : one + other;
}

constexpr std::uint64_t product_of(std::uint64_t one, std::uint64_t other) noexcept
{
	return other && one > saturated / other ? saturated : one * other;
}

/** Returns @p bytes rounded up to a multiple of @p unit, a power of two; saturated if there is no such number. */
constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) noexcept
{
	return bytes > saturated - (unit - 1) ? saturated : (bytes + unit - 1) & ~(unit - 1);
}

} // namespace prism::apps
