/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "tcp.hpp"

#include <cerrno>
#include <memory>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::chrono::seconds frame_patience{10}; /* a frame that has begun comes to its end */

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const std::string &host, std::uint16_t port)
{
	addrinfo hints{};
	hints.ai_socktype = SOCK_STREAM;
	addrinfo *list = nullptr;
	const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
	if (error)
		throw Error(fmt::format("{}: {}; name a host where the server runs", host, gai_strerror(error)));
	return {list, freeaddrinfo};
}

void set_timeout(int fd, int option, std::chrono::seconds seconds)
{
	timeval value{};
	value.tv_sec = seconds.count();
	setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value));
}

bool readable(int fd, int timeout_ms)
{
	pollfd entry{fd, POLLIN, 0};
	return poll(&entry, 1, timeout_ms) > 0;
}

/* One socket takes both families, where the host has IPv6. */
Socket open_listener(int family)
{
	Socket listener(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
	const int on = 1;
	const int off = 0;
	setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	return listener;
}

int bind_any(const Socket &listener, int family, std::uint16_t port)
{
	sockaddr_in6 any6{};
	any6.sin6_family = AF_INET6;
	any6.sin6_port = htons(port);
	sockaddr_in any4{};
	any4.sin_family = AF_INET;
	any4.sin_port = htons(port);
	if (family == AF_INET6)
		return bind(listener.get(), reinterpret_cast<const sockaddr *>(&any6), sizeof(any6));
	return bind(listener.get(), reinterpret_cast<const sockaddr *>(&any4), sizeof(any4));
}

} // namespace

Socket::~Socket()
{
	if (fd_ >= 0)
		close(fd_);
}

TcpConnection::TcpConnection(Socket connected) : socket_(std::move(connected))
{
	const int on = 1;
	setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	set_timeout(socket_.get(), SO_RCVTIMEO, frame_patience);
	set_timeout(socket_.get(), SO_SNDTIMEO, frame_patience);
	socklen_t length = sizeof(local_);
	if (getsockname(socket_.get(), reinterpret_cast<sockaddr *>(&local_), &length))
		throw system_error("getsockname", errno);
}

void TcpConnection::send(const Bytes &frame)
{
	std::size_t sent = 0;
	while (sent < frame.size()) {
		const ssize_t count = ::send(socket_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			throw system_error("cannot send to the peer over TCP", errno, "see what the peer printed");
		sent += static_cast<std::size_t>(count);
	}
}

void TcpConnection::receive_exactly(std::span<std::uint8_t> bytes)
{
	while (!bytes.empty()) {
		const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
		if (count < 0 && errno == EINTR)
			continue;
		if (count == 0)
			throw Error("the peer closed the TCP connection before the run was over; see what it printed");
		if (count < 0)
			throw system_error("no message from the peer over TCP", errno == EAGAIN ? ETIMEDOUT : errno,
				"check that both sides run the same tool");
		bytes = bytes.subspan(static_cast<std::size_t>(count));
	}
}

Frame TcpConnection::receive(std::chrono::seconds patience)
{
	if (!readable(socket_.get(), static_cast<int>(std::chrono::milliseconds(patience).count())))
		throw Error("the peer does not answer over TCP; check that it runs the same tool");
	std::array<std::uint8_t, frame_header_size> bytes{};
	receive_exactly(bytes);
	const auto header = decode_header(bytes);
	if (!header)
		throw Error(
			"the peer does not speak this tool's protocol; run the same version of the same tool on both "
			"sides");
	Frame frame{header->type, Bytes(header->length)};
	receive_exactly(frame.body);
	return frame;
}

Frame TcpConnection::wait(const std::function<void()> &idle)
{
	if (!idle) {
		while (!readable(socket_.get(), -1))
			continue;
		return receive(frame_patience);
	}
	constexpr int calls_between_looks = 1000; /* a look costs more than an idle call */
	while (!readable(socket_.get(), 0))
		for (int i = 0; i < calls_between_looks; i++)
			idle();
	return receive(frame_patience);
}

Socket listen_on(std::uint16_t port)
{
	int family = AF_INET6;
	Socket listener = open_listener(family);
	if (listener.get() < 0) {
		family = AF_INET;
		listener = open_listener(family);
	}
	if (listener.get() < 0 || bind_any(listener, family, port) || listen(listener.get(), 1))
		throw system_error(fmt::format("cannot listen on TCP port {}", port), errno,
			"another server may have it: choose another port with -p on both sides");
	return listener;
}

TcpConnection accept_from(const Socket &listener)
{
	int fd = -1;
	do
		fd = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd < 0)
		throw system_error("cannot accept a TCP connection", errno);
	return TcpConnection(Socket(fd));
}

TcpConnection connect_to(const std::string &host, std::uint16_t port)
{
	const AddressList list = resolve(host, port);
	int error = 0;
	for (const addrinfo *entry = list.get(); entry; entry = entry->ai_next) {
		Socket connected(socket(entry->ai_family, entry->ai_socktype | SOCK_CLOEXEC, entry->ai_protocol));
		if (connected.get() >= 0 && !connect(connected.get(), entry->ai_addr, entry->ai_addrlen))
			return TcpConnection(std::move(connected));
		error = errno;
	}
	throw system_error(fmt::format("cannot connect to {} port {}", host, port), error,
		"start the server first, without a host, with the same -p");
}

} // namespace prism::perftest
