/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <initializer_list>

#include <fcntl.h>
#include <unistd.h>

namespace prism::cli
{

/**
 * Where the caller has closed a standard stream, the program's first file or socket would take its number, be read as
 * input, and be written over with what it prints. As before, reading and writing fail. prism-run does so for all that
 * it starts.
 */
inline void keep_standard_numbers() noexcept
{
	for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
		if (::fcntl(stream, F_GETFD) < 0)
			(void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

} // namespace prism::cli
