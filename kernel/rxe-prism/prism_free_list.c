// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Free lists: shared receive queues that ALLOCATE takes buffers from (docs/semantics.md S.7).
 *
 * The owner posts to the ring without telling us. So the state of a list is updated when a buffer is requested, and now
 * and then by a work item, so that grace periods also end without traffic. The SRQ's consumer lock guards all of a
 * list.
 */
#include <linux/vmalloc.h>

#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_queue.h"

#define PRISM_GRACE_PERIOD	msecs_to_jiffies(10)

/* Time ---------------------------------------------------------------------------------------------------------- */

/* Counts the posted entries from the consumer on; the owner may have set its index to anything. */
static void prism_note_producer(struct rxe_srq *srq)
{
	struct prism_freelist *list = &srq->prism.list;
	const u32 posted = queue_count(srq->rq.queue, QUEUE_TYPE_FROM_CLIENT);

	list->producer = list->consumer + posted;
	if (list->allocatable - list->consumer > posted)
		list->allocatable = list->producer;
	if (list->snapshot - list->consumer > posted)
		list->snapshot = list->producer;
}

static void prism_advance(struct rxe_dev *rxe, struct rxe_srq *srq, const struct rxe_qp *except)
{
	u64 begun, oldest;

	prism_note_producer(srq);
	oldest = prism_look(rxe, except, &begun);
	prism_freelist_advance(&srq->prism.list, begun, oldest);
}

static void prism_publish(struct rxe_srq *srq)
{
	const struct prism_freelist *list = &srq->prism.list;
	struct prism_abi_free_list *shared = srq->prism.shared;

	WRITE_ONCE(shared->allocatable, list->allocatable - list->consumer + srq->prism.returned_count);
}

/* Updates one list, as there may be many, and then releases the lock. False after the last. */
static bool prism_grace_of_next(struct rxe_dev *rxe, unsigned long *number)
{
	struct rxe_srq *srq;

	/* A list leaves the array under this lock before it is destroyed. */
	xa_lock_bh(&rxe->prism.free_lists);
	srq = xa_find(&rxe->prism.free_lists, number, ULONG_MAX, XA_PRESENT);
	if (srq) {
		spin_lock(&srq->rq.consumer_lock);
		prism_advance(rxe, srq, NULL);
		prism_publish(srq);
		spin_unlock(&srq->rq.consumer_lock);
		++*number;
	}
	xa_unlock_bh(&rxe->prism.free_lists);
	return srq;
}

void prism_grace(struct work_struct *work)
{
	struct rxe_dev *rxe = container_of(to_delayed_work(work), struct rxe_dev, prism.grace);
	unsigned long number = 0;

	while (prism_grace_of_next(rxe, &number))
		cond_resched();
	if (!xa_empty(&rxe->prism.free_lists))
		schedule_delayed_work(&rxe->prism.grace, PRISM_GRACE_PERIOD);
}

/* Entries ------------------------------------------------------------------------------------------------------- */

static void prism_report(struct rxe_dev *rxe, struct rxe_srq *srq, const struct rxe_sge *sge, u64 wr_id, int error)
{
	struct prism_abi_free_list *shared = srq->prism.shared;
	/* The user can write to the page; the mask is ours. */
	const u32 at = (u32)srq->prism.reports & srq->prism.report_mask;
	struct prism_abi_report *report = &shared->reports[at];

	report->wr_id = wr_id;
	report->addr = sge->addr;
	report->length = sge->length;
	report->lkey = sge->lkey;
	report->error = -error;
	srq->prism.reports++;
	/* publish the report before its number */
	smp_store_release(&shared->report_producer, (u32)srq->prism.reports);
	WRITE_ONCE(shared->rejected, ++srq->prism.rejected);
	rxe_counter_inc(rxe, PRISM_CNT_FREE_LIST_REJECTED);
}

/*
 * Checks that the entry names a live region of this domain that covers it, with local and remote write. Returns 0 and
 * its place in memory, or -errno.
 */
static int prism_check_entry(struct rxe_qp *qp, const struct rxe_sge *sge, struct prism_place *place)
{
	const int rights = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	struct rxe_mr *mr = lookup_mr(qp->pd, 0, sge->lkey, RXE_LOOKUP_LOCAL);
	int err = 0;

	if (!mr)
		return -EINVAL;
	if (mr_check_range(mr, sge->addr, sge->length))
		err = -EINVAL;
	else if ((mr->access & rights) != rights)
		err = -EACCES;
	else if (prism_is_paged(mr))
		err = -EOPNOTSUPP;
	else
		prism_place_in(mr, sge->addr, sge->length, place);
	rxe_put(mr);
	return err;
}

/* Copies the entry once; false if it has not exactly one sge. */
static bool prism_copy_entry(struct rxe_srq *srq, struct rxe_sge *sge, u64 *wr_id)
{
	const struct rxe_recv_wqe *wqe = queue_head(srq->rq.queue, QUEUE_TYPE_FROM_CLIENT);
	u32 num_sge;

	/* The owner may have taken the entry back since it was counted; it must not see old data of ours. */
	memset(sge, 0, sizeof(*sge));
	*wr_id = 0;
	if (!wqe)
		return false;
	*wr_id = READ_ONCE(wqe->wr_id);
	num_sge = READ_ONCE(wqe->dma.num_sge);
	memcpy(sge, wqe->dma.sge, sizeof(*sge));
	barrier();
	return num_sge == 1;
}

static struct prism_returned *prism_first_returned(struct rxe_srq *srq)
{
	return list_first_entry_or_null(&srq->prism.returned, struct prism_returned, list);
}

/* Finds the first entry that may be handed out: one that came back, else one of the ring. False if there is none. */
static bool prism_first_entry(struct rxe_qp *qp, struct rxe_srq *srq, struct rxe_sge *sge, u64 *wr_id, int *err)
{
	const struct prism_returned *returned = prism_first_returned(srq);

	if (returned) {
		sge->addr = returned->buffer.va;
		sge->length = returned->buffer.length;
		sge->lkey = returned->buffer.key;
		*wr_id = returned->buffer.wr_id;
		*err = 0;
		return true;
	}
	prism_note_producer(srq);
	if (prism_freelist_empty(&srq->prism.list) && prism_freelist_available(&srq->prism.list))
		prism_advance(to_rdev(qp->ibqp.device), srq, qp);
	if (prism_freelist_empty(&srq->prism.list))
		return false;
	*err = prism_copy_entry(srq, sge, wr_id) ? 0 : -EINVAL;
	return true;
}

/* Takes the entry that prism_first_entry() found */
static void prism_take_entry(struct rxe_srq *srq)
{
	struct prism_returned *returned = prism_first_returned(srq);

	if (returned) {
		list_del(&returned->list);
		kfree(returned);
		WRITE_ONCE(srq->prism.shared->returned, --srq->prism.returned_count);
	} else {
		queue_advance_consumer(srq->rq.queue, QUEUE_TYPE_FROM_CLIENT);
		srq->prism.list.consumer++;
	}
}

/* True once, when fewer entries are left than the owner's limit, good or bad, in the ring or taken back */
static bool prism_limit_reached(struct rxe_srq *srq)
{
	const u32 left = queue_count(srq->rq.queue, QUEUE_TYPE_FROM_CLIENT) + srq->prism.returned_count;

	if (!srq->limit || left >= srq->limit)
		return false;
	srq->limit = 0;
	return srq->ibsrq.event_handler;
}

static enum prism_pop prism_pop_entry(struct rxe_qp *qp, struct rxe_srq *srq, u32 length,
				      struct prism_buffer *buffer, bool *limit)
{
	struct rxe_dev *rxe = to_rdev(qp->ibqp.device);
	struct prism_place place;
	struct rxe_sge sge;
	int tries, err;
	u64 wr_id;

	for (tries = 0; tries < PRISM_FREE_LIST_TRIES; tries++) {
		if (!prism_first_entry(qp, srq, &sge, &wr_id, &err))
			return PRISM_POP_EMPTY;
		if (!err)
			err = prism_check_entry(qp, &sge, &place);
		if (!err && length > sge.length) {
			rxe_counter_inc(rxe, PRISM_CNT_TOO_LARGE);
			return PRISM_POP_TOO_LARGE;
		}
		prism_take_entry(srq);
		*limit |= prism_limit_reached(srq);
		if (!err) {
			prism_hand_out(&rxe->prism.hand_outs, &place);
			buffer->va = sge.addr;
			buffer->length = sge.length;
			buffer->key = sge.lkey;
			buffer->wr_id = wr_id;
			return PRISM_POP_OK;
		}
		prism_report(rxe, srq, &sge, wr_id, err);
	}
	return PRISM_POP_EMPTY;
}

static void prism_limit_event(struct rxe_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/* Takes a reference to a list; the lock keeps the list alive meanwhile. */
static struct rxe_srq *prism_get_list(struct rxe_dev *rxe, u32 number)
{
	struct rxe_srq *srq;

	xa_lock_bh(&rxe->prism.free_lists);
	srq = xa_load(&rxe->prism.free_lists, number);
	if (srq && !rxe_get(srq))
		srq = NULL;
	xa_unlock_bh(&rxe->prism.free_lists);
	return srq;
}

enum prism_pop prism_pop(void *ctx, u32 free_list, u32 length, struct prism_buffer *buffer)
{
	struct rxe_qp *qp = ctx;
	struct rxe_srq *srq;
	enum prism_pop pop;
	bool limit = false;

	srq = prism_get_list(to_rdev(qp->ibqp.device), free_list);
	if (!srq)
		return PRISM_POP_NO_LIST;
	if (srq->pd != qp->pd) {
		rxe_put(srq);
		return PRISM_POP_NO_LIST;
	}
	/* Allocate memory now to note the buffer if it has to go back. */
	if (!qp->prism.spare)
		qp->prism.spare = kmalloc(sizeof(*qp->prism.spare), GFP_ATOMIC);
	if (!qp->prism.spare) {
		rxe_put(srq);
		return PRISM_POP_EMPTY;
	}
	spin_lock_bh(&srq->rq.consumer_lock);
	pop = prism_pop_entry(qp, srq, length, buffer, &limit);
	if (pop == PRISM_POP_OK) {
		buffer->free_list = free_list;
		WRITE_ONCE(srq->prism.shared->popped, ++srq->prism.popped);
	}
	prism_publish(srq);
	spin_unlock_bh(&srq->rq.consumer_lock);
	if (limit)
		prism_limit_event(srq);
	rxe_put(srq);
	return pop;
}

void prism_give_back(void *ctx, struct prism_buffer *buffer)
{
	struct rxe_qp *qp = ctx;
	struct rxe_dev *rxe = to_rdev(qp->ibqp.device);
	struct prism_returned *returned = qp->prism.spare;
	struct rxe_srq *srq = prism_get_list(rxe, buffer->free_list);

	/* If the list is gone, the buffer is its owner's again. Another list may have its number by now. */
	if (!srq)
		return;
	if (srq->pd != qp->pd) {
		rxe_put(srq);
		return;
	}
	qp->prism.spare = NULL;
	returned->buffer = *buffer;
	spin_lock_bh(&srq->rq.consumer_lock);
	list_add_tail(&returned->list, &srq->prism.returned);
	WRITE_ONCE(srq->prism.shared->returned, ++srq->prism.returned_count);
	WRITE_ONCE(srq->prism.shared->reclaimed, ++srq->prism.reclaimed);
	prism_publish(srq);
	spin_unlock_bh(&srq->rq.consumer_lock);
	rxe_counter_inc(rxe, PRISM_CNT_FREE_LIST_RECLAIMED);
	rxe_put(srq);
}

/* Objects ------------------------------------------------------------------------------------------------------- */

static int prism_make_shared(struct rxe_dev *rxe, struct rxe_srq *srq, struct ib_udata *udata)
{
	struct prism_abi_create_srq_resp __user *uresp = udata->outbuf;
	const u32 reports = srq->rq.queue->index_mask + 1;
	const size_t size = struct_size(srq->prism.shared, reports, reports);
	int err;

	srq->prism.shared = vmalloc_user(size);
	if (!srq->prism.shared)
		return -ENOMEM;
	srq->prism.report_mask = reports - 1;
	srq->prism.shared->report_mask = reports - 1;
	err = do_mmap_info(rxe, (struct mminfo __user *)&uresp->free_list, udata,
			   (struct rxe_queue_buf *)srq->prism.shared, size, &srq->prism.shared_map);
	if (err) {
		vfree(srq->prism.shared);
		srq->prism.shared = NULL;
	}
	return err;
}

int prism_srq_init(struct rxe_dev *rxe, struct rxe_srq *srq, struct ib_udata *udata)
{
	struct prism_abi_create_srq cmd = {};
	int err;

	INIT_LIST_HEAD(&srq->prism.returned);
	if (!udata || !udata->inlen)
		return 0;
	err = prism_copy_command(udata, &cmd, sizeof(cmd));
	if (err)
		return err;
	if ((cmd.flags & ~PRISM_ABI_SRQ_FREE_LIST) || cmd.reserved)
		return -EOPNOTSUPP;
	if (!cmd.flags)
		return 0;
	if (udata->outlen < sizeof(struct prism_abi_create_srq_resp))
		return -EINVAL;
	err = prism_make_shared(rxe, srq, udata);
	if (err)
		return err;
	srq->prism.enabled = true;
	err = xa_err(xa_store_bh(&rxe->prism.free_lists, srq->srq_num, srq, GFP_KERNEL));
	if (!err)
		schedule_delayed_work(&rxe->prism.grace, PRISM_GRACE_PERIOD);
	return err;
}

/* Hides the list from requests; the caller waits for those that have found it. */
void prism_srq_destroy(struct rxe_srq *srq)
{
	if (srq->prism.enabled)
		xa_erase_bh(&to_rdev(srq->ibsrq.device)->prism.free_lists, srq->srq_num);
}

void prism_srq_cleanup(struct rxe_srq *srq)
{
	struct prism_returned *returned, *next;

	if (srq->prism.enabled)
		list_for_each_entry_safe(returned, next, &srq->prism.returned, list)
			kfree(returned);
	if (srq->prism.shared_map)
		kref_put(&srq->prism.shared_map->ref, rxe_mmap_release);
	srq->prism.shared_map = NULL;
}
