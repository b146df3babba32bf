/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace prism::stat
{

struct Count {
	std::string name; /* from docs/semantics.md, S.12 */
	std::uint64_t value = 0;
	bool gauge = false; /* may also fall, and has no rate */
};

/** Owner of counters: a context of the userspace device, or a device of the kernel. */
struct Source {
	std::string device;
	std::vector<Count> counts;
	bool kernel = false;

	/* Only for a context */
	pid_t pid = 0;
	std::uint64_t page = 0; /* inode of its counter page, which tells the contexts of a process apart */
	std::string command;
	std::uint32_t slot = 0;
	std::uint32_t first_qpn = 0;
	std::uint32_t last_qpn = 0;
	std::vector<std::string> addresses;
	std::vector<std::uint32_t> local_peers; /* slots of the contexts with which it exchanges packets in memory */

	/** Returns the value of a counter; 0 if there is none of that name. */
	[[nodiscard]] std::uint64_t count(std::string_view name) const
	{
		for (const Count &one : counts)
			if (one.name == name)
				return one.value;
		return 0;
	}
};

/** Selection of sources; empty and 0 select everything. */
struct Filter {
	std::string device;
	pid_t pid = 0;
};

/** All sources at one moment. */
struct Snapshot {
	double time = 0; /* seconds, monotonic */
	std::vector<Source> sources;
	unsigned hidden = 0;              /* processes that we may not inspect */
	std::vector<std::string> refused; /* apparent counter pages that are invalid, with the reason */
};

} // namespace prism::stat
