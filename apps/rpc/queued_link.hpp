/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the links have in common that have a reliable queue pair of their own. */
#pragma once

#include "rpc/client_link.hpp"
#include "rpc/send_queue.hpp"

#include <cstdint>
#include <vector>

namespace prism::rpc
{

class QueuedLink : public ClientLink
{
public:
	void flush() noexcept final;

protected:
	/** A queue pair, and what both sides have said of themselves. The pair is not connected yet. */
	struct Introduced {
		Queues queues;
		Parts parts;
	};
	/** What a way needs. */
	struct Needs {
		std::uint32_t lanes = 0;    /**< of the send queue */
		std::uint32_t receives = 1; /**< posted at once */
		unsigned access_flags = 0;  /**< what the server may do */
	};

	/** The first half of connect(): the same errors. */
	static Result<Introduced> introduce(const Target &server, const Needs &needs);

	/** @p memory: that the queue pair's requests use. */
	QueuedLink(Introduced introduced, std::uint32_t lanes, std::vector<Buffer> memory);

	[[nodiscard]] const Buffer &memory(std::size_t index = 0) const noexcept { return memory_[index]; }
	[[nodiscard]] const QueuePair &pair() const noexcept { return qp_; }
	[[nodiscard]] const CompletionQueue &completions() const noexcept { return cq_; }
	[[nodiscard]] SendQueue &queue() noexcept { return queue_; }

	/** The second half. Errors: those of the device; EOPNOTSUPP, if @p needs_prism and the server does not speak
	 * it. */
	Result<void> connect_pair(bool needs_prism);
	/** The request of @p lane has ended, as @p completion says if it was signalled. False: the link is broken. */
	virtual bool take_sent(std::uint32_t lane, const Completion &completion, Listener &listener) noexcept = 0;
	/** Takes what is complete. How many completions there were. */
	int take_completions(Listener &listener) noexcept;
	/** Takes one of them: an error, or the end of requests. */
	void take(const Completion &completion, Listener &listener) noexcept;
	void stop() noexcept override;

private:
	std::vector<Buffer> memory_; /* declared first: freed only after the queue pair is gone */
	CompletionQueue cq_;
	QueuePair qp_;
	SendQueue queue_;
};

} // namespace prism::rpc
