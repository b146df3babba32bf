/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The TCP connection beside the queue pairs, and frames on it. Not thread-safe. */
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <sys/socket.h>

#include "common/exchange.hpp"
#include "common/socket.hpp"

namespace prism::perftest
{

struct Frame {
	FrameType type;
	Bytes body;
};

class TcpConnection
{
public:
	explicit TcpConnection(Descriptor socket_);

	/** Throws Error if the bytes cannot be sent. */
	void send(const Bytes &frame);

	/**
	 * Returns the next frame. Throws Error if the peer closes, sends something else, or stays silent for @p
	 * patience, from the start or after the beginning of a frame.
	 */
	[[nodiscard]] Frame receive(std::chrono::seconds patience);

	/**
	 * Returns the next frame, however long it takes. Calls @p idle, if there is one, over and over meanwhile;
	 * without it the thread sleeps.
	 */
	[[nodiscard]] Frame wait(const std::function<void()> &idle);

	/** Returns this side's address of the connection. */
	[[nodiscard]] const sockaddr_storage &local_address() const { return local_; }

private:
	Descriptor socket_;
	sockaddr_storage local_{};
};

/** Connects to the server on @p host, as connect_socket(). */
[[nodiscard]] TcpConnection connect_to(const std::string &host, std::uint16_t port);

} // namespace prism::perftest
