/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <unistd.h>

#include <utility>

#include "base/c_boundary.hpp"
#include "kept_descriptors.hpp"

namespace prism::soft
{

/** Owns a file descriptor. */
class FileDescriptor
{
public:
	FileDescriptor() = default;
	explicit FileDescriptor(int descriptor) : fd_(descriptor) { kept_descriptors.insert(fd_); }
	FileDescriptor(FileDescriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	FileDescriptor(const FileDescriptor &) = delete;

	FileDescriptor &operator=(FileDescriptor other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}

	/** Disables cancellation: close(2) is a cancellation point, and nothing may leave a destructor. */
	~FileDescriptor()
	{
		const WithoutCancellation whole;
		if (const int descriptor = release(); descriptor >= 0)
			::close(descriptor);
	}

	[[nodiscard]] int get() const { return fd_; }
	/** Gives up the descriptor: the caller closes it. */
	[[nodiscard]] int release()
	{
		kept_descriptors.erase(fd_);
		return std::exchange(fd_, -1);
	}
	explicit operator bool() const { return fd_ >= 0; }

private:
	int fd_ = -1;
};

} // namespace prism::soft
