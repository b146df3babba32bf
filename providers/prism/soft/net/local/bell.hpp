/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How the consumer of many rings is told that one has something: a page of its context, which all its peers share.
 *
 * Who publishes looks at the state behind that, and who goes to sleep looks at its rings behind saying so; in one total
 * order of all four, one of the two sees the other. A peer that lies here keeps others waiting until the next time that
 * the sleeper wakes up by itself, or a sweep.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../slot.hpp"

namespace prism::soft
{

/** What the owner of a bell does. */
enum class Attention : std::uint32_t {
	rings, /**< looks at each of its rings, which are few */
	bell,  /**< looks at those that are marked here */
	none,  /**< sleeps: whoever changes this wakes it */
};

struct Bell {
	static constexpr std::size_t words = slot_limit / 64;

	alignas(64) std::atomic<Attention> attention{Attention::rings};
	/** By slot of the producer. */
	alignas(64) std::array<std::atomic<std::uint64_t>, words> marks{};
};

inline constexpr std::size_t bell_bytes = 4096;
static_assert(sizeof(Bell) <= bell_bytes && std::atomic<std::uint64_t>::is_always_lock_free);

/**
 * Behind what @p slot has published.
 * @return whether the owner must be woken, by the caller and nobody else.
 */
[[nodiscard]] inline bool ring_bell(Bell &bell, unsigned slot)
{
	Attention attention = bell.attention.load(std::memory_order_seq_cst);
	if (attention == Attention::rings)
		return false;
	const std::uint64_t mark = std::uint64_t{1} << slot % 64;
	std::atomic<std::uint64_t> &word = bell.marks[slot / 64];
	if (!(word.load(std::memory_order_seq_cst) & mark))
		word.fetch_or(mark, std::memory_order_seq_cst);
	return attention == Attention::none && bell.attention.compare_exchange_strong(attention, Attention::bell);
}

} // namespace prism::soft
