/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <utility>

#include "descriptor.hpp"

namespace prism::apps
{

/** Returns true if people read the standard output, not a program or a file, which get only the bytes of a value. */
[[nodiscard]] inline bool is_terminal() noexcept
{
	return ::isatty(STDOUT_FILENO);
}

/** Returns true if @p a and @p b are descriptors of one terminal, whatever name it was opened by. */
[[nodiscard]] inline bool are_one_terminal(int a, int b) noexcept
{
	unsigned first = 0, second = 0;
	return ::ioctl(a, TIOCGDEV, &first) == 0 && ::ioctl(b, TIOCGDEV, &second) == 0 && first == second;
}

/**
 * Returns a descriptor that never waits when it is written to, for the terminal that @p fd is: one that stands still
 * may have room for a byte, as poll() tells, but not for a line. Returns an empty one if @p fd is none, or belongs to
 * another user and is not the session's.
 */
[[nodiscard]] inline Descriptor terminal_that_does_not_wait(int fd)
{
	constexpr int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	if (!::isatty(fd))
		return Descriptor();
	Descriptor anew(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), flags));
	if (anew.get() >= 0)
		return anew;
	Descriptor of_session(::open("/dev/tty", flags)); /* which anyone in it may open, as after su(1) */
	return are_one_terminal(of_session.get(), fd) ? std::move(of_session) : Descriptor();
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
