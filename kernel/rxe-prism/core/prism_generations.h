/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The count of requests under way, for the grace periods of free lists: when they begin and when they end, in two
 * generations. One runs out while the other takes what begins. Each processor counts in the slot of its number; a
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

/* A request begins: from here on it may resolve pointers and touch memory. What it returns is not 0. */
static inline u8 prism_generations_begin(struct prism_generations *generations, u32 processor)
{
	const u8 parity = READ_ONCE(generations->present) & 1;

	atomic_inc(&generations->slots[processor % PRISM_SLOTS].begun[parity]);
	/* Seen by a free list that looks from now on; what that one saw before is seen by the request. */
	smp_mb__after_atomic();
	return parity + 1;
}

/* It has ended: it will not touch memory any more. @begun: what prism_generations_begin() has returned */
static inline void prism_generations_end(struct prism_generations *generations, u32 processor, u8 begun)
{
	/* behind its last access to memory */
	smp_mb__before_atomic();
	atomic_inc(&generations->slots[processor % PRISM_SLOTS].ended[begun - 1]);
}

/*
 * What is under way, as prism_freelist_advance() asks for it: requests are numbered by their generations. @self: of a
 * request that does not wait for itself what prism_generations_begin() has returned, or 0. The caller serialises these
 * calls.
 */
u64 prism_generations_look(struct prism_generations *generations, u8 self, u64 *begun);

#endif /* PRISM_GENERATIONS_H */
