/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests that come as messages, at one worker and on one connection: the receive buffers that they hold, and the
 * order of their execution.
 */
#pragma once

#include "rpc/server/channel.hpp"
#include "rpc/server/receive_pool.hpp"

#include <cstdint>
#include <vector>

namespace prism::rpc
{

/**
 * Bit of work request IDs on queue pairs that take messages: a receive has its buffer's number, all others have this
 * bit.
 */
constexpr std::uint64_t send_tag = std::uint64_t{1} << 63;

/** One worker's part of the pool. */
class Receives
{
public:
	explicit Receives(ReceivePool &pool) : pool_(pool) { used_.reserve(pool.count()); }

	[[nodiscard]] const ReceivePool &pool() const noexcept { return pool_; }
	/** Notes that the message in @p buffer is not needed any more. */
	void recycle(std::uint32_t buffer) noexcept { used_.push_back(buffer); }
	/** Posts the recycled buffers. Returns 0 or errno. */
	int flush() noexcept;

private:
	ReceivePool &pool_;
	std::vector<std::uint32_t> used_;
};

/** One connection's requests: executed in their order, as long as there is room for the response. */
class Incoming
{
public:
	/** For a client that has announced @p calls calls at once, and may hold as many buffers. */
	Incoming(Receives &receives, std::uint32_t calls) : receives_(receives), waiting_(calls) {}

	/** Takes the message in @p buffer. @p execute(message) executes it; @p has_room() says if it may. */
	template <typename HasRoom, typename Execute>
	void take(std::uint32_t buffer, std::uint32_t length, Calls &calls, HasRoom has_room, Execute execute) noexcept
	{
		if (begin_ == end_ && has_room()) {
			execute(receives_.pool().message(buffer, length));
			receives_.recycle(buffer);
			return;
		}
		/* Refuse: waiting requests hold receive buffers, so a client may not have more than it announced. */
		if (end_ - begin_ == waiting_.size()) {
			calls.refuse("more requests at once than the " + std::to_string(waiting_.size()) +
				     " that it announced");
			receives_.recycle(buffer);
			return;
		}
		waiting_[end_++ % waiting_.size()] = {buffer, length};
	}

	/** Executes waiting requests, as far as there is room now. */
	template <typename HasRoom, typename Execute>
	void resume(Calls &calls, HasRoom has_room, Execute execute) noexcept
	{
		while (!calls.closed() && begin_ != end_ && has_room()) {
			const Message next = waiting_[begin_++ % waiting_.size()];
			execute(receives_.pool().message(next.buffer, next.length));
			receives_.recycle(next.buffer);
		}
	}

	[[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
	/** Gives the buffers back. */
	void drop() noexcept
	{
		for (; begin_ != end_; begin_++)
			receives_.recycle(waiting_[begin_ % waiting_.size()].buffer);
	}

private:
	struct Message {
		std::uint32_t buffer = 0;
		std::uint32_t length = 0;
	};

	Receives &receives_;
	std::vector<Message> waiting_; /* a ring */
	std::uint64_t begin_ = 0;
	std::uint64_t end_ = 0;
};

} // namespace prism::rpc
