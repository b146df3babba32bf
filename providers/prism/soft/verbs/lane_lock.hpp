/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <mutex>

#include "base/cpu_relax.hpp"

namespace prism::soft
{

/**
 * The lock of a lane: one of its own or, after join(), another lane's. Meets the standard's Lockable.
 *
 * The engine thread, which takes it again and again while it looks for packets, lets others have it first: it
 * is_wanted(). Without that it would take it before those wake up whom it has just released, until it sleeps itself.
 */
class LaneLock
{
public:
	void lock()
	{
		if (try_lock()) [[likely]]
			return;
		std::atomic<unsigned> &wanted = shared_.load(std::memory_order_relaxed)->wanted;
		wanted.fetch_add(1, std::memory_order_relaxed);
		wait();
		wanted.fetch_sub(1, std::memory_order_relaxed);
	}

	bool try_lock()
	{
		Shared &shared = *shared_.load(std::memory_order_relaxed);
		if (!shared.mutex.try_lock())
			return false;
		if (is(shared)) [[likely]]
			return true;
		shared.mutex.unlock();
		return false;
	}

	void unlock() { shared_.load(std::memory_order_relaxed)->mutex.unlock(); }

	/** Returns true if others wait for the lock. */
	[[nodiscard]] bool is_wanted() const
	{
		return shared_.load(std::memory_order_relaxed)->wanted.load(std::memory_order_relaxed);
	}

	/** Becomes the same lock as @p other, for good. Both must be held, and only @p other is afterwards. */
	void join(LaneLock &other)
	{
		shared_.store(other.shared_.load(std::memory_order_relaxed), std::memory_order_relaxed);
		own_.mutex.unlock();
	}

private:
	struct Shared {
		std::mutex mutex;
		std::atomic<unsigned> wanted{0};
	};

	/** Number of looks before waiting in the kernel: some microseconds, longer than an engine's turn. */
	static constexpr int looks = 100;

	[[nodiscard]] bool is(const Shared &shared) const { return shared_.load(std::memory_order_relaxed) == &shared; }

	void wait()
	{
		for (int i = 0; i < looks; i++) {
			if (try_lock())
				return;
			cpu_relax();
		}
		for (;;) {
			Shared &shared = *shared_.load(std::memory_order_relaxed);
			shared.mutex.lock();
			if (is(shared)) [[likely]]
				return;
			shared.mutex.unlock();
		}
	}

	Shared own_;
	std::atomic<Shared *> shared_{&own_}; /* changes only while the one that it leaves is held */
};

} // namespace prism::soft
