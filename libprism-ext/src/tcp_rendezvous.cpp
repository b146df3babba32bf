/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/connection.hpp>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/listen.hpp"
#include "base/name_lookup.hpp"

namespace prism
{

namespace
{

constexpr const char *more_descriptors = "raise the limit of open files (ulimit -n)";

bool lacks_descriptors(int error) noexcept
{
	return error == EMFILE || error == ENFILE;
}

/* As many as the kernel lets wait (net.core.somaxconn): a client that finds no place retries a second later. */
constexpr int backlog = SOMAXCONN;
constexpr int socket_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
constexpr auto retry_pause = std::chrono::milliseconds(20);
/* Sent by each side once its queue pair is ready. */
constexpr std::byte ready_mark{0xa5};

Error not_found(const std::string &host, int error)
{
	return Error{error == EAI_INPROGRESS ? ETIMEDOUT : EHOSTUNREACH, describe_lookup(host, error)};
}

/* Returns 0, ETIMEDOUT or errno. */
int wait_for(int fd, short events, Deadline deadline) noexcept
{
	for (;;) {
		pollfd entry{.fd = fd, .events = events, .revents = 0};
		const int ready = poll(&entry, 1, static_cast<int>(time_left(deadline).count()));
		if (ready > 0)
			return 0;
		if (ready == 0)
			return ETIMEDOUT;
		if (errno != EINTR)
			return errno;
	}
}

int finish_connect(int fd, Deadline deadline) noexcept
{
	if (const int error = wait_for(fd, POLLOUT, deadline))
		return error;
	int error = 0;
	socklen_t size = sizeof(error);
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

void set_nodelay(int fd) noexcept
{
	/* A failure costs only latency. */
	const int on = 1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Error lost_peer(int code)
{
	return make_error(code, "connection set-up with the peer", "look at the peer's messages; it may have refused");
}

} // namespace

TcpRendezvous::Socket::~Socket()
{
	if (fd_ >= 0)
		close(fd_);
}

Result<TcpRendezvous::Socket> TcpRendezvous::connect_once(
	const std::string &host, std::uint16_t port, Deadline deadline)
{
	const FoundAddresses found = look_up(host, port, deadline);
	if (found.error)
		return not_found(host, found.error);
	int error = EHOSTUNREACH;
	for (const addrinfo *address = found.list.get(); address; address = address->ai_next) {
		Socket candidate(socket_of(address->ai_family));
		if (candidate.get() < 0) {
			error = errno;
			continue;
		}
		error = ::connect(candidate.get(), address->ai_addr, address->ai_addrlen) ? errno : 0;
		if (error == EINPROGRESS)
			error = finish_connect(candidate.get(), deadline);
		if (!error) {
			set_nodelay(candidate.get());
			return candidate;
		}
	}
	return make_error(error, "cannot connect to " + host + " port " + std::to_string(port),
		lacks_descriptors(error) ? more_descriptors : "is the server running?");
}

int TcpRendezvous::socket_of(int family) noexcept
{
	return ::socket(family, SOCK_STREAM | socket_flags, 0);
}

Result<TcpRendezvous> TcpRendezvous::connect(
	const std::string &host, std::uint16_t port, std::chrono::milliseconds timeout)
{
	const Deadline deadline = std::chrono::steady_clock::now() + timeout;
	for (;;) {
		Result<Socket> connected = connect_once(host, port, deadline);
		if (connected)
			return TcpRendezvous(*std::move(connected));
		/* The server may still be starting. */
		if (connected.error().code != ECONNREFUSED || std::chrono::steady_clock::now() + retry_pause > deadline)
			return connected.error();
		std::this_thread::sleep_for(retry_pause);
	}
}

Result<void> TcpRendezvous::send(std::span<const std::byte> bytes, Deadline deadline) const
{
	while (!bytes.empty()) {
		const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
		if (sent >= 0) {
			bytes = bytes.subspan(static_cast<std::size_t>(sent));
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return lost_peer(errno);
		if (const int error = wait_for(socket_.get(), POLLOUT, deadline))
			return lost_peer(error);
	}
	return {};
}

Result<void> TcpRendezvous::receive(std::span<std::byte> bytes, Deadline deadline) const
{
	while (!bytes.empty()) {
		/* Wait first, so that a peer that sends a few bytes at a time cannot outlast the deadline. */
		if (const int error = wait_for(socket_.get(), POLLIN, deadline))
			return lost_peer(error);
		const ssize_t got = recv(socket_.get(), bytes.data(), bytes.size(), 0);
		if (got == 0)
			return lost_peer(ECONNRESET);
		if (got > 0)
			bytes = bytes.subspan(static_cast<std::size_t>(got));
		else if (errno != EINTR && errno != EAGAIN)
			return lost_peer(errno);
		if (!bytes.empty() && std::chrono::steady_clock::now() >= deadline)
			return lost_peer(ETIMEDOUT);
	}
	return {};
}

Result<ConnectionRecord> TcpRendezvous::swap(const ConnectionRecord &mine, Deadline deadline)
{
	Result<std::vector<std::byte>> out = mine.serialize();
	if (!out)
		return out.error();
	/* Both sides send first: a record fits a socket buffer, so neither waits for the other to read. */
	if (Result<void> sent = send(*out, deadline); !sent)
		return sent.error();

	std::vector<std::byte> in(ConnectionRecord::prefix_size);
	if (Result<void> got = receive(in, deadline); !got)
		return got.error();
	Result<std::size_t> size = ConnectionRecord::announced_size(in);
	if (!size)
		return size.error();
	in.resize(*size);
	if (Result<void> got = receive(std::span(in).subspan(ConnectionRecord::prefix_size), deadline); !got)
		return got.error();
	return ConnectionRecord::parse(in);
}

Result<void> TcpRendezvous::barrier(Deadline deadline)
{
	const std::array<std::byte, 1> out{ready_mark};
	if (Result<void> sent = send(out, deadline); !sent)
		return sent;
	std::array<std::byte, 1> in{};
	if (Result<void> got = receive(in, deadline); !got)
		return got;
	if (in[0] != ready_mark)
		return make_error(EBADMSG, "the peer did not confirm that it is ready");
	return {};
}

bool TcpRendezvous::peer_gone() const noexcept
{
	char byte;
	const ssize_t got = recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

namespace
{

Error cannot_listen(int error, std::uint16_t port, const std::string &address)
{
	const char *const next_step =
		lacks_descriptors(error) ? more_descriptors
		: error == EADDRNOTAVAIL ? "no interface of this host has this address; choose another, or none for all"
		: error == EACCES        ? "choose a port above 1023, or 0 for any"
					 : "choose another port, or 0 for any";
	const std::string where = address.empty() ? "" : address + ", ";
	return make_error(error, "cannot listen on " + where + "port " + std::to_string(port), next_step);
}

/** Returns a descriptor, or -1 with errno. Errors: @p address cannot be resolved. */
Result<int> listen_on(const std::string &address, std::uint16_t port)
{
	const FoundAddresses found = look_up(address, port, AI_PASSIVE);
	if (found.error)
		return not_found(address, found.error);
	return listen_at(found.list->ai_addr, found.list->ai_addrlen, backlog, socket_flags);
}

} // namespace

Result<TcpListener> TcpListener::create(std::uint16_t port, const std::string &address)
{
	Result<int> listener =
		address.empty() ? listen_everywhere(port, backlog, socket_flags) : listen_on(address, port);
	if (!listener)
		return listener.error();
	TcpRendezvous::Socket listening(*listener);
	if (listening.get() < 0)
		return cannot_listen(errno, port, address);

	sockaddr_storage bound{};
	socklen_t size = sizeof(bound);
	if (getsockname(listening.get(), reinterpret_cast<sockaddr *>(&bound), &size))
		return make_error(errno, "cannot tell the port that is listened on");
	const in_port_t chosen = bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6 *>(&bound)->sin6_port
							     : reinterpret_cast<const sockaddr_in *>(&bound)->sin_port;
	return TcpListener(std::move(listening), ntohs(chosen));
}

Result<TcpRendezvous> TcpListener::accept(std::chrono::milliseconds timeout)
{
	const Deadline deadline = std::chrono::steady_clock::now() + timeout;
	for (;;) {
		if (const int error = wait_for(socket_.get(), POLLIN, deadline))
			return make_error(error, "no client connected to port " + std::to_string(bound_port_));
		const int accepted = accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (accepted >= 0) {
			set_nodelay(accepted);
			return TcpRendezvous(TcpRendezvous::Socket(accepted));
		}
		/* A client that gave up meanwhile does not concern the caller. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			return make_error(errno, "cannot accept clients on port " + std::to_string(bound_port_),
				"if it lacks descriptors, raise the limit of open files (ulimit -n)");
	}
}

} // namespace prism
