/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a Server calls: a store, and the state of each of its connections. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace prism::rpc
{

/**
 * One connection. Its calls come one at a time and in their order; those of other connections may run at the same
 * time on other threads. It is destroyed as soon as the connection has ended, for whatever reason, after its last call.
 */
class CallSession
{
public:
	virtual ~CallSession() = default;

	/**
	 * Executes the call in @p request, from a client that is not trusted, and writes the whole response to
	 * @p response, which has room for the longest one; its size goes to @p size. Null, or what is wrong with the
	 * request: then the connection is closed. Does not keep the spans.
	 */
	virtual const char *handle(
		std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept = 0;
};

/** What one key and one value may have, of those that the server takes. */
struct Limits {
	std::size_t max_key_size = 0;
	std::size_t max_value_size = 0;
};

/** Where a session is. */
struct SessionPlace {
	std::uint32_t calls = 0;  /**< that the client has under way at once, at most */
	std::uint32_t worker = 0; /**< that executes all of them: 0 to ServerOptions::threads - 1 */
};

class CallHandler
{
public:
	virtual ~CallHandler() = default;

	/** A client was accepted. On the thread of Server::run(). */
	virtual std::unique_ptr<CallSession> open(const Limits &limits, const SessionPlace &place) = 0;
};

} // namespace prism::rpc
