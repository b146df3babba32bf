/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::apps
{

/** Spreads the bits of @p value over the whole word (finalizer of the SplitMix64 generator); a bijection. */
constexpr std::uint64_t mix(std::uint64_t value) noexcept
{
	value ^= value >> 30;
	value *= 0xbf58476d1ce4e5b9;
	value ^= value >> 27;
	value *= 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/** Maps @p hash to a number from 0 to @p range - 1. */
constexpr std::uint64_t reduce(std::uint64_t hash, std::uint64_t range) noexcept
{
	return static_cast<std::uint64_t>(static_cast<unsigned __int128>(hash) * range >> 64);
}

/** Returns the hash of @p key. Not safe against keys that are chosen to collide. */
std::uint64_t hash_key(std::span<const std::byte> key, std::uint64_t seed) noexcept;

} // namespace prism::apps
