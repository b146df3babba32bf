/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The part that links with a reliable queue pair of their own share. */
#pragma once

#include "rpc/client/client_link.hpp"
#include "rpc/client/send_queue.hpp"
#include "rpc/device/call_device.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace prism::rpc
{

/** Each way has a class with needs(), which says what introduce() must make, and create(). */
class QueuedLink : public ClientLink
{
public:
	/** A queue pair, and the introductions of both sides. The pair is not connected yet. */
	struct Introduced {
		std::unique_ptr<CallDevice> device;
		std::unique_ptr<Port> port;
		Parts parts;
	};
	/** Resources that a way needs. */
	struct Needs {
		std::uint32_t lanes = 0;    /**< of the send queue */
		std::uint32_t receives = 1; /**< posted at once */
		unsigned access_flags = 0;  /**< rights of the server */

		[[nodiscard]] PortOptions port() const noexcept
		{
			return {.max_send_wr = SendQueue::size_for(lanes),
				.max_recv_wr = receives,
				.access_flags = access_flags};
		}
	};

	/**
	 * Connects the queue pair and posts the requests that precede calls. Call once. Errors: those of the device;
	 * EOPNOTSUPP (the device does not speak PRISM, which the way needs).
	 */
	virtual Result<void> start() = 0;
	void flush() noexcept final;

protected:
	/** First half of connect(), with the same errors. */
	static Result<Introduced> introduce(const Target &server, const Needs &needs);
	/** Second half, likewise. */
	template <typename Link>
	static Result<std::unique_ptr<Link>> enter_as(Result<Introduced> introduced)
	{
		if (!introduced)
			return introduced.error();
		const Deadline deadline = introduced->parts.deadline;
		Result<std::unique_ptr<Link>> made = Link::create(*std::move(introduced));
		if (!made)
			return made.error();
		QueuedLink &link = **made;
		if (Result<void> started = link.start(); !started)
			return started.error();
		if (Result<void> entered = link.enter(deadline); !entered)
			return entered.error();
		if (Result<void> settled = link.settle(deadline); !settled)
			return settled.error();
		return made;
	}

	/** @p memory: used by the queue pair's requests. */
	QueuedLink(Introduced introduced, std::uint32_t lanes, std::vector<Memory> memory);

	[[nodiscard]] const Memory &memory(std::size_t index = 0) const noexcept { return memory_[index]; }
	[[nodiscard]] Port &port() noexcept { return *port_; }
	[[nodiscard]] CallDevice &device() noexcept { return *device_; }
	[[nodiscard]] SendQueue &queue() noexcept { return queue_; }

	/**
	 * Connects the queue pair. Errors: those of the device; EOPNOTSUPP, if @p needs_prism and the server does not
	 * speak it.
	 */
	Result<void> connect_port(bool needs_prism);
	/**
	 * Waits until the requests that start() has posted are done. Errors: ETIMEDOUT, or the error that breaks the
	 * link.
	 */
	virtual Result<void> settle(Deadline /*deadline*/) { return {}; }
	/**
	 * Takes the end of the request of @p lane, with @p completion if it was signalled. Returns false if the link is
	 * broken.
	 */
	virtual bool take_sent(std::uint32_t lane, const Completion &completion, Listener &listener) noexcept = 0;
	/** Takes completions. Returns their number. */
	int take_completions(Listener &listener) noexcept;
	/** Takes one completion: an error, or the end of requests. */
	void take(const Completion &completion, Listener &listener) noexcept;
	void stop() noexcept override;
	[[nodiscard]] Clock::time_point now() const noexcept final { return device_->now(); }

private:
	std::unique_ptr<CallDevice> device_;
	std::vector<Memory> memory_; /* declared first: freed only after the queue pair is gone */
	std::unique_ptr<Port> port_;
	SendQueue queue_;
};

} // namespace prism::rpc
