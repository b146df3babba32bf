/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "descriptor.hpp"

namespace prism
{

/** Appends all bytes behind @p fd to @p text; of more than @p most the first @p most + 1. Returns 0, or an error of
 * read(2). */
[[nodiscard]] inline int read_up_to(int fd, std::size_t most, std::string &text)
{
	std::array<char, 4096> piece;
	while (text.size() <= most) {
		const ssize_t got = ::read(fd, piece.data(), std::min(piece.size(), most + 1 - text.size()));
		if (got < 0)
			return errno;
		if (got == 0)
			break;
		text.append(piece.data(), static_cast<std::size_t>(got));
	}
	return 0;
}

/** Returns true for files that have their bytes before they are read: those of /proc pass for such, but /proc/kmsg
 * waits for more. */
inline bool has_its_bytes(int fd, const struct stat &status)
{
	struct statfs system {
	};
	return S_ISREG(status.st_mode) && !::fstatfs(fd, &system) && system.f_type != PROC_SUPER_MAGIC;
}

/**
 * Appends all bytes of the file @p path, which a user has named, to @p text; of more than @p most the first @p most
 * + 1. Neither waits, as for a named pipe, nor reads without end. Returns 0, or an error of open(2) or read(2); EINVAL:
 * it is no regular file. Any thread.
 */
[[nodiscard]] inline int read_regular_file(const std::string &path, std::size_t most, std::string &text)
{
	const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	struct stat status {
	};
	if (file.get() < 0 || ::fstat(file.get(), &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	return has_its_bytes(file.get(), status) ? read_up_to(file.get(), most, text) : EINVAL;
}

/** Returns what to tell users of an error of read_regular_file(). */
inline std::string why_unread(int error)
{
	return error == EINVAL ? "it is no regular file; copy what it gives into one, and name that"
			       : std::strerror(error);
}

} // namespace prism
