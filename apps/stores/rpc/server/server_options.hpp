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
	Way way = Way::two_sided;            /**< how calls come and responses go; clients must ask for the same */
	std::string address;                 /**< to listen on; empty: all */
	std::uint16_t port = 0;              /**< 0: any, see Server::port() */
	unsigned threads = 1;                /**< workers */
	std::uint32_t max_key_size = 256;    /**< bytes; at most 65,535 */
	std::uint32_t max_value_size = 8192; /**< bytes; with the longest key and 24 bytes at most 65,536 */
	std::uint32_t max_depth = 64;        /**< calls under way on one connection */
	std::uint32_t max_connections = 64;
	/** For all connections, each as long as the longest request. A client is promised as many as it announces
	 * calls at once; one that would be promised more than are left is refused. */
	std::uint32_t receive_buffers = 1024;
	/** reply, fetch: a client is refused whose request does not become whole in this time. */
	std::chrono::milliseconds torn_limit = std::chrono::seconds(10);
	/** slots: after this time an ALLOCATE has surely ended. So long behind the end of a connection, buffers that
	 * are nowhere to be seen are lost, and given back. If none for responses comes back in half of this time
	 * although requests wait for one, the clients that keep them have stopped, and are closed. */
	std::chrono::milliseconds lost_after = std::chrono::seconds(10);
	/** How long a worker without work looks for more before it naps; on a device that only its callers drive it
	 * must never nap (duration::max()). */
	std::chrono::nanoseconds spin = std::chrono::microseconds(200);
	std::chrono::nanoseconds max_nap = std::chrono::milliseconds(2);   /**< naps grow up to this */
	std::chrono::milliseconds setup_timeout = std::chrono::seconds(2); /**< of one client; others do not wait */
	bool timed = false; /**< fill in ServerStats::handling, which reads the clock twice for each call */
	/** Receives why a connection was refused or closed, from any of the server's threads; null: standard error. */
	apps::LogSink log;

	[[nodiscard]] std::size_t connections_of_worker() const noexcept
	{
		return (max_connections + threads - 1) / threads;
	}
};

} // namespace prism::rpc
