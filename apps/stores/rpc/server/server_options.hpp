/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "rpc/way.hpp"
#include "service/log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace prism::rpc
{

struct ServerOptions {
	Way way = Way::two_sided;            /**< way of requests and responses; clients must ask for the same */
	std::string address;                 /**< to listen on; empty: all */
	std::uint16_t port = 0;              /**< 0: any, see Server::port() */
	unsigned threads = 1;                /**< workers */
	std::uint32_t max_key_size = 256;    /**< bytes; at most 65,535 */
	std::uint32_t max_value_size = 8192; /**< bytes; with the longest key and 24 bytes at most 65,536 */
	std::uint32_t max_depth = 64;        /**< calls under way on one connection */
	std::uint32_t max_connections = 64;
	/**
	 * Receive buffers for all connections, each as long as the longest request. A client is promised as many as it
	 * announces calls at once; it is refused if fewer are left.
	 */
	std::uint32_t receive_buffers = 1024;
	/** reply, fetch: time after which a client is refused if its request is still not whole. */
	std::chrono::milliseconds torn_limit = std::chrono::seconds(10);
	/**
	 * slots: time after which an ALLOCATE has surely ended. So long after the end of a connection, buffers that no
	 * slot shows are lost, and given back. If requests wait for a response buffer and none comes back in half of
	 * this time, the clients that keep them have stopped, and are closed.
	 */
	std::chrono::milliseconds lost_after = std::chrono::seconds(10);
	/**
	 * Time that a worker without work looks for more before it naps. On a device that only its callers drive it
	 * must never nap (duration::max()).
	 */
	std::chrono::nanoseconds spin = std::chrono::microseconds(200);
	std::chrono::nanoseconds max_nap = std::chrono::milliseconds(2);   /**< naps grow up to this */
	std::chrono::milliseconds setup_timeout = std::chrono::seconds(2); /**< of one client; others do not wait */
	bool timed = false; /**< fill in ServerStats::handling, which reads the clock twice for each call */
	/**
	 * Receives the reasons for refused and closed connections, from any of the server's threads; null: standard
	 * error.
	 */
	apps::LogSink log;

	[[nodiscard]] std::size_t connections_of_worker() const noexcept
	{
		return (max_connections + threads - 1) / threads;
	}
};

} // namespace prism::rpc
