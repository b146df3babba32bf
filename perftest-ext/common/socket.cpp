/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "socket.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include "base/listen.hpp"
#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::chrono::seconds server_patience{5};
constexpr std::chrono::milliseconds retry_pause{50};

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

/* Sets @p error on failure. */
Descriptor connect_once(const addrinfo *list, int &error)
{
	for (const addrinfo *entry = list; entry; entry = entry->ai_next) {
		Descriptor connected(socket(entry->ai_family, entry->ai_socktype | SOCK_CLOEXEC, entry->ai_protocol));
		if (connected.get() >= 0 && !connect(connected.get(), entry->ai_addr, entry->ai_addrlen))
			return connected;
		error = errno;
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
	return Descriptor(fd);
}

Descriptor connect_socket(const std::string &host, std::uint16_t port)
{
	const AddressList list = resolve(host, port);
	const auto end = std::chrono::steady_clock::now() + server_patience;
	int error = 0;
	for (;;) {
		Descriptor connected = connect_once(list.get(), error);
		if (connected.get() >= 0)
			return connected;
		if (error != ECONNREFUSED || std::chrono::steady_clock::now() > end)
			break;
		std::this_thread::sleep_for(retry_pause);
	}
	throw system_error(fmt::format("cannot connect to {} port {}", host, port), error,
		error == ENETUNREACH ? "no network interface that leads there is up: see 'ip address'"
				     : "start the server first, without a host, with the same -p");
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
		if (count < 0)
			throw system_error("no message from the peer over TCP", errno == EAGAIN ? ETIMEDOUT : errno,
				"check that both sides run the same tool");
		bytes = bytes.subspan(static_cast<std::size_t>(count));
	}
}

} // namespace prism::perftest
