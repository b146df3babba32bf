/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "tcp.hpp"

#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::chrono::seconds frame_patience{10}; /* longest wait for the rest of a frame */

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

} // namespace

TcpConnection::TcpConnection(Descriptor connected) : socket_(std::move(connected))
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
	send_all(socket_, std::as_bytes(std::span(frame)));
}

Frame TcpConnection::receive(std::chrono::seconds patience)
{
	if (!readable(socket_.get(), static_cast<int>(std::chrono::milliseconds(patience).count())))
		throw silent_peer();
	std::array<std::uint8_t, frame_header_size> bytes{};
	receive_all(socket_, std::as_writable_bytes(std::span(bytes)));
	const auto header = decode_header(bytes);
	if (!header)
		throw Error(
			"the peer does not speak this tool's protocol; run the same version of the same tool on both "
			"sides");
	Frame frame{header->type, Bytes(header->length)};
	receive_all(socket_, std::as_writable_bytes(std::span(frame.body)));
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

TcpConnection connect_to(const std::string &host, std::uint16_t port)
{
	return TcpConnection(connect_socket(host, port));
}

} // namespace prism::perftest
