/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The server's side of a way: a Channel for each connection takes its requests and sends its responses, and a Transport
 * for each worker has what its channels share. Both belong to the worker's thread unless they say otherwise.
 */
#pragma once

#include "rpc/device/call_device.hpp"
#include "rpc/server/departed.hpp"

#include <prism/completion.hpp>
#include <prism/connection.hpp>
#include <prism/queue_pair.hpp>
#include <prism/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace prism::rpc
{

/** The calls of one connection, for its channel. */
class Calls
{
public:
	virtual ~Calls() = default;

	/**
	 * Executes the call in @p request, which must not change meanwhile, and writes the response to @p response,
	 * which has room for the longest one; sets @p size to its size. Returns false if the call is malformed: the
	 * connection is closed.
	 */
	virtual bool execute(
		std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept = 0;
	/** Returns true if no more calls may be executed, as the server stops. */
	[[nodiscard]] virtual bool finishing() const noexcept = 0;
	[[nodiscard]] virtual bool closed() const noexcept = 0;
	/** Requests a call of Channel::post() at the end of this turn. */
	virtual void touch() noexcept = 0;
	/** Closes the connection of a client that violates the protocol; the log says why. */
	virtual void refuse(const std::string &why) noexcept = 0;
	/** Likewise for a connection that failed in the device. */
	virtual void lose(const std::string &why) noexcept = 0;
};

class Channel
{
public:
	virtual ~Channel() = default;

	/** Returns the number that Transport::channel_of() gives for its completions. Any thread. */
	[[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
	/** Connects to the client. On the thread of Server::run(), before the worker knows the channel. */
	virtual Result<void> connect(const Endpoint &peer) = 0;

	virtual void take(const Completion &completion, Calls &calls) noexcept = 0;
	/** Looks for requests in memory. Returns false if there were none. */
	virtual bool look(Calls & /*calls*/) noexcept { return false; }
	/** Posts the responses of this turn. */
	virtual void post(Calls & /*calls*/) noexcept {}
	/** Returns true if responses are on their way, or requests that have arrived wait for room. */
	[[nodiscard]] virtual bool busy() const noexcept = 0;
	/** Adds to @p kept the last response of every slot that the client may still want, and perhaps others. */
	virtual void keep(KeptResponses &kept) const = 0;
	/**
	 * Stops the connection: nothing is executed any more, and the client has no further effect. take() is not
	 * called again.
	 */
	virtual void close() noexcept = 0;
};

class Transport
{
public:
	virtual ~Transport() = default;

	/**
	 * Makes the channel of a client with the record @p theirs and up to @p calls calls under way, and fills in the
	 * endpoint, regions and lists of @p mine. On the thread of Server::run().
	 */
	virtual Result<std::unique_ptr<Channel>> open(
		const ConnectionRecord &theirs, std::uint32_t calls, ConnectionRecord &mine) = 0;
	/** Returns the number of the channel that @p completion belongs to. */
	[[nodiscard]] virtual std::uint32_t channel_of(const Completion &completion) const noexcept
	{
		return completion.qp_num;
	}
	/** Drops a completion of a channel that is closed, or of none. */
	virtual void discard(const Completion &completion) noexcept = 0;
	/** Returns true if channels find requests by look(). */
	[[nodiscard]] virtual bool looks() const noexcept { return false; }
	/** Called at the end of each turn, before responses are posted. */
	virtual void end_turn() noexcept {}
};

/** Sizes of messages and limits of a way, for all its connections. */
struct ChannelSizes {
	std::size_t request = 0;  /**< bytes of the longest request */
	std::size_t response = 0; /**< likewise, a multiple of 64 */
	std::uint32_t depth = 0;  /**< most calls under way on one connection */
};

} // namespace prism::rpc
