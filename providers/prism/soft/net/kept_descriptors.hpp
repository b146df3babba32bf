/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The descriptors that are the device's own. The launcher leaves them open when a program closes all descriptors
 * (closefrom(3)). Each shared object has a table of its own.
 *
 * A number may come to mean another file without our notice (dup2(), a system call), and a child inherits its parent's
 * table. So an entry holds only in the process that made it, and while the number is the same file. Files without an
 * inode of their own (eventfds) are all alike.
 */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace prism::soft
{

class KeptDescriptors
{
public:
	void insert(int fd)
	{
		if (!in_range(fd))
			return;
		if (owner_.load(std::memory_order_relaxed) != ::getpid())
			start_anew();
		at(fd).store(file_of(fd), std::memory_order_relaxed);
	}

	void erase(int fd)
	{
		if (in_range(fd))
			at(fd).store(0, std::memory_order_relaxed);
	}

	/** Returns true if @p fd is the device's own. Keeps errno. Safe in signal handlers, and in a child of
	 * vfork(), which has nothing to keep. */
	[[nodiscard]] bool contains(int fd) const
	{
		if (!in_range(fd) || !at(fd).load(std::memory_order_relaxed))
			return false;
		return owner_.load(std::memory_order_relaxed) == ::getpid() && at(fd) == file_of(fd);
	}

	/** Limit of descriptor numbers in the table. */
	static constexpr int size = 1 << 14;

private:
	static bool in_range(int fd) { return fd >= 0 && fd < size; }
	[[nodiscard]] std::atomic<std::uint64_t> &at(int fd) { return files_[static_cast<std::size_t>(fd)]; }
	[[nodiscard]] const std::atomic<std::uint64_t> &at(int fd) const
	{
		return files_[static_cast<std::size_t>(fd)];
	}

	/* Returns an identifier of the file; never 0. */
	static std::uint64_t file_of(int fd)
	{
		struct stat status;
		const int before = errno;
		const bool open = ::fstatat(fd, "", &status, AT_EMPTY_PATH) == 0;
		errno = before;
		return open ? (static_cast<std::uint64_t>(status.st_dev) << 48 ^ status.st_ino) | std::uint64_t{1} << 63
			    : 1;
	}

	void start_anew()
	{
		for (auto &each : files_)
			if (each.load(std::memory_order_relaxed))
				each.store(0, std::memory_order_relaxed);
		owner_.store(::getpid(), std::memory_order_relaxed);
	}

	std::array<std::atomic<std::uint64_t>, size> files_{};
	std::atomic<pid_t> owner_{0};
};

/* Never destroyed: descriptors are closed while the process ends. */
inline constinit KeptDescriptors kept_descriptors;

} // namespace prism::soft
