/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "slot.hpp"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "credentials.hpp"

namespace prism::soft
{

namespace
{

struct UnixName {
	sockaddr_un address{};
	socklen_t size = 0;

	[[nodiscard]] const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address); }
};

/* Most processes that may ask for our credentials between two calls of dismiss_visitors(). */
constexpr int max_visitors = 128;

/* Makes an abstract name: the first byte is 0, and the length says where the name ends. */
UnixName name_of(unsigned slot, std::uint32_t nonce)
{
	UnixName name;
	name.address.sun_family = AF_UNIX;
	char *text = name.address.sun_path + 1;
	const std::size_t room = sizeof(name.address.sun_path) - 1;
	const int length = nonce ? std::snprintf(text, room, "prism-rdma/%u/%08x", slot, nonce)
				 : std::snprintf(text, room, "prism-rdma/%u", slot);
	name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
	return name;
}

/*
 * Returns a socket bound to @p port of all addresses, if nobody has the port on any. Then only sockets of the same
 * user, with SO_REUSEPORT, may also bind the port on one address.
 */
FileDescriptor bind_everywhere(int family, std::uint16_t port)
{
	FileDescriptor made(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	if (!made)
		return {};
	const int on = 1, off = 0;
	sockaddr_in6 v6{};
	v6.sin6_family = AF_INET6;
	v6.sin6_port = htons(port);
	sockaddr_in v4{};
	v4.sin_family = AF_INET;
	v4.sin_port = htons(port);
	const bool both = family == AF_INET6;
	refuse_datagrams(made.get());
	if (both && ::setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0)
		return {};
	const auto *name = both ? reinterpret_cast<const sockaddr *>(&v6) : reinterpret_cast<const sockaddr *>(&v4);
	if (::bind(made.get(), name, both ? sizeof(v6) : sizeof(v4)) < 0)
		return {};
	if (::setsockopt(made.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
		return {};
	return made;
}

/* Guards the port for both families: IPv6's wildcard is IPv4's too. Hosts without IPv6 have only the latter. */
FileDescriptor guard_port(std::uint16_t port)
{
	FileDescriptor guard = bind_everywhere(AF_INET6, port);
	if (guard || errno == EADDRINUSE)
		return guard;
	return bind_everywhere(AF_INET, port);
}

} // namespace

void refuse_datagrams(int fd)
{
	sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	const sock_fprog program{1, &nothing};
	(void)::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

std::optional<Slot> Slot::claim(unsigned number)
{
	FileDescriptor guard = guard_port(source_port_of(number));
	if (!guard)
		return {};
	Slot slot(number, std::move(guard));
	for (std::uint32_t nonce = 0; !slot.take_name(nonce);)
		if (errno != EADDRINUSE || ::getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
			return {};
	return slot;
}

bool Slot::take_name(std::uint32_t nonce)
{
	FileDescriptor bound(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	const int on = 1;
	/* Before bind: a datagram that comes while this is off carries no credentials. */
	if (!bound || ::setsockopt(bound.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return false;
	const UnixName name = name_of(claimed_, nonce);
	if (::bind(bound.get(), name.get(), name.size) < 0)
		return false;
	FileDescriptor listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (!listening || ::bind(listening.get(), name.get(), name.size) < 0 ||
		::listen(listening.get(), max_visitors) < 0)
		return false;
	ending_ = nonce;
	socket_ = std::move(bound);
	listener_ = std::move(listening);
	return true;
}

/*
 * Connects the socket for sending first, and then asks for the owner of the name: in between the name can only have
 * changed hands if that socket is closed.
 */
FileDescriptor Slot::open_channel(unsigned to, std::uint32_t nonce)
{
	const UnixName name = name_of(to, nonce);
	FileDescriptor channel(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (!channel || ::connect(channel.get(), name.get(), name.size) < 0)
		return {};
	const FileDescriptor visitor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (!visitor || ::connect(visitor.get(), name.get(), name.size) < 0)
		return {};
	ucred owner{};
	socklen_t size = sizeof(owner);
	if (::getsockopt(visitor.get(), SOL_SOCKET, SO_PEERCRED, &owner, &size) < 0 || owner.uid != ::geteuid())
		return {};
	return channel;
}

bool Slot::send_through(int channel, std::span<iovec> parts)
{
	msghdr message{};
	message.msg_iov = parts.data();
	message.msg_iovlen = parts.size();
	return ::sendmsg(channel, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void Slot::tell(unsigned to, std::uint32_t nonce, std::span<iovec> parts) const
{
	UnixName name = name_of(to, nonce);
	msghdr message{};
	message.msg_name = &name.address;
	message.msg_namelen = name.size;
	message.msg_iov = parts.data();
	message.msg_iovlen = parts.size();
	(void)::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Slot::dismiss_visitors() const
{
	for (int i = 0; i <= max_visitors; i++)
		if (!FileDescriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)))
			return;
}

std::optional<std::size_t> Slot::receive(std::span<std::uint8_t> buffer) const
{
	/* No room for descriptors: those that a sender attaches are closed. */
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
	iovec part{buffer.data(), buffer.size()};
	msghdr message{};
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	const ssize_t size = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size < 0)
		return {};
	if ((message.msg_flags & MSG_TRUNC) || !sent_by_same_user(message))
		return 0;
	return static_cast<std::size_t>(size);
}

} // namespace prism::soft
