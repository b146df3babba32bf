/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
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

/**
 * Returns how many descriptors strangers may take at one port: @p most, but at most one in @p share of those that this
 * process may have, so that each port leaves some to the others.
 */
inline std::size_t places_for_strangers(std::size_t most, std::size_t share) noexcept
{
	rlimit limit{};
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / share >= most)
		return most;
	return std::max<std::size_t>(1, limit.rlim_cur / share);
}

} // namespace prism
