/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include <prism/result.hpp>

#include "base/descriptor.hpp"

namespace prism::apps
{

/**
 * Reads all bytes behind @p fd; of more than @p most the first @p most + 1. Errors, which begin with @p wrong: those of
 * read(2).
 */
[[nodiscard]] inline Result<std::string> read_up_to(int fd, std::size_t most, const std::string &wrong)
{
	std::string text;
	std::array<char, 4096> piece;
	while (text.size() <= most) {
		const ssize_t got = ::read(fd, piece.data(), std::min(piece.size(), most + 1 - text.size()));
		if (got < 0)
			return make_error(errno, wrong);
		if (got == 0)
			break;
		text.append(piece.data(), static_cast<std::size_t>(got));
	}
	return text;
}

/**
 * Reads all bytes of the file @p path that a user has named; of more than @p most the first @p most + 1. Neither waits,
 * as for a named pipe, nor reads without end. @p what: its name in errors: those of open(2) and read(2); EINVAL, it is
 * no regular file. Any thread.
 */
[[nodiscard]] inline Result<std::string> read_regular_file(
	const std::string &path, std::size_t most, const std::string &what)
{
	const std::string wrong = "cannot read " + what + " " + path;
	const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	struct stat status {
	};
	if (file.get() < 0 || ::fstat(file.get(), &status))
		return make_error(errno, wrong);
	if (S_ISDIR(status.st_mode))
		return make_error(EISDIR, wrong);
	if (!S_ISREG(status.st_mode))
		return Error{EINVAL, wrong + ": it is no regular file; copy what it gives into one, and name that"};
	return read_up_to(file.get(), most, wrong);
}

} // namespace prism::apps
