/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Doorbell that wakes a sleeping consumer of rings: a page of its context, which all its peers share.
 *
 * The producer publishes, then reads the state; the consumer sets the state, then checks the rings again; all seq_cst,
 * so no wake-up is lost. If a peer writes a false state here, the others wait until the sleeper next wakes up by
 * itself.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prism::soft
{

/** State of a bell's owner. */
enum class Attention : std::uint32_t {
	awake,  /**< checks each of its rings */
	asleep, /**< the peer that changes this wakes it */
};

struct Bell {
	std::atomic<Attention> attention{Attention::awake};
};

inline constexpr std::size_t bell_bytes = 4096;
static_assert(sizeof(Bell) <= bell_bytes && std::atomic<Attention>::is_always_lock_free);

/**
 * Rings the bell, after publishing.
 * @return true if the caller, and nobody else, must wake the owner.
 */
[[nodiscard]] inline bool ring_bell(Bell &bell)
{
	Attention attention = bell.attention.load(std::memory_order_seq_cst);
	return attention == Attention::asleep && bell.attention.compare_exchange_strong(attention, Attention::awake);
}

} // namespace prism::soft
