/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <pthread.h>

#include <atomic>

namespace prism::apps
{

/** Remembers the process that made it: for objects whose threads and queue pairs a child of fork(2) does not have. */
class Birth
{
public:
	Birth() noexcept
	{
		[[maybe_unused]] static const int counts =
			pthread_atfork(nullptr, nullptr, [] { forks_.fetch_add(1, std::memory_order_relaxed); });
		made_after_ = forks_.load(std::memory_order_relaxed);
	}

	/** Returns true if this is a child of the process that made it. Any thread. */
	[[nodiscard]] bool is_inherited() const noexcept
	{
		return made_after_ != forks_.load(std::memory_order_relaxed);
	}

private:
	inline static std::atomic<unsigned> forks_{0}; /* forks from the first process to this one */

	unsigned made_after_ = 0;
};

} // namespace prism::apps
