/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>
#include <system_error>

namespace prism
{

/** Text for users when memory cannot be had. */
inline constexpr const char *no_memory =
	"there is not enough memory; raise its limit (ulimit -v, or MemoryMax= of a unit), or use less";

/** Returns what to tell users of @p error: std::thread says of a thread that it cannot start no more than EAGAIN. */
inline std::string text_of(const std::system_error &error)
{
	if (error.code() != std::errc::resource_unavailable_try_again)
		return error.what();
	return "cannot start a thread: " + error.code().message() +
	       "; raise the limit of threads (ulimit -u, or TasksMax= of a unit), or that of memory (ulimit -v)";
}

} // namespace prism
