/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that a device stores to or loads from while the processor uses it. Aligned words of 8 bytes are never torn
 * (docs/semantics.md, S.4.4); nothing is promised for more than a word. Addresses are multiples of 8, and memory
 * extends to the next one.
 */
#pragma once

#include <infiniband/prismdv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace prism::rpc
{

/** Loads with acquire order: later loads see all that the other side stored before that word. */
inline std::uint64_t load_acquire(const std::byte *from) noexcept
{
	return __atomic_load_n(reinterpret_cast<const std::uint64_t *>(from), __ATOMIC_ACQUIRE);
}

/** Stores with release order: a reader that sees this word sees all earlier stores. */
inline void store_release(std::byte *to, std::uint64_t word) noexcept
{
	__atomic_store_n(reinterpret_cast<std::uint64_t *>(to), word, __ATOMIC_RELEASE);
}

/** Loads @p size bytes of shared memory, word by word in any order. */
inline void load_shared(std::byte *to, const std::byte *from, std::size_t size) noexcept
{
	constexpr std::size_t word_size = sizeof(std::uint64_t);
	const auto *words = reinterpret_cast<const std::uint64_t *>(from);
	for (; size >= word_size; size -= word_size, to += word_size) {
		const std::uint64_t word = __atomic_load_n(words++, __ATOMIC_RELAXED);
		std::memcpy(to, &word, word_size);
	}
	if (!size)
		return;
	const std::uint64_t word = __atomic_load_n(words, __ATOMIC_RELAXED);
	std::memcpy(to, &word, size);
}

/** Stores @p size bytes to shared memory, word by word in any order; the last word is filled up with zeros. */
inline void store_shared(std::byte *to, const std::byte *from, std::size_t size) noexcept
{
	constexpr std::size_t word_size = sizeof(std::uint64_t);
	auto *words = reinterpret_cast<std::uint64_t *>(to);
	std::uint64_t word = 0;
	for (; size >= word_size; size -= word_size, from += word_size) {
		std::memcpy(&word, from, word_size);
		__atomic_store_n(words++, word, __ATOMIC_RELAXED);
	}
	if (!size)
		return;
	word = 0;
	std::memcpy(&word, from, size);
	__atomic_store_n(words, word, __ATOMIC_RELAXED);
}

/** Returns the bounded pointer at @p place, a multiple of 16, for prismdv_publish_ptr(3) and similar functions. */
inline prismdv_bounded_ptr *pointer_at(std::byte *place) noexcept
{
	return reinterpret_cast<prismdv_bounded_ptr *>(place);
}

} // namespace prism::rpc
