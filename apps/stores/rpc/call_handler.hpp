/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The interface that a Server calls: a store, and the state of each of its connections. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace prism::rpc
{

/**
 * Session of one connection. Its calls come one at a time and in their order; those of other connections may run at the
 * same time on other threads. It is destroyed as soon as the connection has ended, for whatever reason, after its last
 * call.
 */
class CallSession
{
public:
	virtual ~CallSession() = default;

	/**
	 * Executes the call in @p request, from a client that is not trusted, and writes the whole response to
	 * @p response, which has room for the longest one; sets @p size to its size. Returns null, or what is wrong
	 * with the request: then the connection is closed. Does not keep the spans.
	 */
	virtual const char *handle(
		std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept = 0;
};

/** Most bytes of a key and of a value that the server takes. */
struct Limits {
	std::size_t max_key_size = 0;
	std::size_t max_value_size = 0;
};

/** Load and worker of a session. */
struct SessionPlace {
	std::uint32_t calls = 0;  /**< most calls that the client has under way at once */
	std::uint32_t worker = 0; /**< worker that executes all of them: 0 to ServerOptions::threads - 1 */
};

class CallHandler
{
public:
	virtual ~CallHandler() = default;

	/** Makes the session of an accepted client. On the thread of Server::run(). */
	virtual std::unique_ptr<CallSession> open(const Limits &limits, const SessionPlace &place) = 0;
};

} // namespace prism::rpc
