/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/error_counts.hpp"

namespace prism::bench
{

void ErrorCounts::add(int error) noexcept
{
	const bool known = error > 0 && static_cast<std::size_t>(error) < room;
	counts_[known ? static_cast<std::size_t>(error) : 0]++;
}

void ErrorCounts::merge(const ErrorCounts &other) noexcept
{
	for (std::size_t i = 0; i < room; i++)
		counts_[i] += other.counts_[i];
}

std::map<int, std::uint64_t> ErrorCounts::all() const
{
	std::map<int, std::uint64_t> seen;
	for (std::size_t i = 0; i < room; i++) {
		if (counts_[i])
			seen.emplace(static_cast<int>(i), counts_[i]);
	}
	return seen;
}

} // namespace prism::bench
