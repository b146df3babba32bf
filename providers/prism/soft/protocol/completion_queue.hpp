/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <infiniband/verbs.h>

#include "base/spin_lock.hpp"

namespace prism::soft
{

/** A ring of completions. Any thread may poll or arm; engines push. */
class CompletionQueue
{
public:
	/** @p notify is called when an armed event is due, on the thread that pushes. */
	CompletionQueue(std::uint32_t capacity, std::function<void()> notify);

	/** Returns false if the queue is full: the completion is lost, and the queue has overflowed for good. */
	bool push(const ibv_wc &wc, bool solicited);

	/** Returns true the first time only: repeated overflows of a queue are one error. */
	bool note_overflow() { return !overflowed_.exchange(true, std::memory_order_relaxed); }

	int poll(int count, ibv_wc *wc);

	/**
	 * Arms an event for the next completion, or with @p solicited_only for the next solicited or failed one. A
	 * completion that came while the queue was not armed, and that nobody has polled yet, raises it too: programs
	 * that poll, arm and sleep, as UCX does, would miss it. IBTA 11.4.2.2 expects programs to poll again; NICs do
	 * not.
	 */
	void arm(bool solicited_only);

	/** Drops the completions that a destroyed QP left behind. */
	void purge(std::uint32_t qpn);

	/** Returns false if more completions are waiting than fit in @p capacity. */
	bool resize(std::uint32_t capacity);

	void *owner = nullptr; /* the verbs object */

	[[nodiscard]] std::uint32_t capacity() const { return capacity_; }
	[[nodiscard]] bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

private:
	enum class Armed : std::uint8_t {
		no,
		solicited,
		any
	};

	void forget_missed() { missed_ = missed_solicited_ = false; }

	SpinLock lock_;
	std::vector<ibv_wc> ring_;
	std::uint32_t capacity_;
	std::uint32_t head_ = 0;
	std::atomic<std::uint32_t> count_{0};
	Armed armed_ = Armed::no;
	/* Completions that raised no event and may still be waiting; the second is for a solicited-only arming. */
	bool missed_ = false;
	bool missed_solicited_ = false;
	std::atomic<bool> overflowed_{false};
	std::function<void()> notify_;
};

} // namespace prism::soft
