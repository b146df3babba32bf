/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>

#include "gam/coherence/message.hpp"

namespace prism::gam
{

/** The connection of a node to the others. Peers implements it on a device; tests have one inside a process. */
class Network
{
public:
	class Listener
	{
	public:
		virtual ~Listener() = default;
		/**
		 * Handles @p message of @p from; it is valid until this returns. Messages of one node come in order.
		 */
		virtual void heard(NodeId from, const Message &message) = 0;
	};

	virtual ~Network() = default;

	/** Copies @p message, for flush() to send. Drops it if node @p to is not there. Any thread. */
	virtual void send(NodeId to, const Message &message) noexcept = 0;
	/**
	 * Returns false if so much waits for node @p to that all but short answers have to be put off: more than the
	 * network bears would end the connection. Any thread.
	 */
	[[nodiscard]] virtual bool has_room(NodeId /*to*/) noexcept { return true; }
	/** Sends all queued messages. Any thread. */
	virtual void flush() noexcept = 0;
	/**
	 * Delivers a bounded number of received messages to @p listener and returns their number. One thread at a time.
	 */
	virtual std::size_t poll(Listener &listener) noexcept = 0;
	/** Tells the network that nobody polls for a while, so that a device goes on by itself. Any thread. */
	virtual void leave_alone() noexcept {}
};

} // namespace prism::gam
