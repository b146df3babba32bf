/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Grace periods of free lists. A posted buffer may be handed out when every request that was under way when it was
 * posted has ended: such a request may still read the buffer's old contents (docs/semantics.md S.7; PRISM section 3.2).
 *
 * The device numbers its requests as they begin. A free list notes, now and then, its producer index together with the
 * number of the last request begun: a snapshot. Once all requests up to that number have ended, the entries before the
 * noted index are allocatable. Everything here is arithmetic on indices that run freely over 32 bits; the caller
 * serialises the calls for one list.
 */
#ifndef PRISM_FREELIST_H
#define PRISM_FREELIST_H

#include "prism_platform.h"

struct prism_freelist {
	u32 producer;		/* entries posted */
	u32 consumer;		/* entries taken */
	u32 allocatable;	/* limit of consumer */
	u32 snapshot;		/* producer at the time of the snapshot */
	u64 snapshot_begun;	/* last request begun at that time */
};

static inline u32 prism_freelist_available(const struct prism_freelist *list)
{
	return list->producer - list->consumer;
}

static inline bool prism_freelist_empty(const struct prism_freelist *list)
{
	return list->allocatable == list->consumer;
}

/*
 * Advances @list. @begun: number of the last request begun; @oldest: number of the oldest request that has not ended,
 * @begun + 1 if there is none. A caller that allocates leaves itself out, as it must not wait for itself.
 */
void prism_freelist_advance(struct prism_freelist *list, u64 begun, u64 oldest);

#endif /* PRISM_FREELIST_H */
