/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A seeded source of randomness whose output is the same with every standard library. */
#pragma once

#include <cstdint>
#include <initializer_list>

namespace prism::test
{

class Random
{
public:
	explicit Random(std::uint64_t seed) : state_(seed) {}

	/** Returns 64 uniform bits (SplitMix64). */
	std::uint64_t bits()
	{
		std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		return z ^ (z >> 31);
	}

	/** Returns a uniform number in [0, @p n); 0 if @p n is 0. */
	std::uint64_t below(std::uint64_t n)
	{
		return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits()) * n) >> 64);
	}

	/** Returns a uniform number in [@p low, @p high]. */
	std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }

	/** Returns true @p percent times of 100. */
	bool chance(double percent) { return static_cast<double>(bits() >> 11) * 0x1p-53 * 100 < percent; }

	template <typename T>
	T pick(std::initializer_list<T> values)
	{
		return values.begin()[below(values.size())];
	}

private:
	std::uint64_t state_;
};

} // namespace prism::test
