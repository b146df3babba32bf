/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Processes as /proc shows them. Any may end at any moment: then there is nothing to see. */
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace prism::stat
{

/** In rising order. */
[[nodiscard]] std::vector<pid_t> processes();

/** A thread of the kernel, which has no descriptors. */
[[nodiscard]] bool is_kernel_thread(pid_t pid);

/** When it was started, in ticks since the boot; the largest number if it is gone. */
[[nodiscard]] std::uint64_t start_time(pid_t pid);

/** Name of its program, with what a terminal would obey replaced; "?" if it is gone. */
[[nodiscard]] std::string command_name(pid_t pid);

/** @p text with everything but letters, digits, punctuation and spaces of ASCII replaced by "?". */
[[nodiscard]] std::string printable(std::string text);

/** A descriptor that another process holds open. */
struct Descriptor {
	int number = -1;
	std::string target; /* where its link leads */
	bool writable = false;
};

/** Nothing, and errno, if the process may not be looked at (EACCES) or is gone (ENOENT). */
[[nodiscard]] std::optional<std::vector<Descriptor>> descriptors(pid_t pid);

/** Of the file behind a descriptor; 0 if it is gone. */
[[nodiscard]] std::uint64_t inode_of(pid_t pid, int descriptor);

/** Datagrams that the kernel dropped, by the inode of the UDP socket, in the network namespace of @p pid. */
[[nodiscard]] std::map<std::uint64_t, std::uint64_t> socket_drops(pid_t pid);

} // namespace prism::stat
