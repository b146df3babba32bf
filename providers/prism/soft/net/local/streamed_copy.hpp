/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Copying past the caches, for bytes that another core reads next. A line in that core's cache must be fetched from
 * there before it can be written, which takes longer than writing it to memory, much longer if the two cores share no
 * cache.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace prism::soft
{

/**
 * Copies whole lines: @p to and @p size are multiples of 64, @p from is one of 16. Later stores of the caller become
 * visible after them.
 */
inline void copy_streamed(std::uint8_t *to, const std::uint8_t *from, std::size_t size)
{
#ifdef __SSE2__
	for (std::size_t at = 0; at < size; at += sizeof(__m128i))
		_mm_stream_si128(reinterpret_cast<__m128i *>(to + at),
			_mm_load_si128(reinterpret_cast<const __m128i *>(from + at)));
	_mm_sfence();
#else
	std::memcpy(to, from, size);
#endif
}

} // namespace prism::soft
