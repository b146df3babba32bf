/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <sys/resource.h>

#include <cerrno>
#include <cstddef>

namespace prism
{

/**
 * Returns true if this process may make a file of @p size bytes (RLIMIT_FSIZE); sets errno otherwise. Call it before
 * growing a file: without the limit's leave that sends SIGXFSZ, which ends programs that do not expect it.
 */
inline bool may_have_file(std::size_t size) noexcept
{
	rlimit limit{};
	if (getrlimit(RLIMIT_FSIZE, &limit) || size <= limit.rlim_cur)
		return true;
	errno = EFBIG;
	return false;
}

} // namespace prism
