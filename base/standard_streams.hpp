/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <initializer_list>

#include <fcntl.h>
#include <unistd.h>

namespace prism::cli
{

/**
 * Opens closed standard streams. If the caller has closed one, the program's first file or socket would take its
 * number, be read as input, and be overwritten by the output. Reading and writing still fail. prism-run does this for
 * all programs that it starts.
 */
inline void keep_standard_numbers() noexcept
{
	for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
		if (::fcntl(stream, F_GETFD) < 0)
			(void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

} // namespace prism::cli
