/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Processes as /proc shows them. Any may end at any moment: then the functions return nothing. */
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace prism::stat
{

/** Throws std::system_error if errno tells that @p path could not be opened for want of descriptors or memory: it may
 * be there. */
void throw_if_short(const std::string &path);

/** Returns all PIDs in rising order. Throws std::system_error if they cannot be listed. */
[[nodiscard]] std::vector<pid_t> processes();

/** Returns true for a thread of the kernel, which has no descriptors. */
[[nodiscard]] bool is_kernel_thread(pid_t pid);

/** Returns its start time, in ticks since the boot; the largest number if it is gone. */
[[nodiscard]] std::uint64_t start_time(pid_t pid);

/** Returns the name of its program, with characters that control a terminal replaced; "?" if it is gone. */
[[nodiscard]] std::string command_name(pid_t pid);

/** Returns @p text with everything but letters, digits, punctuation and spaces of ASCII replaced by "?". */
[[nodiscard]] std::string printable(std::string text);

/** A descriptor that another process holds open. */
struct Descriptor {
	int number = -1;
	std::string target; /* target of its link */
	bool writable = false;
};

/** Returns nothing, and errno, if the process may not be inspected (EACCES) or is gone (ENOENT). */
[[nodiscard]] std::optional<std::vector<Descriptor>> descriptors(pid_t pid);

/** Returns the inode of the file behind a descriptor; 0 if it is gone. */
[[nodiscard]] std::uint64_t inode_of(pid_t pid, int descriptor);

/** Returns the datagrams that the kernel dropped, by the inode of the UDP socket, in the network namespace of @p
 * pid. */
[[nodiscard]] std::map<std::uint64_t, std::uint64_t> socket_drops(pid_t pid);

} // namespace prism::stat
