/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Assertions: contracts that the project's own code keeps. They are on in builds with -DPRISM_ASSERTIONS=ON, which all
 * sanitizer and fuzzer trees of check.sh have, and cost nothing in others. Never assert what a peer, a user or the
 * system can cause: that gets an error.
 */
#pragma once

#ifdef PRISM_ASSERTIONS
#include <atomic>
#include <cstdio>
#include <cstdlib>
#endif

namespace prism
{

#ifdef PRISM_ASSERTIONS

[[noreturn]] inline void assertion_failed(const char *condition, const char *file, int line) noexcept
{
	std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
	std::abort();
}

#define PRISM_ASSERT(condition)                                                                                        \
	((condition) ? static_cast<void>(0) : ::prism::assertion_failed(#condition, __FILE__, __LINE__))

/** Member of an object whose calls the caller serialises: asserts that they do not overlap. */
class SerialCalls
{
public:
	/** Stands in a call from its begin to its end. A call may be made from within another of the same thread. */
	class Call
	{
	public:
		explicit Call(SerialCalls &calls) noexcept : calls_(calls)
		{
			const void *owner = nullptr;
			/* Relaxed, so that the thread sanitizer still sees calls that nothing else orders. */
			outermost_ = calls_.thread_.compare_exchange_strong(owner, self(), std::memory_order_relaxed);
			PRISM_ASSERT(outermost_ || owner == self());
		}
		~Call()
		{
			if (outermost_)
				calls_.thread_.store(nullptr, std::memory_order_relaxed);
		}
		Call(const Call &) = delete;
		Call &operator=(const Call &) = delete;

	private:
		static const void *self() noexcept
		{
			static thread_local const char mine = 0;
			return &mine;
		}

		SerialCalls &calls_;
		bool outermost_;
	};

private:
	std::atomic<const void *> thread_{nullptr};
};

#else

#define PRISM_ASSERT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))

class SerialCalls
{
public:
	class Call
	{
	public:
		explicit Call(SerialCalls & /*calls*/) noexcept {}
		~Call() {} // NOLINT(modernize-use-equals-default): an object that does something is not unused
	};
};

#endif

} // namespace prism
