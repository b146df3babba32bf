/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requirements of core/ on its surroundings: integer types, byte order, memcpy, counters that processors share. The
 * same files build into rxe_prism.ko and into the userspace device.
 */
#ifndef PRISM_PLATFORM_H
#define PRISM_PLATFORM_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/types.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include "prism_unaligned.h"	/* of the patch series: kernels have it in different places */

#define prism_load_relaxed(p)		READ_ONCE(*(p))
#define prism_store_relaxed(p, value)	WRITE_ONCE(*(p), value)
#define prism_load_acquire(p)		smp_load_acquire(p) /* pairs with programs and peers: prism_words.h */
#define prism_store_release(p, value)	smp_store_release(p, value) /* likewise */

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;

static inline u32 get_unaligned_be32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline u64 get_unaligned_be64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_be64(u64 v, void *p)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

static inline u32 get_unaligned_le32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline u64 get_unaligned_le64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void put_unaligned_le32(u32 v, void *p)
{
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_le64(u64 v, void *p)
{
	memcpy(p, &v, sizeof(v));
}

#define prism_load_relaxed(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define prism_store_relaxed(p, value)	__atomic_store_n(p, value, __ATOMIC_RELAXED)
#define prism_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define prism_store_release(p, value)	__atomic_store_n(p, value, __ATOMIC_RELEASE)

/*
 * All other accesses to shared data are sequentially consistent here, which the thread sanitizer understands; it does
 * not know barriers. So the barriers have nothing to do.
 */
typedef u32 atomic_t;

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_SEQ_CST)
#define ____cacheline_aligned_in_smp

static inline u32 atomic_read(const atomic_t *v)
{
	return READ_ONCE(*v);
}

static inline void atomic_inc(atomic_t *v)
{
	__atomic_fetch_add(v, 1, __ATOMIC_SEQ_CST);
}

/* nothing, see above */
static inline void smp_mb(void)
{
}

/* nothing, see above */
static inline void smp_mb__before_atomic(void)
{
}

/* nothing, see above */
static inline void smp_mb__after_atomic(void)
{
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the userspace helpers above are written for little-endian machines"
#endif

#endif /* __KERNEL__ */

#endif /* PRISM_PLATFORM_H */
