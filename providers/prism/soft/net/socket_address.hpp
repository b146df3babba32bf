/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Conversions between GIDs and the addresses of socket calls. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <arpa/inet.h>

#include "packet.hpp"

namespace prism::soft
{

union SocketAddress {
	sockaddr any;
	sockaddr_in v4;
	sockaddr_in6 v6;

	[[nodiscard]] socklen_t size() const { return any.sa_family == AF_INET ? sizeof(v4) : sizeof(v6); }

	/** Returns the port in host order. */
	[[nodiscard]] std::uint16_t port() const
	{
		return ntohs(any.sa_family == AF_INET ? v4.sin_port : v6.sin6_port);
	}
};

inline bool is_link_local(const Address &address)
{
	return address.gid[0] == 0xfe && (address.gid[1] & 0xc0) == 0x80;
}

inline Address address_from_ipv4(const in_addr &ip)
{
	Address address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0}};
	std::memcpy(address.gid.data() + 12, &ip, sizeof(ip));
	return address;
}

/** Converts @p from, of family AF_INET or AF_INET6. */
inline Address address_from(const sockaddr &from)
{
	if (from.sa_family == AF_INET)
		return address_from_ipv4(reinterpret_cast<const sockaddr_in &>(from).sin_addr);
	Address address;
	std::memcpy(address.gid.data(), &reinterpret_cast<const sockaddr_in6 &>(from).sin6_addr, address.gid.size());
	return address;
}

/** @p scope is the interface index, used only for link-local addresses and groups. @p port is in host order. */
inline SocketAddress to_socket_address(const Address &address, std::uint16_t port, unsigned scope)
{
	SocketAddress to{};
	if (address.is_ipv4()) {
		to.v4.sin_family = AF_INET;
		to.v4.sin_port = htons(port);
		std::memcpy(&to.v4.sin_addr, address.gid.data() + 12, sizeof(to.v4.sin_addr));
	} else {
		to.v6.sin6_family = AF_INET6;
		to.v6.sin6_port = htons(port);
		std::memcpy(&to.v6.sin6_addr, address.gid.data(), address.gid.size());
		to.v6.sin6_scope_id = is_link_local(address) || address.is_multicast() ? scope : 0;
	}
	return to;
}

inline std::string to_string(const Address &address)
{
	std::array<char, INET6_ADDRSTRLEN> text{};
	const bool v4 = address.is_ipv4();
	inet_ntop(v4 ? AF_INET : AF_INET6, address.gid.data() + (v4 ? 12 : 0), text.data(), text.size());
	return text.data();
}

} // namespace prism::soft
