/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a way is at the server: a Channel for each connection brings its requests and takes its responses, and a
 * Transport for each worker has what its channels share. Both belong to the worker's thread unless they say otherwise.
 */
#pragma once

#include "rpc/device/call_device.hpp"
#include "rpc/server/departed.hpp"

#include <prism/prism.hpp>

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
	 * Executes the call in @p request, which nobody changes meanwhile, and writes the response to @p response,
	 * which has room for the longest one; its size goes to @p size. False: it is malformed, and the connection is
	 * closed.
	 */
	virtual bool execute(
		std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept = 0;
	/** No more calls are to be executed: the server stops. */
	[[nodiscard]] virtual bool finishing() const noexcept = 0;
	[[nodiscard]] virtual bool closed() const noexcept = 0;
	/** Channel::post() is to be called at the end of this turn. */
	virtual void touch() noexcept = 0;
	/** The client does not keep to the protocol: the connection is closed, and the log says why. */
	virtual void refuse(const std::string &why) noexcept = 0;
	/** The same for a connection that failed in the device. */
	virtual void lose(const std::string &why) noexcept = 0;
};

class Channel
{
public:
	virtual ~Channel() = default;

	/** What Transport::channel_of() gives for its completions. Any thread. */
	[[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
	/** Connects to the client. On the thread of Server::run(), before the worker knows the channel. */
	virtual Result<void> connect(const Endpoint &peer) = 0;

	virtual void take(const Completion &completion, Calls &calls) noexcept = 0;
	/** Looks for requests in memory. False: there were none. */
	virtual bool look(Calls & /*calls*/) noexcept { return false; }
	/** Posts the responses of this turn. */
	virtual void post(Calls & /*calls*/) noexcept {}
	/** Responses are on their way, or requests that have arrived wait for room. */
	[[nodiscard]] virtual bool busy() const noexcept = 0;
	/** The last response of every slot that the client may still want, and perhaps others. */
	virtual void keep(KeptResponses &kept) const = 0;
	/** Nothing is executed any more, and nothing that the client does has an effect. take() is not called again. */
	virtual void close() noexcept = 0;
};

class Transport
{
public:
	virtual ~Transport() = default;

	/**
	 * Makes the channel of a client that has told its record @p theirs and has up to @p calls calls under way, and
	 * fills in the endpoint, regions and lists of @p mine. On the thread of Server::run().
	 */
	virtual Result<std::unique_ptr<Channel>> open(
		const ConnectionRecord &theirs, std::uint32_t calls, ConnectionRecord &mine) = 0;
	/** The number of the channel that @p completion belongs to. */
	[[nodiscard]] virtual std::uint32_t channel_of(const Completion &completion) const noexcept
	{
		return completion.qp_num;
	}
	/** The completion belongs to a channel that is closed, or to none. */
	virtual void discard(const Completion &completion) noexcept = 0;
	/** Channels find requests by look(). */
	[[nodiscard]] virtual bool looks() const noexcept { return false; }
	/** At the end of each turn, before responses are posted. */
	virtual void end_turn() noexcept {}
};

/** Sizes of what a way moves and keeps, of all its connections. */
struct ChannelSizes {
	std::size_t request = 0;  /**< bytes of the longest one */
	std::size_t response = 0; /**< likewise, a multiple of 64 */
	std::uint32_t depth = 0;  /**< calls under way on one connection, at most */
};

} // namespace prism::rpc
