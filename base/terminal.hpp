/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <span>

namespace prism::apps
{

/** Returns true if people read the standard output, not a program or a file, which get only the bytes of a value. */
[[nodiscard]] inline bool is_terminal() noexcept
{
	return ::isatty(STDOUT_FILENO);
}

/**
 * Ends the line after @p value, or its last piece, on a terminal, so that the next prompt is not on the value's line.
 */
inline void end_line(std::span<const std::byte> value)
{
	if (is_terminal() && (value.empty() || value.back() != std::byte{'\n'}))
		std::putchar('\n');
}

} // namespace prism::apps
