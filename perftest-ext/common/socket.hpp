/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* TCP sockets of a measuring tool: a server listens, one client connects. They throw Error, with what to do. */
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace prism::perftest
{

/** A file descriptor that is closed with its owner. */
class Socket
{
public:
	explicit Socket(int descriptor = -1) : fd_(descriptor) {}
	Socket(Socket &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Socket &operator=(Socket &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~Socket();

	[[nodiscard]] int get() const { return fd_; }

private:
	int fd_;
};

/** Listens on @p port, IPv6 and IPv4. */
[[nodiscard]] Socket listen_on(std::uint16_t port);

/** The next client. */
[[nodiscard]] Socket accept_socket(const Socket &listener);

/** To the server on @p host. One that was started a moment ago may not listen yet: it is waited for, five seconds. */
[[nodiscard]] Socket connect_socket(const std::string &host, std::uint16_t port);

} // namespace prism::perftest
