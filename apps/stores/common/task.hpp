/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Coroutines for protocols: an operation reads like its description, and waits for round trips without a thread of its
 * own. One thread runs all tasks of a client; their frames come from a pool, so that after a warm-up none is allocated.
 */
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace prism::apps
{

/**
 * A pool of the frames of ended coroutines, for new ones. One for each thread; a coroutine may end on another thread
 * than it began on.
 */
class FramePool
{
public:
	static void *take(std::size_t size)
	{
		auto &list = of_thread().lists_[index_of(size)];
		if (list.empty())
			return ::operator new(rounded(size));
		void *frame = list.back().release();
		list.pop_back();
		return frame;
	}

	static void give_back(void *frame, std::size_t size) noexcept
	{
		auto &list = of_thread().lists_[index_of(size)];
		if (list.size() < most)
			list.emplace_back(frame);
		else
			::operator delete(frame);
	}

	/** Returns the number of spare frames for coroutines of @p size, of this thread. */
	static std::size_t spare(std::size_t size) noexcept { return of_thread().lists_[index_of(size)].size(); }

	/**
	 * Most frames of each size that a thread keeps: a thread on which others' coroutines end must not keep all of
	 * them.
	 */
	static constexpr std::size_t most = 4096;

private:
	struct Delete {
		void operator()(void *frame) const noexcept { ::operator delete(frame); }
	};
	using Frame = std::unique_ptr<void, Delete>;

	static constexpr std::size_t step = 128;
	static constexpr std::size_t largest = 4096;

	static constexpr std::size_t rounded(std::size_t size) { return (size + step - 1) / step * step; }
	static std::size_t index_of(std::size_t size) noexcept
	{
		if (size > largest)
			std::abort(); /* a coroutine with a buffer on its stack: a bug */
		return rounded(size) / step;
	}
	static FramePool &of_thread()
	{
		static thread_local FramePool pool;
		return pool;
	}

	std::array<std::vector<Frame>, largest / step + 1> lists_;
};

/** The result of a coroutine, for the one that awaits it. */
template <typename T>
struct Given {
	T value{};
	void return_value(T result) noexcept { value = std::move(result); }
};

template <>
struct Given<void> {
	void return_void() noexcept {}
};

/** A coroutine that is started by being awaited, or by start(), and returns a T, or nothing. */
template <typename T>
class [[nodiscard]] Task
{
public:
	struct promise_type;
	using Handle = std::coroutine_handle<promise_type>;

	struct promise_type : Given<T> {
		std::coroutine_handle<> awaiter = std::noop_coroutine();

		static void *operator new(std::size_t size) { return FramePool::take(size); }
		static void operator delete(void *frame, std::size_t size) { FramePool::give_back(frame, size); }

		Task get_return_object() noexcept { return Task(Handle::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		auto final_suspend() noexcept
		{
			struct ToAwaiter {
				bool await_ready() noexcept { return false; }
				std::coroutine_handle<> await_suspend(Handle ended) noexcept
				{
					return ended.promise().awaiter;
				}
				void await_resume() noexcept {}
			};
			return ToAwaiter{};
		}
		void unhandled_exception() noexcept { std::abort(); } /* the data path does not throw */
	};

	Task(Task &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
	Task &operator=(Task &&other) noexcept
	{
		std::swap(handle_, other.handle_);
		return *this;
	}
	~Task()
	{
		if (handle_)
			handle_.destroy();
	}

	/** Runs until it first waits. */
	void start() { handle_.resume(); }
	[[nodiscard]] bool done() const noexcept { return handle_.done(); }
	[[nodiscard]] const auto &value() const noexcept { return handle_.promise().value; }

	bool await_ready() const noexcept { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept
	{
		handle_.promise().awaiter = awaiter;
		return handle_;
	}
	T await_resume() noexcept
	{
		if constexpr (!std::is_void_v<T>)
			return std::move(handle_.promise().value);
	}

private:
	explicit Task(Handle handle) noexcept : handle_(handle) {}

	Handle handle_;
};

} // namespace prism::apps
