/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>

#include "base/cpu_relax.hpp"

namespace prism
{

/** Lock for a few instructions on shared data; meets the standard's Lockable. */
class SpinLock
{
public:
	void lock()
	{
		while (held_.exchange(true, std::memory_order_acquire))
			while (held_.load(std::memory_order_relaxed))
				cpu_relax();
	}

	bool try_lock()
	{
		return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
	}

	void unlock() { held_.store(false, std::memory_order_release); }

private:
	std::atomic<bool> held_{false};
};

} // namespace prism
