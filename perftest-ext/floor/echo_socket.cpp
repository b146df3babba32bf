/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "echo_socket.hpp"

#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace prism::floor
{

namespace
{

[[noreturn]] void fail(const std::string &what, int why = errno)
{
	throw std::runtime_error(what + ": " + std::strerror(why));
}

void set_option(int fd, int level, int name, int value)
{
	(void)::setsockopt(fd, level, name, &value, sizeof(value));
}

union Name {
	sockaddr any;
	sockaddr_in v4;
	sockaddr_in6 v6;

	in_port_t &port() { return any.sa_family == AF_INET ? v4.sin_port : v6.sin6_port; }
};

Name name_of(int fd, int (*which)(int, sockaddr *, socklen_t *))
{
	Name name{};
	socklen_t size = sizeof(name);
	if (which(fd, &name.any, &size) < 0)
		fail("cannot read a socket's address");
	return name;
}

void enlarge(int fd, int force, int plain)
{
	const int size = 4 << 20;
	if (::setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)) < 0)
		set_option(fd, SOL_SOCKET, plain, size);
}

} // namespace

Peer state_of_peer(const Descriptor &control)
{
	char byte;
	const ssize_t got = ::recv(control.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	if (got > 0)
		return Peer::done;
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? Peer::runs : Peer::gone;
}

EchoSocket::EchoSocket(const Descriptor &control)
{
	Name local = name_of(control.get(), ::getsockname);
	Name peer = name_of(control.get(), ::getpeername);
	fd_ = Descriptor(::socket(local.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	const socklen_t size = local.any.sa_family == AF_INET ? sizeof(local.v4) : sizeof(local.v6);
	local.port() = 0;
	if (fd_.get() < 0 || ::bind(fd_.get(), &local.any, size) < 0)
		fail("cannot bind a UDP socket");
	in_port_t port = name_of(fd_.get(), ::getsockname).port();
	perftest::send_all(control, std::as_bytes(std::span(&port, 1)));
	perftest::receive_all(control, std::as_writable_bytes(std::span(&port, 1)));
	peer.port() = port;
	if (::connect(fd_.get(), &peer.any, size) < 0)
		fail("cannot reach the other side's UDP socket");
	enlarge(fd_.get(), SO_RCVBUFFORCE, SO_RCVBUF);
	enlarge(fd_.get(), SO_SNDBUFFORCE, SO_SNDBUF);
}

void EchoSocket::enable_trains()
{
	set_option(fd_.get(), IPPROTO_UDP, UDP_GRO, 1);
}

std::size_t EchoSocket::receive_room() const
{
	int size = 0;
	socklen_t length = sizeof(size);
	(void)::getsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &size, &length);
	return static_cast<std::size_t>(size);
}

bool EchoSocket::send_train(std::span<const std::uint8_t> data, std::size_t segment)
{
	if (data.size() <= segment)
		return send(data);
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(std::uint16_t))] = {};
	iovec piece{const_cast<std::uint8_t *>(data.data()), data.size()}; /* only read */
	msghdr message{};
	message.msg_iov = &piece;
	message.msg_iovlen = 1;
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	cmsghdr *part = CMSG_FIRSTHDR(&message);
	part->cmsg_level = IPPROTO_UDP;
	part->cmsg_type = UDP_SEGMENT;
	part->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
	const auto value = static_cast<std::uint16_t>(segment);
	std::memcpy(CMSG_DATA(part), &value, sizeof(value));
	return ::sendmsg(fd_.get(), &message, MSG_DONTWAIT) >= 0;
}

EchoSocket::Train EchoSocket::receive_train()
{
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	iovec piece{buffer_.get(), buffer_size};
	msghdr message{};
	message.msg_iov = &piece;
	message.msg_iovlen = 1;
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	const ssize_t size = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT);
	if (size <= 0)
		return {{}, 1};
	int segment = static_cast<int>(size);
	const cmsghdr *part = CMSG_FIRSTHDR(&message);
	if (part && part->cmsg_level == IPPROTO_UDP && part->cmsg_type == UDP_GRO)
		std::memcpy(&segment, CMSG_DATA(part), sizeof(segment));
	return {{buffer_.get(), static_cast<std::size_t>(size)}, static_cast<std::size_t>(segment)};
}

std::uint8_t *TrainWriter::add(std::size_t size)
{
	const bool joins = size <= segment_ && bytes_ == packets_ * segment_ && packets_ < max_train_packets &&
			   bytes_ + size <= max_train_bytes;
	if (!joins) {
		flush();
		segment_ = size;
	}
	std::uint8_t *packet = data_.get() + bytes_;
	packets_++;
	bytes_ += size;
	return packet;
}

/* Sends the train. One that the kernel does not take is lost, as on a wire; the client asks again. */
void TrainWriter::flush()
{
	if (bytes_ > 0)
		(void)socket_.send_train({data_.get(), bytes_}, segment_);
	packets_ = bytes_ = segment_ = 0;
}

} // namespace prism::floor
