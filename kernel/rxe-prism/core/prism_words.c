// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processors promise that an aligned access of up to 8 bytes is atomic: x86 always, ARM for general registers. They
 * promise nothing for the instructions of memcpy(): string instructions, and unaligned vectors, the last of which
 * overlaps the one before.
 *
 * Protocols between peers order other accesses to the memory, as with a device behind a bus. The thread sanitizer does
 * not know these protocols, so these accesses are hidden from it.
 */
#include "prism_words.h"

typedef u16 __attribute__((may_alias)) word16;
typedef u32 __attribute__((may_alias)) word32;
typedef u64 __attribute__((may_alias)) word64;

#if defined(__SANITIZE_THREAD__) && !defined(__KERNEL__)
#define UNSEEN	__attribute__((no_sanitize_thread))
#else
#define UNSEEN
#endif

UNSEEN static __always_inline void load_word(u8 *to, const u8 *from, u32 size)
{
	u16 v16;
	u32 v32;
	u64 v64;

	switch (size) {
	case 8:
		v64 = prism_load_acquire((const word64 *)from);
		memcpy(to, &v64, sizeof(v64));
		break;
	case 4:
		v32 = prism_load_acquire((const word32 *)from);
		memcpy(to, &v32, sizeof(v32));
		break;
	case 2:
		v16 = prism_load_acquire((const word16 *)from);
		memcpy(to, &v16, sizeof(v16));
		break;
	default:
		*to = prism_load_acquire(from);
		break;
	}
}

UNSEEN static __always_inline void store_word(u8 *to, const u8 *from, u32 size)
{
	u16 v16;
	u32 v32;
	u64 v64;

	switch (size) {
	case 8:
		memcpy(&v64, from, sizeof(v64));
		prism_store_release((word64 *)to, v64);
		break;
	case 4:
		memcpy(&v32, from, sizeof(v32));
		prism_store_release((word32 *)to, v32);
		break;
	case 2:
		memcpy(&v16, from, sizeof(v16));
		prism_store_release((word16 *)to, v16);
		break;
	default:
		prism_store_release(to, *from);
		break;
	}
}

/* Loads the next word of @size bytes, if that many are left. Returns the bytes that it took */
UNSEEN static __always_inline size_t load_next(u8 *to, const u8 *from, size_t left, u32 size)
{
	if (left < size)
		return 0;
	load_word(to, from, size);
	return size;
}

/* Stores in the same way at the end of what is left */
UNSEEN static __always_inline size_t store_last(u8 *to, const u8 *from, size_t left, u32 size)
{
	if (left < size)
		return 0;
	store_word(to + left - size, from + left - size, size);
	return size;
}

/* Loads in order from the first, by the longest aligned words possible */
UNSEEN static __always_inline void load_few(u8 *to, const u8 *from, size_t length)
{
	size_t n = 0;

	if ((uintptr_t)from % PRISM_WORD) {
		if ((uintptr_t)from & 1)
			n += load_next(to, from, length, 1);
		if ((uintptr_t)(from + n) & 2)
			n += load_next(to + n, from + n, length - n, 2);
		if ((uintptr_t)(from + n) & 4)
			n += load_next(to + n, from + n, length - n, 4);
	}
	while (length - n >= PRISM_WORD)
		n += load_next(to + n, from + n, length - n, PRISM_WORD);
	if (n < length) {
		n += load_next(to + n, from + n, length - n, 4);
		n += load_next(to + n, from + n, length - n, 2);
		load_next(to + n, from + n, length - n, 1);
	}
}

/* Stores in order from the last */
UNSEEN static __always_inline void store_few(u8 *to, const u8 *from, size_t left)
{
	if ((uintptr_t)(to + left) % PRISM_WORD) {
		if ((uintptr_t)(to + left) & 1)
			left -= store_last(to, from, left, 1);
		if ((uintptr_t)(to + left) & 2)
			left -= store_last(to, from, left, 2);
		if ((uintptr_t)(to + left) & 4)
			left -= store_last(to, from, left, 4);
	}
	while (left >= PRISM_WORD)
		left -= store_last(to, from, left, PRISM_WORD);
	if (left) {
		left -= store_last(to, from, left, 4);
		left -= store_last(to, from, left, 2);
		store_last(to, from, left, 1);
	}
}

#if defined(__SSE2__) && !defined(__KERNEL__)
/*
 * Two words at once. Intel and AMD promise that an aligned access of 16 bytes is atomic on processors that have AVX.
 * ARM promises the same for pairs from LSE2 on, but single words are nearly as fast there.
 */
typedef long long __attribute__((vector_size(16), may_alias)) pair;

static bool has_pairs(void)
{
	return __builtin_cpu_supports("avx");
}

UNSEEN static __always_inline void load_pair(u8 *to, const u8 *from)
{
	const pair value = *(const pair *)from;

	__asm__ __volatile__("" : : : "memory"); /* keeps the compiler from merging several into one memcpy() */
	memcpy(to, &value, sizeof(value));
}

UNSEEN static __always_inline void store_pair(u8 *to, const u8 *from)
{
	pair value;

	memcpy(&value, from, sizeof(value));
	__asm__ __volatile__("" : : : "memory"); /* likewise */
	*(pair *)to = value;
}

UNSEEN static __always_inline void copy_pair(u8 *to, const u8 *from)
{
	const pair value = *(const pair *)from;

	__asm__ __volatile__("" : : : "memory"); /* likewise */
	*(pair *)to = value;
}

/* Loads words until pairs are aligned, then pairs. Returns the bytes loaded */
UNSEEN static size_t load_pairs(u8 *to, const u8 *from, size_t length)
{
	size_t n = 0;

	if (length < 3 * PRISM_WORD || !has_pairs())
		return 0;
	if ((uintptr_t)from % sizeof(pair)) {
		load_word(to, from, PRISM_WORD);
		n = PRISM_WORD;
	}
	for (; length - n >= 4 * sizeof(pair); n += 4 * sizeof(pair)) {
		load_pair(to + n, from + n);
		load_pair(to + n + 16, from + n + 16);
		load_pair(to + n + 32, from + n + 32);
		load_pair(to + n + 48, from + n + 48);
	}
	for (; length - n >= sizeof(pair); n += sizeof(pair))
		load_pair(to + n, from + n);
	return n;
}

UNSEEN static size_t store_pairs(u8 *to, const u8 *from, size_t length)
{
	size_t n = 0;

	if (length < 3 * PRISM_WORD || !has_pairs())
		return 0;
	if ((uintptr_t)to % sizeof(pair)) {
		store_word(to, from, PRISM_WORD);
		n = PRISM_WORD;
	}
	for (; length - n >= 4 * sizeof(pair); n += 4 * sizeof(pair)) {
		store_pair(to + n, from + n);
		store_pair(to + n + 16, from + n + 16);
		store_pair(to + n + 32, from + n + 32);
		store_pair(to + n + 48, from + n + 48);
	}
	for (; length - n >= sizeof(pair); n += sizeof(pair))
		store_pair(to + n, from + n);
	return n;
}

/* Copies in the same way, if both sides are aligned alike */
UNSEEN static size_t copy_pairs(u8 *to, const u8 *from, size_t length)
{
	size_t n = 0;

	if (((uintptr_t)to - (uintptr_t)from) % sizeof(pair) || length < 3 * PRISM_WORD || !has_pairs())
		return 0;
	if ((uintptr_t)to % sizeof(pair)) {
		prism_store_relaxed((word64 *)to, prism_load_relaxed((const word64 *)from));
		n = PRISM_WORD;
	}
	for (; length - n >= 4 * sizeof(pair); n += 4 * sizeof(pair)) {
		copy_pair(to + n, from + n);
		copy_pair(to + n + 16, from + n + 16);
		copy_pair(to + n + 32, from + n + 32);
		copy_pair(to + n + 48, from + n + 48);
	}
	for (; length - n >= sizeof(pair); n += sizeof(pair))
		copy_pair(to + n, from + n);
	return n;
}
#else
static size_t load_pairs(u8 *to, const u8 *from, size_t length)
{
	return 0;
}

static size_t store_pairs(u8 *to, const u8 *from, size_t length)
{
	return 0;
}

static size_t copy_pairs(u8 *to, const u8 *from, size_t length)
{
	return 0;
}
#endif

/* Returns the bytes before the first aligned word at @address */
UNSEEN static size_t before_words(const void *address)
{
	return -(uintptr_t)address % PRISM_WORD;
}

/* Loads words; the first is aligned. */
UNSEEN static void load_words(u8 *to, const u8 *from, size_t length)
{
	size_t n = load_pairs(to, from, length);
	u64 word;

	for (; length - n >= PRISM_WORD; n += PRISM_WORD) {
		word = prism_load_relaxed((const word64 *)(from + n));
		memcpy(to + n, &word, sizeof(word));
	}
}

UNSEEN static void store_words(u8 *to, const u8 *from, size_t length)
{
	size_t n = store_pairs(to, from, length);
	u64 word;

	for (; length - n >= PRISM_WORD; n += PRISM_WORD) {
		memcpy(&word, from + n, sizeof(word));
		prism_store_relaxed((word64 *)(to + n), word);
	}
}

UNSEEN void prism_words_load(void *to, const void *from, size_t length)
{
	const u8 *in = from;
	size_t begin, end;
	u8 *out = to;

	if (length <= PRISM_BLOCK) {
		load_few(out, in, length);
		return;
	}
	if (!(((uintptr_t)in | length) % PRISM_WORD)) {
		load_words(out, in, length);
		return;
	}
	begin = before_words(in);
	end = length - (uintptr_t)(in + length) % PRISM_WORD;
	load_few(out, in, begin);
	load_words(out + begin, in + begin, end - begin);
	load_few(out + end, in + end, length - end);
}

UNSEEN void prism_words_store(void *to, const void *from, size_t length)
{
	const u8 *in = from;
	size_t begin, end;
	u8 *out = to;

	if (length <= PRISM_BLOCK) {
		store_few(out, in, length);
		return;
	}
	if (!(((uintptr_t)out | length) % PRISM_WORD)) {
		store_words(out, in, length);
		return;
	}
	begin = before_words(out);
	end = length - (uintptr_t)(out + length) % PRISM_WORD;
	store_few(out, in, begin);
	store_words(out + begin, in + begin, end - begin);
	store_few(out + end, in + end, length - end);
}

/* Copies between differently aligned sides, where a word of one is parts of two of the other. */
UNSEEN static void copy_by_buffer(u8 *to, const u8 *from, size_t left)
{
	u8 piece[PRISM_PIECE];
	size_t held = 0, n;

	while (left) {
		n = prism_words_piece((uintptr_t)from, left, sizeof(piece) - held);
		prism_words_load(piece + held, from, n);
		from += n;
		left -= n;
		held += n;
		n = prism_words_piece((uintptr_t)to, held + left, held);
		prism_words_store(to, piece, n);
		to += n;
		held -= n;
		memmove(piece, piece + n, held);
	}
}

/* Copies words; the first is aligned on both sides. */
UNSEEN static void copy_words(u8 *to, const u8 *from, size_t length)
{
	size_t n = copy_pairs(to, from, length);

	for (; length - n >= PRISM_WORD; n += PRISM_WORD)
		prism_store_relaxed((word64 *)(to + n), prism_load_relaxed((const word64 *)(from + n)));
}

UNSEEN void prism_words_copy(void *to, const void *from, size_t length)
{
	const u8 *in = from;
	size_t begin, end;
	u8 *out = to;

	if (length <= PRISM_BLOCK || ((uintptr_t)out - (uintptr_t)in) % PRISM_WORD) {
		copy_by_buffer(out, in, length);
		return;
	}
	begin = before_words(in);
	end = length - (uintptr_t)(in + length) % PRISM_WORD;
	copy_by_buffer(out, in, begin);
	copy_words(out + begin, in + begin, end - begin);
	copy_by_buffer(out + end, in + end, length - end);
}
