/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace prism
{

/** A file descriptor that this object owns; below 0: none. */
class Descriptor
{
public:
	explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
	Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Descriptor &operator=(Descriptor &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~Descriptor() { close(); }

	/** Closes the descriptor before the destructor does. Preserves errno. */
	void close() noexcept
	{
		const int saved = errno;
		if (fd_ >= 0)
			(void)::close(std::exchange(fd_, -1));
		errno = saved;
	}
	[[nodiscard]] int get() const noexcept { return fd_; }

private:
	int fd_;
};

} // namespace prism
