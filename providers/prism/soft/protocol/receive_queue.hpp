/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "../../verbs/work_request.hpp"
#include "base/spin_lock.hpp"

extern "C" {
#include "prism_freelist.h"
}

namespace prism::soft
{

using prism::Sge;

/** A receive work request. The sges belong to the queue, and are valid until the next post into the same slot. */
struct ReceiveRequest {
	std::uint64_t wr_id = 0;
	std::span<const Sge> sges;
};

/** A ring of receive work requests, of a QP or of an SRQ. */
class ReceiveQueue
{
public:
	ReceiveQueue(std::uint32_t max_wr, std::uint32_t max_sge);

	/** Returns false if the ring is full. */
	bool post(std::uint64_t wr_id, std::span<const Sge> sges);

	[[nodiscard]] bool empty() const { return head_ == tail_; }
	[[nodiscard]] std::uint32_t size() const { return tail_ - head_; }
	[[nodiscard]] ReceiveRequest front() const;
	void pop() { head_++; }
	void clear() { head_ = tail_; }

	[[nodiscard]] std::uint32_t max_wr() const { return max_wr_; }
	[[nodiscard]] std::uint32_t max_sge() const { return max_sge_; }

private:
	struct Slot {
		std::uint64_t wr_id = 0;
		std::uint32_t num_sge = 0;
	};

	std::uint32_t max_wr_;
	std::uint32_t max_sge_;
	std::uint32_t mask_; /* slots are a power of two, so that the indices may run freely */
	std::uint32_t head_ = 0;
	std::uint32_t tail_ = 0;
	std::vector<Slot> slots_;
	std::vector<Sge> sges_;
};

/**
 * A shared receive queue; as a free list it is never attached to a QP but allocated from (docs/semantics.md S.7).
 * Engines and posting threads share it: the lock is for all that changes.
 */
struct SharedReceiveQueue {
	SharedReceiveQueue(std::uint32_t srqn, std::uint32_t domain, std::uint32_t max_wr, std::uint32_t max_sge,
		bool is_free_list)
		: number(srqn), pd(domain), free_list(is_free_list), queue(max_wr, max_sge)
	{
	}

	struct Taken {
		std::uint64_t wr_id = 0;
		Sge entry;
	};

	struct Rejected {
		std::uint64_t wr_id = 0;
		Sge entry;
		int error = 0;
	};

	/** Returns true, once, if the limit is armed and there are fewer entries: then its event is due. */
	[[nodiscard]] bool falls_below_limit()
	{
		const bool below = limit && queue.size() + returned.size() < limit;
		if (below)
			limit = 0;
		return below;
	}

	std::uint32_t number;
	std::uint32_t pd;
	bool free_list;
	void *owner = nullptr; /* the verbs object */

	SpinLock lock;
	ReceiveQueue queue;
	std::uint32_t limit = 0; /* an event is due below this; 0: none */

	prism_freelist indices{};    /* tells which entries are past their grace period */
	std::vector<Taken> returned; /* buffers of unfinished ALLOCATEs: no peer ever learnt their addresses */
	std::uint64_t posted = 0;
	std::uint64_t popped = 0;
	std::uint64_t reclaimed = 0;
	std::uint64_t rejected = 0;
	std::deque<Rejected> reports; /* not yet polled, at most max_wr */
};

/**
 * The shared receive queues of a device context, by their numbers, for all its engines. It changes only while none of
 * them is in a call.
 */
struct SharedQueues {
	std::unordered_map<std::uint32_t, SharedReceiveQueue *> by_number;
	std::uint32_t next_number = 1;
	std::atomic<std::uint32_t> qps{0}; /* each may have one unfinished ALLOCATE */
};

} // namespace prism::soft
