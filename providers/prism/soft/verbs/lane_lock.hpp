/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <mutex>

namespace prism::soft
{

/** The lock of a lane: a mutex of its own or, after join(), another lane's. Meets the standard's Lockable. */
class LaneLock
{
public:
	void lock()
	{
		for (;;) {
			std::mutex &mutex = *mutex_.load(std::memory_order_relaxed);
			mutex.lock();
			if (mutex_.load(std::memory_order_relaxed) == &mutex) [[likely]]
				return;
			mutex.unlock();
		}
	}

	bool try_lock()
	{
		std::mutex &mutex = *mutex_.load(std::memory_order_relaxed);
		if (!mutex.try_lock())
			return false;
		if (mutex_.load(std::memory_order_relaxed) == &mutex) [[likely]]
			return true;
		mutex.unlock();
		return false;
	}

	void unlock() { mutex_.load(std::memory_order_relaxed)->unlock(); }

	/** Becomes the same lock as @p other, for good. Both must be held, and only @p other is afterwards. */
	void join(LaneLock &other)
	{
		mutex_.store(other.mutex_.load(std::memory_order_relaxed), std::memory_order_relaxed);
		own_.unlock();
	}

private:
	std::mutex own_;
	std::atomic<std::mutex *> mutex_{&own_}; /* changes only while the one that it leaves is held */
};

} // namespace prism::soft
