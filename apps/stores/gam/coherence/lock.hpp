/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <vector>

#include "gam/coherence/access.hpp"

namespace prism::gam
{

/** Returns true if @p kind needs the block exclusively for this node. */
[[nodiscard]] constexpr bool is_exclusive(AccessKind kind) noexcept
{
	return kind == AccessKind::write || kind == AccessKind::atomic || kind == AccessKind::write_lock;
}

[[nodiscard]] constexpr bool is_lock(AccessKind kind) noexcept
{
	return kind == AccessKind::read_lock || kind == AccessKind::write_lock;
}

/**
 * The lock of a block within one node: held shared by many threads, or by one alone. Other nodes see it as reads or
 * writes of the block. A thread that holds it shared and wants to write gets EDEADLK at once, as two such threads would
 * wait for each other.
 */
class BlockLock
{
public:
	static constexpr std::size_t max_readers = std::size_t{1} << 16;

	[[nodiscard]] bool is_held() const noexcept { return !holders_.empty(); }
	[[nodiscard]] bool holds(ThreadId thread) const noexcept;
	/** Returns true if threads and nodes that do not hold the lock may now read, or write (@p exclusive). */
	[[nodiscard]] bool allows(bool exclusive) const noexcept
	{
		return holders_.empty() || (!exclusive && !writer_);
	}
	/** Returns the error of @p access that no waiting can cure: 0, EPERM, EDEADLK or EOVERFLOW. */
	[[nodiscard]] int refusal(const Access &access) const noexcept;
	/** Returns true if the lock lets @p access have the block now. Call only after refusal() has returned 0. */
	[[nodiscard]] bool admits(const Access &access) const noexcept
	{
		return holds(access.thread) ||
		       allows(is_exclusive(access.kind) || access.kind == AccessKind::write_back);
	}
	/**
	 * Takes the lock for @p access; refusal() and admits() must have allowed it. Returns 0, or ENOMEM: the lock is
	 * as it was.
	 */
	[[nodiscard]] int take(const Access &access) noexcept;
	void give_back(ThreadId thread) noexcept;

private:
	std::vector<ThreadId> holders_; /* sorted */
	bool writer_ = false;
};

} // namespace prism::gam
