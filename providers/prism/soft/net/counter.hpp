/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <cstdint>

namespace prism::soft
{

/**
 * A counter with one writer at a time, under the caller's lock, and any readers, in other processes too. Needs no
 * read-modify-write instruction.
 */
class Counter
{
public:
	Counter() = default;
	Counter(const Counter &other) : value_(other.get()) {}
	Counter &operator=(const Counter &other)
	{
		value_.store(other.get(), std::memory_order_relaxed);
		return *this;
	}

	void add(std::uint64_t n = 1) { value_.store(get() + n, std::memory_order_relaxed); }
	void subtract(std::uint64_t n = 1) { value_.store(get() - n, std::memory_order_relaxed); }
	void operator++(int) { add(); }
	[[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }
	operator std::uint64_t() const { return get(); }

private:
	std::atomic<std::uint64_t> value_{0};
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(Counter) == sizeof(std::uint64_t));

} // namespace prism::soft
