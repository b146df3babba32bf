// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues of user queue pairs. The user posts to a ring that it can write at any time. Each entry is copied once,
 * checked in the copy, and put into a queue that the user cannot see, on which all of rxe works.
 */
#include <linux/vmalloc.h>

#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_queue.h"

#define PRISM_USER_WR	(BIT(IB_UVERBS_WR_RDMA_WRITE) | BIT(IB_UVERBS_WR_RDMA_WRITE_WITH_IMM) | \
			 BIT(IB_UVERBS_WR_SEND) | BIT(IB_UVERBS_WR_SEND_WITH_IMM) | \
			 BIT(IB_UVERBS_WR_RDMA_READ) | BIT(IB_UVERBS_WR_ATOMIC_CMP_AND_SWP) | \
			 BIT(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD) | BIT(IB_UVERBS_WR_LOCAL_INV) | \
			 BIT(IB_UVERBS_WR_BIND_MW) | BIT(IB_UVERBS_WR_SEND_WITH_INV) | PRISM_PERSISTENT_WR)

#define PRISM_WINDOW_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
				 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ZERO_BASED | PRISM_PERSISTENT_ACCESS)

#define PRISM_SEND_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)

/* An opcode of rxe's table that no service supports: rxe completes the work request with an error. */
#define PRISM_WR_REFUSED	IB_WR_LSO

u32 prism_user_opcodes(void)
{
	return PRISM_USER_WR;
}

/* Queues -------------------------------------------------------------------------------------------------------- */

static u32 prism_user_header(const struct rxe_qp *qp)
{
	return qp->prism.enabled ? PRISM_ABI_PRISM_SEND_HEADER : PRISM_ABI_SEND_HEADER;
}

/* Returns the bytes of an entry beside its sges or inline data, in the larger of the two queues */
int prism_send_wqe_size(struct rxe_qp *qp, int data_size)
{
	int size = sizeof(struct rxe_send_wqe);

	if (!qp->is_user)
		return size;
	if (qp->prism.enabled) {
		qp->prism.wqe_offset = ALIGN(size + data_size, 8);
		size = qp->prism.wqe_offset - data_size + sizeof(struct prism_wqe);
	}
	return max_t(int, size, prism_user_header(qp));
}

/*
 * Turns the queue that was made and mapped for the user into the ring, and makes the private one. On failure neither is
 * left.
 */
int prism_sq_init(struct rxe_qp *qp, int wqe_size)
{
	struct rxe_queue *ring = qp->sq.queue;
	int slots = ring->index_mask;

	BUILD_BUG_ON(offsetof(struct prism_abi_send, prism) + sizeof(struct prism_abi_prism_wr) >
		     PRISM_ABI_PRISM_SEND_HEADER);
	BUILD_BUG_ON(offsetofend(struct prism_abi_send, mw) > PRISM_ABI_SEND_HEADER);
	BUILD_BUG_ON(sizeof(struct prism_abi_sge) != sizeof(struct rxe_sge));
	BUILD_BUG_ON(sizeof(struct prism_abi_recv) != sizeof(struct rxe_recv_wqe));
	BUILD_BUG_ON(offsetof(struct prism_abi_recv, num_sge) != offsetof(struct rxe_recv_wqe, dma.num_sge));
	BUILD_BUG_ON(sizeof(struct prism_abi_mmap) != sizeof(struct mminfo));
	BUILD_BUG_ON(sizeof(struct prism_abi_queue) != sizeof(struct rxe_queue_buf));

	if (!qp->is_user)
		return 0;
	qp->sq.queue = rxe_queue_init(to_rdev(qp->ibqp.device), &slots, wqe_size, QUEUE_TYPE_FROM_CLIENT);
	if (!qp->sq.queue) {
		rxe_queue_cleanup(ring);
		return -ENOMEM;
	}
	qp->sq.queue->mirror = ring->buf;
	qp->prism.ring = ring;
	return 0;
}

/* Frees the ring, when nothing works on the queue any more; it outlives the private one. */
void prism_sq_cleanup(struct rxe_qp *qp)
{
	if (qp->sq.queue)
		qp->sq.queue->mirror = NULL;
	if (qp->prism.ring)
		rxe_queue_cleanup(qp->prism.ring);
	qp->prism.ring = NULL;
}

/* Drops everything that was posted */
void prism_sq_drop(struct rxe_qp *qp)
{
	struct rxe_queue *ring = qp->prism.ring, *q = qp->sq.queue;
	u32 at;

	if (!ring)
		return;
	at = READ_ONCE(ring->buf->producer_index) & ring->index_mask;
	ring->index = at;
	/* the user may write there from now on */
	smp_store_release(&ring->buf->consumer_index, at);
	q->index = at;
	q->buf->producer_index = at;
	q->buf->consumer_index = at;
	qp->req.wqe_index = at;
}

/* Taking over an entry ------------------------------------------------------------------------------------------ */

/*
 * Copies the entry without what follows it; the PRISM member only for a PRISM request. Returns true for a PRISM
 * request. Sizes are constant, so that these are a few moves without a loop: every request takes this path.
 */
static bool prism_copy_header(struct rxe_qp *qp, const void *entry, struct prism_abi_send *user)
{
	bool prism;

	memcpy(user, entry, PRISM_ABI_SEND_HEADER);
	/* Use exactly what is checked below: do not read shared memory again. */
	barrier();
	prism = qp->prism.enabled && prism_is_wr(user->opcode);
	if (prism) {
		memcpy(&user->prism, entry + offsetof(struct prism_abi_send, prism),
		       offsetof(struct prism_abi_prism_wr, operands));
		if (user->opcode == PRISM_ABI_WR_CAS)
			memcpy(user->prism.operands, entry + offsetof(struct prism_abi_send, prism.operands),
			       PRISM_ABI_OPERANDS_SIZE);
		barrier();
	}
	return prism;
}

static bool prism_take_inline(struct rxe_qp *qp, struct rxe_send_wqe *wqe, const struct prism_abi_send *user,
			      const void *data)
{
	if (user->length > qp->sq.max_inline)
		return false;
	memcpy(wqe->dma.inline_data, data, user->length);
	wqe->dma.length = user->length;
	return true;
}

static bool prism_take_sges(struct rxe_qp *qp, struct rxe_send_wqe *wqe, const struct prism_abi_send *user,
			    const void *data)
{
	const struct rxe_sge *sge = data;
	u64 length = 0;
	u32 i;

	if (user->num_sge > qp->sq.max_sge)
		return false;
	for (i = 0; i < user->num_sge; i++)
		wqe->dma.sge[i] = sge[i];
	barrier();
	for (i = 0; i < user->num_sge; i++)
		length += wqe->dma.sge[i].length;
	if (length > RXE_PORT_MAX_MSG_SZ)
		return false;
	wqe->dma.num_sge = user->num_sge;
	wqe->dma.length = length;
	return true;
}

static bool prism_take_data(struct rxe_qp *qp, struct rxe_send_wqe *wqe, const struct prism_abi_send *user,
			    const void *data)
{
	bool taken;

	if (user->flags & IB_SEND_INLINE)
		taken = prism_take_inline(qp, wqe, user, data);
	else
		taken = prism_take_sges(qp, wqe, user, data);
	wqe->dma.resid = wqe->dma.length;
	return taken;
}

static bool prism_take_datagram(struct rxe_send_wqe *wqe, const struct prism_abi_send *user)
{
	/* For 0 rxe would take the address vector from the work request, and believe a forged source address. */
	if (!user->ud.ah_num || user->ud.reserved)
		return false;
	wqe->wr.wr.ud.remote_qpn = user->ud.remote_qpn;
	wqe->wr.wr.ud.remote_qkey = user->ud.remote_qkey;
	wqe->wr.wr.ud.ah_num = user->ud.ah_num;
	return true;
}

static bool prism_take_rdma(struct rxe_send_wqe *wqe, const struct prism_abi_send *user)
{
	if (user->rdma.flush)
		return false;
	wqe->wr.wr.rdma.remote_addr = user->rdma.remote_addr;
	wqe->wr.wr.rdma.rkey = user->rdma.rkey;
	wqe->iova = user->rdma.remote_addr;
	return true;
}

static bool prism_take_atomic(struct rxe_send_wqe *wqe, const struct prism_abi_send *user)
{
	if (user->atomic.reserved)
		return false;
	wqe->wr.wr.atomic.remote_addr = user->atomic.remote_addr;
	wqe->wr.wr.atomic.compare_add = user->atomic.compare_add;
	wqe->wr.wr.atomic.swap = user->atomic.swap;
	wqe->wr.wr.atomic.rkey = user->atomic.rkey;
	wqe->iova = user->atomic.remote_addr;
	return true;
}

static bool prism_take_window(struct rxe_send_wqe *wqe, const struct prism_abi_send *user)
{
	if (user->mw.access & ~PRISM_WINDOW_ACCESS)
		return false;
	wqe->wr.wr.mw.addr = user->mw.addr;
	wqe->wr.wr.mw.length = user->mw.length;
	wqe->wr.wr.mw.mr_lkey = user->mw.mr_lkey;
	wqe->wr.wr.mw.mw_rkey = user->mw.mw_rkey;
	wqe->wr.wr.mw.rkey = user->mw.rkey;
	wqe->wr.wr.mw.access = user->mw.access;
	return true;
}

#ifdef PRISM_HAS_PERSISTENT_WR
static bool prism_take_persistent(struct rxe_qp *qp, struct rxe_send_wqe *wqe, const struct prism_abi_send *user,
				  const void *data)
{
	if (user->opcode == IB_UVERBS_WR_ATOMIC_WRITE) {
		/* rxe sends the eight bytes from the work request itself. */
		if (!(user->flags & IB_SEND_INLINE) || user->length != sizeof(u64) ||
		    user->length > qp->sq.max_inline)
			return false;
		memcpy(wqe->dma.atomic_wr, data, sizeof(u64));
		wqe->wr.send_flags &= ~IB_SEND_INLINE;
		wqe->dma.length = sizeof(u64);
		if (!prism_take_rdma(wqe, user))
			return false;
	} else {
		wqe->wr.wr.flush.remote_addr = user->rdma.remote_addr;
		wqe->wr.wr.flush.rkey = user->rdma.rkey;
		wqe->wr.wr.flush.length = user->length;
		wqe->wr.wr.flush.type = user->rdma.flush;
		wqe->wr.wr.flush.level = user->rdma.flush >> 8;
		wqe->dma.length = user->length;
		wqe->iova = user->rdma.remote_addr;
	}
	wqe->dma.resid = wqe->dma.length;
	return true;
}
#else
static bool prism_take_persistent(struct rxe_qp *qp, struct rxe_send_wqe *wqe, const struct prism_abi_send *user,
				  const void *data)
{
	return false;
}
#endif

static bool prism_take_standard(struct rxe_qp *qp, struct rxe_send_wqe *wqe, const struct prism_abi_send *user,
				const void *data)
{
	if (user->opcode > 31 || !(PRISM_USER_WR & BIT(user->opcode)) || !wr_opcode_mask(user->opcode, qp))
		return false;
	switch (user->opcode) {
	case IB_UVERBS_WR_RDMA_WRITE:
	case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		if (!prism_take_rdma(wqe, user))
			return false;
		break;
	case IB_UVERBS_WR_RDMA_READ:
		if ((user->flags & IB_SEND_INLINE) || !prism_take_rdma(wqe, user))
			return false;
		break;
	case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
	case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		if ((user->flags & IB_SEND_INLINE) || !prism_take_atomic(wqe, user))
			return false;
		break;
	case IB_UVERBS_WR_SEND:
	case IB_UVERBS_WR_SEND_WITH_IMM:
	case IB_UVERBS_WR_SEND_WITH_INV:
		if (qp_type(qp) == IB_QPT_UD && !prism_take_datagram(wqe, user))
			return false;
		break;
	case IB_UVERBS_WR_LOCAL_INV:
		return true;
	case IB_UVERBS_WR_BIND_MW:
		return prism_take_window(wqe, user);
	default:
		return prism_take_persistent(qp, wqe, user, data);
	}
	return prism_take_data(qp, wqe, user, data);
}

/* Takes the total length of a request: that of its data, or the stated one if the peer moves the data. */
static bool prism_take_length(struct prism_request *req, const struct prism_abi_send *user, u32 data_length)
{
	const bool moves = (req->op == PRISM_READ && (req->flags & PRISM_FLAG_R)) ||
			   (req->op == PRISM_WRITE && (req->flags & PRISM_FLAG_D));

	if (moves ? data_length : user->prism.aux_length)
		return false;
	if (req->op == PRISM_CAS) {
		req->length = 0;
		return !data_length || data_length == req->cas_size;
	}
	req->length = moves ? user->prism.aux_length : data_length;
	return true;
}

static bool prism_take_prism(struct rxe_qp *qp, struct rxe_send_wqe *wqe, const struct prism_abi_send *user,
			     const void *data)
{
	struct prism_wqe *prism = prism_wqe(qp, wqe);
	struct prism_request *req = &prism->request;

	if ((user->prism.flags & ~PRISM_FLAG_MASK) || (user->prism.cas_flags & ~PRISM_CAS_COMPARE_DATA) ||
	    (user->prism.result.length && user->prism.result.length != sizeof(u64)))
		return false;
	memset(req, 0, sizeof(*req));
	prism->latched = false;
	prism->reached = 0;
	prism->resumes = user->flags & PRISM_ABI_SEND_RESUME;
	prism->bundles = user->flags & PRISM_ABI_SEND_BUNDLE;
	if (prism->bundles)
		WRITE_ONCE(qp->prism.peer_bundles, true);
	req->op = user->opcode - PRISM_ABI_WR_READ;
	req->flags = user->prism.flags;
	req->first = true;
	req->last = true;
	req->cas_mode = user->prism.cas_mode;
	req->cas_flags = user->prism.cas_flags;
	req->cas_size = user->prism.cas_size;
	req->va = user->prism.va;
	req->rkey = user->prism.rkey;
	req->aux_va = user->prism.aux_va;
	req->aux_rkey = user->prism.aux_rkey;
	req->free_list = user->prism.free_list;
	req->tag = user->prism.tag;
	req->operands = prism->operands;
	if (req->op == PRISM_CAS)
		memcpy(prism->operands, user->prism.operands, sizeof(prism->operands));
	prism->result.addr = user->prism.result.addr;
	prism->result.length = user->prism.result.length;
	prism->result.lkey = user->prism.result.lkey;
	if ((user->flags & IB_SEND_INLINE) && (req->op == PRISM_READ || req->op == PRISM_CAS))
		return false;
	if (!prism_take_data(qp, wqe, user, data) || !prism_take_length(req, user, wqe->dma.length))
		return false;
	return !prism_request_check(req, qp->mtu, PRISM_MAX_INDIRECT_READ);
}

/* Begins a new work request; its parameters and data follow. */
static void prism_begin_wqe(struct rxe_qp *qp, struct rxe_send_wqe *wqe, const struct prism_abi_send *user)
{
	wqe->wr.wr_id = user->wr_id;
	wqe->wr.reserved = 0;
	wqe->wr.opcode = user->opcode;
	wqe->wr.send_flags = user->flags & PRISM_SEND_FLAGS;
	wqe->wr.ex.imm_data = user->imm_data;
	wqe->status = 0;
	wqe->state = wqe_state_posted;
	wqe->iova = 0;
	wqe->has_rd_atomic = 0;
	wqe->ssn = atomic_inc_return(&qp->ssn);
	wqe->dma.length = 0;
	wqe->dma.resid = 0;
	wqe->dma.cur_sge = 0;
	wqe->dma.num_sge = 0;
	wqe->dma.sge_offset = 0;
}

/* Refuses unknown bits: they must be 0, so that they can get a meaning. */
static bool prism_is_known(const struct prism_abi_send *user, bool prism)
{
	const u32 known = PRISM_SEND_FLAGS | (prism ? PRISM_ABI_SEND_RESUME | PRISM_ABI_SEND_BUNDLE : 0);

	return !user->reserved && !(user->flags & ~known);
}

static void prism_take(struct rxe_qp *qp, const void *entry, struct rxe_send_wqe *wqe)
{
	const void *data = entry + prism_user_header(qp);
	struct prism_abi_send user __uninitialized;
	bool prism, taken;

	prism = prism_copy_header(qp, entry, &user);
	prism_begin_wqe(qp, wqe, &user);
	if (!prism_is_known(&user, prism))
		taken = false;
	else if (prism)
		taken = prism_take_prism(qp, wqe, &user, data);
	else
		taken = prism_take_standard(qp, wqe, &user, data);
	if (!taken) {
		rxe_dbg_qp(qp, "work request with opcode %u refused\n", user.opcode);
		wqe->wr.opcode = PRISM_WR_REFUSED;
		wqe->dma.num_sge = 0;
		wqe->dma.length = 0;
		wqe->dma.resid = 0;
	}
}

/*
 * Takes over a batch of newly posted requests. Callers that work on the queue call this again before they take the
 * queue for empty. Requester and completer both call it, possibly at once.
 */
void prism_sq_fetch(struct rxe_qp *qp)
{
	struct rxe_queue *ring = qp->prism.ring, *q = qp->sq.queue;
	unsigned long flags;
	u32 end, prod, n;

	if (!ring || READ_ONCE(ring->index) == (READ_ONCE(ring->buf->producer_index) & ring->index_mask))
		return;
	/* On 6.12 the requester calls this with interrupts off. */
	spin_lock_irqsave(&qp->sq.sq_lock, flags);
	/* the entries before the index are complete */
	end = smp_load_acquire(&ring->buf->producer_index) & ring->index_mask;
	for (n = 0; n < PRISM_BATCH && ring->index != end && !queue_full(q, QUEUE_TYPE_FROM_ULP); n++) {
		prod = queue_get_producer(q, QUEUE_TYPE_FROM_ULP);
		prism_take(qp, queue_addr_from_index(ring, ring->index), queue_addr_from_index(q, prod));
		WRITE_ONCE(ring->index, queue_next_index(ring, ring->index));
		queue_advance_producer(q, QUEUE_TYPE_FROM_ULP);
	}
	spin_unlock_irqrestore(&qp->sq.sq_lock, flags);
}

/*
 * Returns the next work request to flush, or NULL. If the user is told of each, it may post more without end: then a
 * task comes again for those after a batch. Else the requests in the ring are dropped as a whole, with the queue.
 */
struct rxe_send_wqe *prism_sq_flush(struct rxe_qp *qp, bool notify, int *done)
{
	struct rxe_queue *q = qp->sq.queue;

	if (notify) {
		if ((*done)++ == PRISM_BATCH) {
			prism_kick_completer(qp);
			return NULL;
		}
		if (queue_empty(q, q->type))
			prism_sq_fetch(qp);
	}
	return queue_head(q, q->type);
}

/* Receive queues ------------------------------------------------------------------------------------------------ */

/*
 * Makes a receive consistent that rxe has copied out of its ring after checking num_sge there: restores the checked
 * value, whatever the copy says, and starts at the beginning.
 */
void prism_check_recv(struct rxe_recv_wqe *wqe, unsigned int num_sge)
{
	u32 length = 0;
	unsigned int i;

	barrier();
	for (i = 0; i < num_sge; i++)
		length += wqe->dma.sge[i].length;
	wqe->dma.num_sge = num_sge;
	wqe->dma.length = length;
	wqe->dma.resid = length;
	wqe->dma.cur_sge = 0;
	wqe->dma.sge_offset = 0;
}
