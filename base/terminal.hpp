/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

#include "descriptor.hpp"

namespace prism::apps
{

/** Returns true if people read the standard output, not a program or a file, which get only the bytes of a value. */
[[nodiscard]] inline bool is_terminal() noexcept
{
	return ::isatty(STDOUT_FILENO);
}

/**
 * Returns a descriptor that never waits when it is written to, for the terminal that @p fd is: one that stands still
 * may have room for a byte, as poll() tells, but not for a line. Returns an empty one if @p fd is none, or belongs to
 * another user.
 */
[[nodiscard]] inline Descriptor terminal_that_does_not_wait(int fd)
{
	if (!::isatty(fd))
		return Descriptor();
	const std::string name = "/proc/self/fd/" + std::to_string(fd);
	return Descriptor(::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
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
