/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <filesystem>
#include <utility>

#include "base/birth.hpp"

namespace prism::gam
{

/**
 * The lock of a file, by flock(2), which children of fork(2) do not share: it ends with this process, though they live.
 */
class ProcessLock
{
public:
	/**
	 * Takes the lock of @p path, and makes the file if necessary. Errors: EBUSY (another process or another object
	 * has it), those of the file system.
	 */
	static Result<ProcessLock> take(const std::filesystem::path &path);
	/** Gives it back. In a child of fork(2): does nothing. */
	~ProcessLock();
	ProcessLock(ProcessLock &&other) noexcept : fd_(std::exchange(other.fd_, -1)), birth_(other.birth_) {}
	ProcessLock &operator=(ProcessLock &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		std::swap(birth_, other.birth_);
		return *this;
	}

private:
	explicit ProcessLock(int fd) : fd_(fd) {}

	int fd_; /* below 0: moved away; in a child it is closed */
	apps::Birth birth_;
};

} // namespace prism::gam
