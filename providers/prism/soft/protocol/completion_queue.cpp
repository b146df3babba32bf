/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "completion_queue.hpp"

#include "base/assertion.hpp"

namespace prism::soft
{

CompletionQueue::CompletionQueue(std::uint32_t capacity, std::function<void()> notify)
	: ring_(capacity), capacity_(capacity), notify_(std::move(notify))
{
}

bool CompletionQueue::push(const ibv_wc &wc, bool solicited)
{
	bool due;
	{
		std::lock_guard guard(lock_);
		const std::uint32_t count = count_.load(std::memory_order_relaxed);
		if (count == capacity_)
			return false;
		PRISM_ASSERT(count < capacity_ && head_ < capacity_);
		std::uint32_t at = head_ + count;
		if (at >= capacity_)
			at -= capacity_;
		ring_[at] = wc;
		count_.store(count + 1, std::memory_order_release);
		const bool urgent = solicited || wc.status != IBV_WC_SUCCESS;
		due = armed_ == Armed::any || (armed_ == Armed::solicited && urgent);
		if (due) {
			armed_ = Armed::no;
		} else {
			missed_ = true;
			missed_solicited_ |= urgent;
		}
	}
	if (due)
		notify_();
	return true;
}

int CompletionQueue::poll(int count, ibv_wc *wc)
{
	if (empty())
		return 0;
	std::lock_guard guard(lock_);
	std::uint32_t left = count_.load(std::memory_order_relaxed);
	int n = 0;
	for (; n < count && left; n++, left--) {
		wc[n] = ring_[head_];
		if (++head_ == capacity_)
			head_ = 0;
	}
	count_.store(left, std::memory_order_release);
	if (!left)
		forget_missed();
	return n;
}

void CompletionQueue::arm(bool solicited_only)
{
	{
		std::lock_guard guard(lock_);
		if (!(solicited_only ? missed_solicited_ : missed_)) {
			if (!solicited_only)
				armed_ = Armed::any;
			else if (armed_ == Armed::no)
				armed_ = Armed::solicited;
			return;
		}
		armed_ = Armed::no;
		forget_missed();
	}
	notify_();
}

void CompletionQueue::purge(std::uint32_t qpn)
{
	std::lock_guard guard(lock_);
	const std::uint32_t count = count_.load(std::memory_order_relaxed);
	std::uint32_t kept = 0;
	for (std::uint32_t i = 0; i < count; i++) {
		const ibv_wc wc = ring_[(head_ + i) % capacity_];
		if (wc.qp_num != qpn)
			ring_[(head_ + kept++) % capacity_] = wc;
	}
	count_.store(kept, std::memory_order_release);
	if (!kept)
		forget_missed();
}

bool CompletionQueue::resize(std::uint32_t capacity)
{
	std::lock_guard guard(lock_);
	const std::uint32_t count = count_.load(std::memory_order_relaxed);
	if (count > capacity)
		return false;
	std::vector<ibv_wc> ring(capacity);
	for (std::uint32_t i = 0; i < count; i++)
		ring[i] = ring_[(head_ + i) % capacity_];
	ring_.swap(ring);
	capacity_ = capacity;
	head_ = 0;
	return true;
}

} // namespace prism::soft
