/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The standard input of a tool. A disk that cannot be read, a folder or a closed stream is an error, not an end of the
 * text.
 */
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>

#include <unistd.h>

#include <prism/result.hpp>

#include "base/regular_file.hpp"

namespace prism::apps
{

inline const std::string cannot_read_input = "cannot read the standard input";

/** Reads all bytes; of more than @p most, perhaps without end, the first @p most + 1. Errors: those of read(2). */
[[nodiscard]] inline Result<std::string> read_standard_input(std::size_t most)
{
	std::string text;
	if (const int error = read_up_to(STDIN_FILENO, most, text))
		return make_error(error, cannot_read_input);
	return text;
}

/**
 * Calls @p take with each line, without its end, until it returns false. Flushes its output before the next line is
 * read, as the writer of that may wait for it. Errors: those of read(2), EMSGSIZE (a line of more than @p most).
 */
template <typename Take>
[[nodiscard]] Result<void> read_lines(std::size_t most, Take take)
{
	std::string line;
	for (int next; (next = std::getc(stdin)) != EOF;) {
		if (next == '\n') {
			if (!take(line))
				return {};
			(void)std::fflush(stdout);
			line.clear();
		} else if (line.size() == most) {
			return make_error(EMSGSIZE, "a line of the standard input",
				"no line has more than " + std::to_string(most) + " bytes");
		} else {
			line += static_cast<char>(next);
		}
	}
	if (std::ferror(stdin))
		return make_error(errno, cannot_read_input);
	if (!line.empty())
		(void)take(line);
	return {};
}

} // namespace prism::apps
