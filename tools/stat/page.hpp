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

/** What a counter page says; the numbers in it are as trustworthy as the process that wrote them. */
struct Page {
	std::uint64_t inode = 0;
	Source source;                      /* without what /proc knows of the process */
	std::vector<std::uint64_t> sockets; /* inodes */
};

/**
 * Reads the page that is open in process @p pid as @p descriptor. Everything in it is checked: a page that is not what
 * it should be is refused and neither blocks, kills nor misleads the reader about whose it is.
 * @param refused why, if the page is wrong; empty if it is gone or not published yet.
 */
[[nodiscard]] std::optional<Page> read_page(pid_t pid, int descriptor, std::string &refused);

} // namespace prism::stat
