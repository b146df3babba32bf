/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <vector>

#include "base/descriptor.hpp"

namespace prism::test
{

/** Returns @p count different TCP ports of this host that are free now, as places {host, port} of servers. */
template <typename Place>
std::vector<Place> free_places(unsigned count)
{
	std::vector<Place> places;
	std::vector<Descriptor> sockets; /* all open at once: a released port may be the next one found */
	for (unsigned i = 0; i < count; i++) {
		sockets.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t length = sizeof(address);
		if (::bind(sockets.back().get(), reinterpret_cast<sockaddr *>(&address), length) ||
			::getsockname(sockets.back().get(), reinterpret_cast<sockaddr *>(&address), &length))
			std::abort();
		places.push_back({"127.0.0.1", ntohs(address.sin_port)});
	}
	return places;
}

} // namespace prism::test
