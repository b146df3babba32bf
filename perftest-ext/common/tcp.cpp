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

TcpConnection connect_to(const std::string &host, std::uint16_t port)
{
	return TcpConnection(connect_socket(host, port));
}

} // namespace prism::perftest
