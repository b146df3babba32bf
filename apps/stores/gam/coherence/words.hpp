/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Copies to and from the bytes of a line, which one thread may read while another changes them. The reader detects
 * changes later (see Cache::read()); until then it needs only that no word is torn.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace prism::gam
{

namespace words_detail
{

/**
 * Calls @p copy_word(offset) for each word of 8 bytes, and @p copy_byte(offset) for the bytes before and after them.
 */
template <typename CopyWord, typename CopyByte>
void for_each_word(
	const std::byte *shared, std::size_t bytes, const CopyWord &copy_word, const CopyByte &copy_byte) noexcept
{
	std::size_t at = 0;
	for (; at < bytes && reinterpret_cast<std::uintptr_t>(shared + at) % sizeof(std::uint64_t); at++)
		copy_byte(at);
	for (; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t))
		copy_word(at);
	for (; at < bytes; at++)
		copy_byte(at);
}

} // namespace words_detail

/** Loads words with acquire order: later loads of the caller come after these. */
inline void load_words(std::byte *to, const std::byte *shared, std::size_t bytes) noexcept
{
	auto *const from = const_cast<std::byte *>(shared); /* atomic_ref needs a non-const object */
	words_detail::for_each_word(
		shared, bytes,
		[&](std::size_t at) {
			const std::uint64_t word = std::atomic_ref(*reinterpret_cast<std::uint64_t *>(from + at))
							   .load(std::memory_order_acquire);
			std::memcpy(to + at, &word, sizeof(word));
		},
		[&](std::size_t at) { to[at] = std::atomic_ref(from[at]).load(std::memory_order_acquire); });
}

/** Stores words with release order: earlier stores of the caller are visible first. */
inline void store_words(std::byte *shared, std::span<const std::byte> from) noexcept
{
	words_detail::for_each_word(
		shared, from.size(),
		[&](std::size_t at) {
			std::uint64_t word = 0;
			std::memcpy(&word, &from[at], sizeof(word));
			std::atomic_ref(*reinterpret_cast<std::uint64_t *>(shared + at))
				.store(word, std::memory_order_release);
		},
		[&](std::size_t at) { std::atomic_ref(shared[at]).store(from[at], std::memory_order_release); });
}

} // namespace prism::gam
