/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UdpPort: multicast groups. Each has a socket bound to its address, which receives a copy of every datagram. */
#include <algorithm>
#include <cerrno>

#include "udp_port.hpp"
#include "udp_port_private.hpp"

namespace prism::soft
{

namespace
{

/* Returns 0 or errno. */
template <typename Value>
int set(int fd, int level, int option, const Value &value)
{
	return ::setsockopt(fd, level, option, &value, sizeof(value)) < 0 ? errno : 0;
}

/*
 * Joins by @p interface alone: else Linux also delivers what other sockets of the host have joined by others. Before
 * 5.7, binding to an interface takes a privilege. Returns 0 or errno.
 */
int become_member(int fd, const SocketAddress &group, unsigned interface)
{
	(void)set(fd, SOL_SOCKET, SO_BINDTOIFINDEX, static_cast<int>(interface));
	if (group.any.sa_family == AF_INET) {
		const ip_mreqn wanted{group.v4.sin_addr, {}, static_cast<int>(interface)};
		return set(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, wanted);
	}
	const ipv6_mreq wanted{group.v6.sin6_addr, interface};
	return set(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, wanted);
}

} // namespace

int UdpPort::join(const Address &group)
{
	const auto groups = std::span(sockets_).subspan(own_);
	const auto there = std::ranges::find(groups, group, &Socket::local);
	if (there != groups.end()) {
		there->joined++;
		return 0;
	}
	if (groups.size() == max_groups)
		return ENOSPC;
	Socket made{.local = group, .fd = {}, .out = {}, .joined = 1};
	if (const int why = bind_socket(made, false))
		return why;
	if (const int why = become_member(made.fd.get(), to_socket_address(group, roce_port, info_.index), info_.index))
		return why;
	std::lock_guard guard(listing_);
	sockets_.push_back(std::move(made));
	check_all_ = true;
	return 0;
}

void UdpPort::leave(const Address &group)
{
	for (std::size_t i = own_; i < sockets_.size(); i++) {
		if (sockets_[i].local != group || --sockets_[i].joined > 0)
			continue;
		std::lock_guard guard(listing_);
		dropped_by_groups_ += kernel_drops(sockets_[i].fd.get());
		sockets_.erase(sockets_.begin() + static_cast<std::ptrdiff_t>(i));
		hot_ = 0;
		check_all_ = true;
		return;
	}
}

} // namespace prism::soft
