/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <sched.h>

namespace prism
{

/** Returns the number of processors that the calling thread may use; std::thread tells those of the machine. */
[[nodiscard]] inline unsigned usable_processors() noexcept
{
	cpu_set_t allowed;
	if (::sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return CPU_SETSIZE; /* more than fit into the set */
	return static_cast<unsigned>(CPU_COUNT(&allowed));
}

} // namespace prism
