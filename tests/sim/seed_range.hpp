/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <string>

namespace prism::test
{

/** Seeds that a simulator runs, both ends included. */
struct SeedRange {
	std::uint64_t first = 0;
	std::uint64_t last = 0;

	/** Parses A..B, or A alone. Throws as std::stoull() does. */
	static SeedRange parse(const std::string &text)
	{
		const std::size_t dots = text.find("..");
		const std::uint64_t first = std::stoull(text);
		return {first, dots == std::string::npos ? first : std::stoull(text.substr(dots + 2))};
	}
};

} // namespace prism::test
