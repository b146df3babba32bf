// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The buffers that the free lists of a device have handed out lately: a READ that was resolved before must not read
 * them any more (docs/semantics.md S.9.3).
 */
#include <linux/mm.h>

#include "rxe.h"
#include "rxe_loc.h"

#define PRISM_HAND_OUTS_KEPT	4096

/* If the allocation fails nothing is known, so READs are resolved again. */
void prism_hand_outs_init(struct prism_hand_outs *outs)
{
	spin_lock_init(&outs->lock);
	outs->count = 0;
	outs->latest = kvcalloc(PRISM_HAND_OUTS_KEPT, sizeof(*outs->latest), GFP_KERNEL);
}

void prism_hand_outs_cleanup(struct prism_hand_outs *outs)
{
	kvfree(outs->latest);
	outs->latest = NULL;
}

/* Notes a handed-out buffer, before its new owner, or the owner's peer, writes to it */
void prism_hand_out(struct prism_hand_outs *outs, const struct prism_place *place)
{
	spin_lock_bh(&outs->lock);
	if (outs->latest)
		outs->latest[outs->count % PRISM_HAND_OUTS_KEPT] = *place;
	WRITE_ONCE(outs->count, outs->count + 1);
	spin_unlock_bh(&outs->lock);
	/* pairs with the barrier in prism_handed_out() */
	smp_wmb();
}

u64 prism_hand_outs_count(struct prism_hand_outs *outs)
{
	return READ_ONCE(outs->count);
}

/* Different processes may share memory at different addresses: assume that they do */
static bool prism_overlap(const struct prism_place *a, const struct prism_place *b)
{
	return a->mm != b->mm || (a->at < b->at + b->length && b->at < a->at + a->length);
}

/*
 * True if a part of @place was handed out after the first @since, or if that is not known any more. Then data read from
 * @place before may be the new owner's. Else @since becomes the number up to now.
 */
bool prism_handed_out(struct prism_hand_outs *outs, const struct prism_place *place, u64 *since)
{
	bool overlap;
	u64 i;

	/* A reader that has seen a new owner's data sees the new count. */
	smp_rmb();
	if (READ_ONCE(outs->count) == *since)
		return false;
	spin_lock_bh(&outs->lock);
	overlap = !outs->latest || outs->count - *since > PRISM_HAND_OUTS_KEPT;
	for (i = *since; !overlap && i != outs->count; i++)
		overlap = prism_overlap(&outs->latest[i % PRISM_HAND_OUTS_KEPT], place);
	if (!overlap)
		*since = outs->count;
	spin_unlock_bh(&outs->lock);
	return overlap;
}
