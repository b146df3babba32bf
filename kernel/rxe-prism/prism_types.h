/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Members that PRISM adds to rxe's structures: of a device, a queue pair and a shared receive queue. */
#ifndef PRISM_TYPES_H
#define PRISM_TYPES_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/prism_bundle.h"
#include "core/prism_exec.h"
#include "core/prism_freelist.h"
#include "core/prism_generations.h"
#include "prism_abi.h"

struct rxe_queue;
struct rxe_mmap_info;

/* Memory of a process, whichever region or window names it */
struct prism_place {
	const struct mm_struct *mm;	/* compared, never followed */
	u64 at;
	u32 length;
};

struct prism_hand_outs {
	spinlock_t lock;		/* guards all of it */
	u64 count;			/* since the device was made */
	struct prism_place *latest;
};

/* In struct rxe_dev */
struct prism_dev {
	struct prism_generations requests;
	spinlock_t lock;		/* serialises the readers of requests */
	struct xarray free_lists;	/* by SRQ number */
	struct delayed_work grace;
	struct prism_hand_outs hand_outs;
};

/* The memory that a READ with data has found */
struct prism_resolution {
	u32 number;
	u32 rkey;
	u32 length;
	u64 va;
	u64 handed_out;		/* count of buffers when it was last known to be good */
};

/* The answer to an executed request, for its duplicates */
struct prism_saved {
	u32 psn;		/* of the response, or of its first packet */
	u32 psns;
	bool valid;
	bool reads;		/* a READ that returned data: @read, else @response */
	bool followed;		/* and a conditional request has acted on its success */
	struct prism_resolution read;
	struct prism_response response;
};

/* A READ whose response packets are being sent; nothing else is executed or saved meanwhile */
struct prism_stream {
	bool active;
	bool duplicate;		/* repeated: a fault then is no error of this queue pair */
	bool resumed;		/* continues an earlier resolution: valid until a buffer in @place is handed out */
	u32 first_psn;
	u32 psns;
	u32 offset;
	struct prism_resolution read;
	struct prism_place place;
};

/* A buffer that was taken back from an unfinished ALLOCATE */
struct prism_returned {
	struct list_head list;
	struct prism_buffer buffer;
};

/* Entries of a bundle in the making; only one side of a queue pair works on it */
struct prism_gather {
	u8 *bundle;		/* NULL: not needed since the last reset */
	u32 entries;
	u32 size;		/* from the BTH to the last pad */
	u32 first_psn;
};

/* In struct rxe_qp */
struct prism_qp {
	bool enabled;			/* created with PRISM_ABI_QP_PRISM */
	u8 begun;			/* by prism_generations_begin(), for the request being served; 0: none */

	/* Send queue: the user posts to @ring; rxe works on a copy of its own. */
	struct rxe_queue *ring;
	u32 wqe_offset;			/* of struct prism_wqe in an entry of the copy */

	/* Requester */
	bool went_back;			/* and has not yet reached sent_psn again */
	u32 sent_psn;
	bool has_read;			/* a READ has completed, the newest of them with @newest_read */
	u32 newest_read;

	struct prism_gather requests;
	bool peer_bundles;		/* the posted requests say that the peer speaks version 2 */

	/* Responder */
	struct prism_gather answers;
	bool was_bundled;		/* a request has come as an entry, so the peer speaks version 2 */
	bool chain_ok;
	u32 resolution;
	u32 saved_count;
	u32 next_saved;
	struct prism_saved *saved;
	struct prism_message message;
	struct prism_stream stream;
	struct prism_returned *spare;	/* memory for a buffer to be given back, allocated before it is popped */
};

/* In struct rxe_srq */
struct prism_srq {
	bool enabled;			/* a free list */
	struct prism_freelist list;
	struct list_head returned;
	u32 returned_count;
	u64 popped;
	u64 rejected;
	u64 reclaimed;
	u64 reports;
	u32 report_mask;
	struct prism_abi_free_list *shared;	/* the part that the owner sees: written, never read */
	struct rxe_mmap_info *shared_map;
};

#endif /* PRISM_TYPES_H */
