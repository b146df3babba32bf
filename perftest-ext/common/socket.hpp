/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* TCP sockets of a measuring tool: a server listens, one client connects. Failures are thrown as Error with advice. */
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

/** Accepts the next client. */
[[nodiscard]] Socket accept_socket(const Socket &listener);

/** Connects to the server on @p host. Waits up to five seconds for one that was just started and does not listen
 * yet. */
[[nodiscard]] Socket connect_socket(const std::string &host, std::uint16_t port);

} // namespace prism::perftest
