/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "socket.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/listen.hpp"
#include "base/name_lookup.hpp"

namespace prism::perftest
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds server_patience{5};
constexpr std::chrono::milliseconds retry_pause{50};

/** Sets the time after which a call that waits for the peer fails. */
void set_patience(const Descriptor &connected, std::chrono::seconds patience)
{
	timeval value{};
	value.tv_sec = patience.count();
	(void)setsockopt(connected.get(), SOL_SOCKET, SO_RCVTIMEO, &value, sizeof(value));
	(void)setsockopt(connected.get(), SOL_SOCKET, SO_SNDTIMEO, &value, sizeof(value));
}

std::shared_ptr<addrinfo> resolve(const std::string &host, std::uint16_t port, Clock::time_point end)
{
	const FoundAddresses found = look_up(host, port, end);
	if (found.error)
		throw Error(describe_lookup(host, found.error));
	return found.list;
}

/* Sets @p error on failure. */
Descriptor connect_once(const addrinfo *list, int &error)
{
	for (const addrinfo *entry = list; entry; entry = entry->ai_next) {
		Descriptor connected(socket(entry->ai_family, entry->ai_socktype | SOCK_CLOEXEC, entry->ai_protocol));
		if (connected.get() >= 0) {
			set_patience(connected, server_patience); /* that to send limits connect(2), too */
			if (!connect(connected.get(), entry->ai_addr, entry->ai_addrlen))
				return connected;
		}
		error = errno == EINPROGRESS ? ETIMEDOUT : errno;
	}
	return Descriptor();
}

} // namespace

Descriptor listen_on(std::uint16_t port)
{
	Descriptor listener(listen_everywhere(port, 1, SOCK_CLOEXEC));
	if (listener.get() < 0)
		throw system_error(fmt::format("cannot listen on TCP port {}", port), errno,
			"another server may have it: choose another port with -p on both sides");
	return listener;
}

Descriptor accept_socket(const Descriptor &listener)
{
	int fd = -1;
	do
		fd = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd < 0)
		throw system_error("cannot accept a TCP connection", errno);
	Descriptor accepted(fd);
	set_patience(accepted, answer_patience);
	return accepted;
}

Descriptor connect_socket(const std::string &host, std::uint16_t port)
{
	const Clock::time_point end = Clock::now() + server_patience;
	const std::shared_ptr<addrinfo> list = resolve(host, port, end);
	int error = 0;
	for (;;) {
		Descriptor connected = connect_once(list.get(), error);
		if (connected.get() >= 0) {
			set_patience(connected, answer_patience);
			return connected;
		}
		if (error != ECONNREFUSED || Clock::now() > end)
			break;
		std::this_thread::sleep_for(retry_pause);
	}
	throw system_error(fmt::format("cannot connect to {} port {}", host, port), error,
		error == ENETUNREACH ? "no network interface that leads there is up: see 'ip address'"
				     : "start the server first, without a host, with the same -p");
}

Error silent_peer()
{
	return Error(
		"the peer does not answer over TCP; see if it is stopped, serves another client, or is another tool");
}

void send_all(const Descriptor &connected, std::span<const std::byte> bytes)
{
	while (!bytes.empty()) {
		const ssize_t count = send(connected.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			throw system_error("cannot send to the peer over TCP", errno, "see what the peer printed");
		bytes = bytes.subspan(static_cast<std::size_t>(count));
	}
}

void receive_all(const Descriptor &connected, std::span<std::byte> bytes)
{
	while (!bytes.empty()) {
		const ssize_t count = recv(connected.get(), bytes.data(), bytes.size(), 0);
		if (count < 0 && errno == EINTR)
			continue;
		if (count == 0)
			throw Error("the peer closed the TCP connection before the run was over; see what it printed");
		if (count < 0 && errno == EAGAIN)
			throw silent_peer();
		if (count < 0)
			throw system_error("no message from the peer over TCP", errno);
		bytes = bytes.subspan(static_cast<std::size_t>(count));
	}
}

} // namespace prism::perftest
