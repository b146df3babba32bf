/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <unistd.h>

#include <utility>

#include "../../c_boundary.hpp"
#include "kept_descriptors.hpp"

namespace prism::soft
{

/** Owns a file descriptor. */
class FileDescriptor
{
public:
	FileDescriptor() = default;
	explicit FileDescriptor(int descriptor) : fd(descriptor) { kept_descriptors.insert(fd); }
	FileDescriptor(FileDescriptor &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
	FileDescriptor(const FileDescriptor &) = delete;

	FileDescriptor &operator=(FileDescriptor other) noexcept
	{
		std::swap(fd, other.fd);
		return *this;
	}

	/** close(2) is a cancellation point, and nothing may leave a destructor. */
	~FileDescriptor()
	{
		const WithoutCancellation whole;
		if (const int descriptor = release(); descriptor >= 0)
			::close(descriptor);
	}

	[[nodiscard]] int get() const { return fd; }
	/** Leaves closing it to the caller. */
	[[nodiscard]] int release()
	{
		kept_descriptors.erase(fd);
		return std::exchange(fd, -1);
	}
	explicit operator bool() const { return fd >= 0; }

private:
	int fd = -1;
};

} // namespace prism::soft
