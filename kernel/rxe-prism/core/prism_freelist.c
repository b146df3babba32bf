// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "prism_freelist.h"

static void take_snapshot(struct prism_freelist *list, u64 begun)
{
	list->snapshot = list->producer;
	list->snapshot_begun = begun;
}

void prism_freelist_advance(struct prism_freelist *list, u64 begun, u64 oldest)
{
	if (oldest > begun) {
		list->allocatable = list->producer;
		take_snapshot(list, begun);
		return;
	}
	if (list->snapshot == list->allocatable) {
		/* No entry waits for its grace period: start one for the entries posted since. */
		take_snapshot(list, begun);
		return;
	}
	if (oldest > list->snapshot_begun) {
		list->allocatable = list->snapshot;
		take_snapshot(list, begun);
	}
}
