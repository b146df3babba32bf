/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stat/source.hpp"

namespace prism::stat
{

/** Contents of a counter page. Its numbers are as trustworthy as the process that wrote them. */
struct Page {
	std::uint64_t inode = 0;
	Source source;                      /* without the process's data from /proc */
	std::vector<std::uint64_t> sockets; /* inodes */
};

/**
 * Reads the page that is open in process @p pid as @p descriptor. Checks everything in it: an invalid page is refused,
 * and neither blocks, kills nor misleads the reader about its owner.
 * @param refused reason, if the page is invalid; empty if it is gone or not published yet.
 */
[[nodiscard]] std::optional<Page> read_page(pid_t pid, int descriptor, std::string &refused);

} // namespace prism::stat
