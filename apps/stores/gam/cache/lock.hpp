/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <vector>

#include "gam/coherence/access.hpp"

namespace prism::gam
{

/** Whether @p kind needs the block for this node alone. */
[[nodiscard]] constexpr bool is_exclusive(AccessKind kind) noexcept
{
	return kind == AccessKind::write || kind == AccessKind::atomic || kind == AccessKind::write_lock;
}

[[nodiscard]] constexpr bool is_lock(AccessKind kind) noexcept
{
	return kind == AccessKind::read_lock || kind == AccessKind::write_lock;
}

/**
 * The lock of a block as one node has it: many threads hold it shared, or one alone. Other nodes see that as reading or
 * writing the block. Who holds it shared and wants to write is told EDEADLK at once, as two of them would wait for each
 * other.
 */
class BlockLock
{
public:
	static constexpr std::size_t max_readers = std::size_t{1} << 16;

	[[nodiscard]] bool is_held() const noexcept { return !holders_.empty(); }
	[[nodiscard]] bool holds(ThreadId thread) const noexcept;
	/** Whether those that hold nothing of it, other nodes among them, may now read, or write (@p exclusive). */
	[[nodiscard]] bool allows(bool exclusive) const noexcept
	{
		return holders_.empty() || (!exclusive && !writer_);
	}
	/** What is wrong with @p access, whoever waits for what: 0, EPERM, EDEADLK, EOVERFLOW. */
	[[nodiscard]] int refusal(const Access &access) const noexcept;
	/** After refusal() has answered 0: whether @p access may have the block now, as far as the lock says. */
	[[nodiscard]] bool admits(const Access &access) const noexcept
	{
		return holds(access.thread) ||
		       allows(is_exclusive(access.kind) || access.kind == AccessKind::write_back);
	}
	/** Locks or unlocks, which refusal() and admits() allow. */
	void take(const Access &access);
	void give_back(ThreadId thread) noexcept;

private:
	std::vector<ThreadId> holders_; /* sorted */
	bool writer_ = false;
};

} // namespace prism::gam
