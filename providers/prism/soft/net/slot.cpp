/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "slot.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace prism::soft
{

namespace
{

struct UnixName {
	sockaddr_un address{};
	socklen_t size = 0;
};

/* Abstract: the first byte is 0, and the length says where the name ends. */
UnixName name_of(unsigned slot)
{
	UnixName name;
	name.address.sun_family = AF_UNIX;
	char *text = name.address.sun_path + 1;
	const int length = std::snprintf(text, sizeof(name.address.sun_path) - 1, "prism-rdma/%u", slot);
	name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
	return name;
}

bool same_user(msghdr &message)
{
	for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
			continue;
		ucred sender;
		std::memcpy(&sender, CMSG_DATA(part), sizeof(sender));
		return sender.uid == ::getuid();
	}
	return false;
}

} // namespace

std::optional<Slot> Slot::claim(unsigned number)
{
	FileDescriptor bound(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	const int on = 1;
	/* Before bind: a datagram that comes while this is off carries no credentials. */
	if (!bound || ::setsockopt(bound.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return {};
	const UnixName name = name_of(number);
	if (::bind(bound.get(), reinterpret_cast<const sockaddr *>(&name.address), name.size) < 0)
		return {};
	return Slot(number, std::move(bound));
}

bool Slot::send(unsigned to, std::span<iovec> parts) const
{
	UnixName name = name_of(to);
	msghdr message{};
	message.msg_name = &name.address;
	message.msg_namelen = name.size;
	message.msg_iov = parts.data();
	message.msg_iovlen = parts.size();
	return ::sendmsg(socket.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

std::optional<std::size_t> Slot::receive(std::span<std::uint8_t> buffer) const
{
	/* Room for descriptors is not given, so a sender that attaches some only has them closed. */
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
	iovec part{buffer.data(), buffer.size()};
	msghdr message{};
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	const ssize_t size = ::recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size < 0)
		return {};
	if ((message.msg_flags & MSG_TRUNC) || !same_user(message))
		return 0;
	return static_cast<std::size_t>(size);
}

} // namespace prism::soft
