/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace prism
{

/** Listens on TCP at @p address. @p flags: of socket(2), beside its type. Returns a descriptor, or -1 with errno. */
[[nodiscard]] inline int listen_at(const sockaddr *address, socklen_t size, int backlog, int flags) noexcept
{
	const int listener = ::socket(address->sa_family, SOCK_STREAM | flags, 0);
	if (listener < 0)
		return listener;
	const int on = 1, off = 0;
	(void)::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->sa_family == AF_INET6) /* without an address it is that of both families */
		(void)::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (!::bind(listener, address, size) && !::listen(listener, backlog))
		return listener;
	const int error = errno;
	(void)::close(listener);
	errno = error;
	return -1;
}

/** Does the same on @p port, 0 for any, of all addresses: of both families, or of IPv4 if the host has no IPv6. */
[[nodiscard]] inline int listen_everywhere(std::uint16_t port, int backlog, int flags) noexcept
{
	sockaddr_in6 both{};
	both.sin6_family = AF_INET6;
	both.sin6_port = htons(port);
	const int listener = listen_at(reinterpret_cast<sockaddr *>(&both), sizeof(both), backlog, flags);
	if (listener >= 0 || errno != EAFNOSUPPORT)
		return listener;
	sockaddr_in ipv4{};
	ipv4.sin_family = AF_INET;
	ipv4.sin_port = htons(port);
	return listen_at(reinterpret_cast<sockaddr *>(&ipv4), sizeof(ipv4), backlog, flags);
}

} // namespace prism
