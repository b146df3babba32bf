/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a sleeping consumer of rings is told that one has something: a page of its context, which all its peers share.
 *
 * Who publishes looks at the state behind that, and who goes to sleep looks at its rings behind saying so; in one total
 * order of all four, one of the two sees the other. A peer that lies here keeps others waiting until the next time that
 * the sleeper wakes up by itself.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prism::soft
{

/** What the owner of a bell does. */
enum class Attention : std::uint32_t {
	awake,  /**< looks at each of its rings */
	asleep, /**< whoever changes this wakes it */
};

struct Bell {
	std::atomic<Attention> attention{Attention::awake};
};

inline constexpr std::size_t bell_bytes = 4096;
static_assert(sizeof(Bell) <= bell_bytes && std::atomic<Attention>::is_always_lock_free);

/**
 * Behind what has been published.
 * @return whether the owner must be woken, by the caller and nobody else.
 */
[[nodiscard]] inline bool ring_bell(Bell &bell)
{
	Attention attention = bell.attention.load(std::memory_order_seq_cst);
	return attention == Attention::asleep && bell.attention.compare_exchange_strong(attention, Attention::awake);
}

} // namespace prism::soft
