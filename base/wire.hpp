/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Fields in network order, in and out of bytes whose number the caller has checked. */
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace prism
{

static_assert(std::endian::native == std::endian::little, "as the device demands it");

template <typename T>
T swapped(T value) noexcept
{
	static_assert(std::is_unsigned_v<T>);
	if constexpr (sizeof(T) == 1)
		return value;
	else if constexpr (sizeof(T) == 2)
		return __builtin_bswap16(value);
	else if constexpr (sizeof(T) == 4)
		return __builtin_bswap32(value);
	else
		return __builtin_bswap64(value);
}

template <typename T>
void store(void *to, T value) noexcept
{
	value = swapped(value);
	std::memcpy(to, &value, sizeof(value));
}

template <typename T>
T load(const void *from) noexcept
{
	T value;
	std::memcpy(&value, from, sizeof(value));
	return swapped(value);
}

} // namespace prism

namespace prism::apps
{

using prism::load;
using prism::store;
using prism::swapped;

} // namespace prism::apps
