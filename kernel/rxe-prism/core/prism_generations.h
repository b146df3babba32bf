/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Count of the requests under way, for the grace periods of free lists. Beginnings and ends are counted in two
 * generations: one runs out while the other takes the new requests. Each processor counts in the slot of its number; a
 * request may begin in one slot and end in another.
 */
#ifndef PRISM_GENERATIONS_H
#define PRISM_GENERATIONS_H

#include "prism_platform.h"

#define PRISM_SLOTS	16

struct prism_slot {
	atomic_t begun[2];
	atomic_t ended[2];
} ____cacheline_aligned_in_smp;

struct prism_generations {
	struct prism_slot slots[PRISM_SLOTS];
	u64 present;		/* of the requests that begin */
};

void prism_generations_init(struct prism_generations *generations);

/* Begins a request: from here on it may resolve pointers and access memory. Does not return 0. */
static inline u8 prism_generations_begin(struct prism_generations *generations, u32 processor)
{
	const u8 parity = READ_ONCE(generations->present) & 1;

	atomic_inc(&generations->slots[processor % PRISM_SLOTS].begun[parity]);
	/* Visible to a free list that looks from now on; the request sees all that an earlier look has seen. */
	smp_mb__after_atomic();
	return parity + 1;
}

/* Ends a request: it will not access memory any more. @begun: the result of prism_generations_begin() */
static inline void prism_generations_end(struct prism_generations *generations, u32 processor, u8 begun)
{
	/* after its last access to memory */
	smp_mb__before_atomic();
	atomic_inc(&generations->slots[processor % PRISM_SLOTS].ended[begun - 1]);
}

/*
 * Returns the requests under way as prism_freelist_advance() needs them, numbered by their generations. @self: result
 * of prism_generations_begin() for a request that must not wait for itself, or 0. The caller serialises these calls.
 */
u64 prism_generations_look(struct prism_generations *generations, u8 self, u64 *begun);

#endif /* PRISM_GENERATIONS_H */
