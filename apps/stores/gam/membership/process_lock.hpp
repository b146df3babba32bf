/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <sys/types.h>

#include <filesystem>
#include <utility>

#include "base/descriptor.hpp"

namespace prism::gam
{

/**
 * The lock of a file, which this process has, and no child of fork(2) shares: it ends with this process, though
 * children live. It is a record lock, which also ends when any descriptor of the file is closed in this process:
 * nothing but this class may open the file.
 */
class ProcessLock
{
public:
	/**
	 * Takes the lock of @p path, and makes the file if necessary. Errors: EBUSY (another process or another object
	 * has it), those of the file system.
	 */
	static Result<ProcessLock> take(const std::filesystem::path &path);
	~ProcessLock();
	ProcessLock(ProcessLock &&other) noexcept : fd_(std::move(other.fd_)), file_(other.file_) {}
	ProcessLock &operator=(ProcessLock &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		std::swap(file_, other.file_);
		return *this;
	}

	/** The file: its device and number. */
	using File = std::pair<dev_t, ino_t>;

private:
	ProcessLock(Descriptor fd, File file) : fd_(std::move(fd)), file_(file) {}

	Descriptor fd_; /* below 0: moved away */
	File file_;
};

} // namespace prism::gam
