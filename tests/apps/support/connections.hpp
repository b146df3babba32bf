/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* TCP connections of this process, for tests that cut them. */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

namespace prism::test
{

/** Returns the descriptors of this process' connections to @p port, over IPv4. */
inline std::vector<int> connections_to(std::uint16_t port)
{
	constexpr int most_descriptors = 1024;
	std::vector<int> found;
	for (int fd = 3; fd < most_descriptors; fd++) {
		sockaddr_in peer{};
		socklen_t length = sizeof(peer);
		if (!getpeername(fd, reinterpret_cast<sockaddr *>(&peer), &length) && ntohs(peer.sin_port) == port)
			found.push_back(fd);
	}
	return found;
}

/** Shuts down a connection; both ends see it, as if the network had reset it. Returns false if it was gone already. */
inline bool cut(int fd)
{
	return !shutdown(fd, SHUT_RDWR);
}

} // namespace prism::test
