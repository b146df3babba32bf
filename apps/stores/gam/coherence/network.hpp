/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>

#include "gam/coherence/message.hpp"

namespace prism::gam
{

/** How a node reaches the others. apps/stores/gam/peer has that of a device; tests have one inside of a process. */
class Network
{
public:
	class Listener
	{
	public:
		virtual ~Listener() = default;
		/** @p from has sent @p message, which is valid until this returns. Messages of one node come in order.
		 */
		virtual void heard(NodeId from, const Message &message) = 0;
	};

	virtual ~Network() = default;

	/** Copies @p message, for flush() to send. What is for a node that is not there is dropped. Any thread. */
	virtual void send(NodeId to, const Message &message) noexcept = 0;
	/** Sends what is there. Any thread. */
	virtual void flush() noexcept = 0;
	/** Hands over what has come, a bounded number of messages. How many. One thread at a time. */
	virtual std::size_t poll(Listener &listener) noexcept = 0;
	/** Nobody polls for a while: a device goes on by itself. Any thread. */
	virtual void leave_alone() noexcept {}
};

} // namespace prism::gam
