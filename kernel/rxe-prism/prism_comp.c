// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer: handles a response to the oldest work request, if either is PRISM (docs/wire-protocol.md W.6.4 and
 * W.8.3).
 */
#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_queue.h"

static enum prism_completion prism_drop(struct rxe_qp *qp, enum rxe_counters counter)
{
	rxe_counter_inc(to_rdev(qp->ibqp.device), counter);
	return PRISM_COMPLETION_DROP;
}

/* Notes progress of the peer: restores the retry count */
static void prism_progressed(struct rxe_qp *qp)
{
	qp->comp.retry_cnt = qp->attr.retry_cnt;
	qp->comp.rnr_retry = qp->attr.rnr_retry;
	qp->comp.started_retry = 0;
}

/* Notes that everything before @psn has been answered */
static void prism_advance_psn(struct rxe_qp *qp, u32 psn)
{
	qp->comp.opcode = -1;
	if (psn_compare(psn, qp->comp.psn) <= 0)
		return;
	qp->comp.psn = psn;
	if (qp->req.wait_psn) {
		qp->req.wait_psn = 0;
		prism_kick_requester(qp);
	}
}

static enum prism_completion prism_done(struct rxe_qp *qp, struct rxe_send_wqe *wqe, u8 status, u32 byte_len)
{
	struct prism_wqe *prism = prism_wqe(qp, wqe);

	prism->status = status;
	prism->byte_len = byte_len;
	prism_progressed(qp);
	prism_advance_psn(qp, (wqe->last_psn + 1) & BTH_PSN_MASK);
	return PRISM_COMPLETION_DONE;
}

static enum prism_completion prism_local_error(struct rxe_send_wqe *wqe)
{
	wqe->status = IB_WC_LOC_PROT_ERR;
	return PRISM_COMPLETION_ERROR;
}

/* Acknowledges ------------------------------------------------------------------------------------------------ */

static enum ib_wc_status prism_refusal(u8 syndrome)
{
	switch (syndrome) {
	case AETH_NAK_INVALID_REQ:
		return IB_WC_REM_INV_REQ_ERR;
	case AETH_NAK_REM_ACC_ERR:
		return IB_WC_REM_ACCESS_ERR;
	default:
		return IB_WC_REM_OP_ERR;
	}
}

static enum prism_completion prism_nak(struct rxe_qp *qp, struct rxe_send_wqe *wqe, u8 syndrome)
{
	if (syndrome == AETH_NAK_PSN_SEQ_ERROR) {
		rxe_counter_inc(to_rdev(qp->ibqp.device), RXE_CNT_RCV_SEQ_ERR);
		return PRISM_COMPLETION_RETRY;
	}
	wqe->status = prism_refusal(syndrome);
	return PRISM_COMPLETION_ERROR;
}

/* Handles an acknowledge inside a request: of its earlier packets, or a sign that its response was lost. */
static enum prism_completion prism_acknowledged(struct rxe_qp *qp, struct rxe_pkt_info *pkt,
						struct rxe_send_wqe *wqe)
{
	const u8 syndrome = aeth_syn(pkt);

	switch (syndrome & AETH_TYPE_MASK) {
	case AETH_ACK:
		if (prism_wqe(qp, wqe)->request.op == PRISM_READ || pkt->psn == wqe->last_psn)
			return PRISM_COMPLETION_RETRY;
		prism_progressed(qp);
		prism_advance_psn(qp, (pkt->psn + 1) & BTH_PSN_MASK);
		return PRISM_COMPLETION_DROP;
	case AETH_NAK:
		return prism_nak(qp, wqe, syndrome);
	default:
		return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
	}
}

/* Refusals of requests after the oldest --------------------------------------------------------------------------- */

static bool prism_is_refusal(struct rxe_pkt_info *pkt)
{
	return pkt->opcode == IB_OPCODE_RC_ACKNOWLEDGE && (aeth_syn(pkt) & AETH_TYPE_MASK) == AETH_NAK &&
	       aeth_syn(pkt) != AETH_NAK_PSN_SEQ_ERROR;
}

/* True even if the requester has gone back since, and will send it again */
static bool prism_was_sent(struct rxe_qp *qp, u32 psn)
{
	const u32 next = READ_ONCE(qp->req.psn);

	if (READ_ONCE(qp->prism.went_back) && psn_compare(next, READ_ONCE(qp->prism.sent_psn)) >= 0)
		WRITE_ONCE(qp->prism.went_back, false);
	return psn_compare(psn, next) < 0 ||
	       (READ_ONCE(qp->prism.went_back) && psn_compare(psn, READ_ONCE(qp->prism.sent_psn)) < 0);
}

/* True if it is completed by an acknowledge, not by an answer of its own */
static bool prism_is_acknowledged(struct rxe_qp *qp, const struct rxe_send_wqe *wqe)
{
	return !prism_is_wqe(wqe) && !(wr_opcode_mask(wqe->wr.opcode, qp) & PRISM_ANSWERED_WR);
}

/*
 * Handles the refusal of the request at @psn; the responder answers nothing more. Requests before it have arrived; but
 * if one has an answer of its own, the answer was lost and its result is unknown: it is flushed.
 */
static enum prism_completion prism_refuse_later(struct rxe_qp *qp, u32 psn, enum ib_wc_status status)
{
	struct rxe_queue *q = qp->sq.queue;
	const u32 end = queue_get_producer(q, QUEUE_TYPE_FROM_CLIENT);
	u32 at = queue_get_consumer(q, QUEUE_TYPE_FROM_CLIENT);
	struct rxe_send_wqe *wqe;
	unsigned long flags;

	for (; at != end; at = queue_next_index(q, at)) {
		wqe = queue_addr_from_index(q, at);
		if (wr_opcode_mask(wqe->wr.opcode, qp) & WR_LOCAL_OP_MASK)
			continue;
		if (psn_compare(psn, wqe->last_psn) <= 0) {
			wqe->status = status;
			wqe->state = wqe_state_error;
			break;
		}
		wqe->status = prism_is_acknowledged(qp, wqe) ? IB_WC_SUCCESS : IB_WC_WR_FLUSH_ERR;
		wqe->state = wqe_state_done;
	}
	/* before the owner sees the first completion; the tasks learn of it with the refused one */
	spin_lock_irqsave(&qp->state_lock, flags);
	qp->attr.qp_state = IB_QPS_ERR;
	spin_unlock_irqrestore(&qp->state_lock, flags);
	return PRISM_COMPLETION_AGAIN;
}

/* Short responses ------------------------------------------------------------------------------------------------- */

static int prism_store_result(struct rxe_qp *qp, const struct prism_wqe *prism, u64 address)
{
	struct {
		struct rxe_dma_info dma;
		struct rxe_sge sge;
	} to = {
		.dma.length = sizeof(address),
		.dma.resid = sizeof(address),
		.dma.num_sge = 1,
		.sge = prism->result,
	};

	if (!prism->result.length)
		return 0;
	return copy_data(qp->pd, IB_ACCESS_LOCAL_WRITE, &to.dma, &address, sizeof(address), RXE_TO_MR_OBJ);
}

static int prism_store_old(struct rxe_qp *qp, struct rxe_send_wqe *wqe, struct prism_response *response)
{
	if (!wqe->dma.length)
		return 0;
	return copy_data(qp->pd, IB_ACCESS_LOCAL_WRITE, &wqe->dma, response->result, wqe->dma.length,
			 RXE_TO_MR_OBJ);
}

static enum prism_completion prism_short(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct rxe_send_wqe *wqe)
{
	const struct prism_request *req = &prism_wqe(qp, wqe)->request;
	const u32 due = req->op == PRISM_READ ? wqe->first_psn : wqe->last_psn;
	struct prism_response response __uninitialized;
	int err = 0;

	if (!prism_response_decode(pkt->hdr, pkt->paylen - RXE_ICRC_SIZE, &response) || pkt->psn != due ||
	    !prism_response_fits(req, &response))
		return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
	if (req->op == PRISM_CAS && response.status <= PRISM_STATUS_CAS_MISS)
		err = prism_store_old(qp, wqe, &response);
	else if (req->op == PRISM_ALLOCATE)
		err = prism_store_result(qp, prism_wqe(qp, wqe),
					 response.status == PRISM_STATUS_OK ? response.value : 0);
	if (err)
		return prism_local_error(wqe);
	return prism_done(qp, wqe, response.status, prism_response_length(req, &response));
}

/* READ responses -------------------------------------------------------------------------------------------------- */

/* Numbers of resolutions run over 32 bits and wrap. */
static bool prism_is_newer(u32 resolution, u32 than)
{
	return (s32)(resolution - than) > 0;
}

/* True if a conditional request was sent right after the oldest request: a READ's first status may stand (S.9.3). */
static bool prism_head_is_followed(struct rxe_qp *qp, const struct rxe_send_wqe *head)
{
	struct rxe_queue *q = qp->sq.queue;
	const u32 end = queue_get_producer(q, QUEUE_TYPE_FROM_CLIENT);
	u32 at = queue_get_consumer(q, QUEUE_TYPE_FROM_CLIENT);
	struct rxe_send_wqe *wqe;

	if (!prism_was_sent(qp, (head->last_psn + 1) & BTH_PSN_MASK))
		return false;
	while ((at = queue_next_index(q, at)) != end) {
		wqe = queue_addr_from_index(q, at);
		/* The responder does not see local requests. */
		if (!(wr_opcode_mask(wqe->wr.opcode, qp) & WR_LOCAL_OP_MASK))
			return prism_is_wqe(wqe) && (prism_wqe(qp, wqe)->request.flags & PRISM_FLAG_C);
	}
	return false;
}

/*
 * True if the READ may begin with this resolution. It must not be older than a READ before it; a late answer may be, if
 * both have been resolved again since.
 */
static bool prism_may_begin(struct rxe_qp *qp, struct rxe_send_wqe *wqe, u32 resolution)
{
	const struct prism_wqe *prism = prism_wqe(qp, wqe);

	if (prism->latched)
		return prism_is_newer(resolution, prism->resolution);
	return !qp->prism.has_read || prism_is_newer(resolution, qp->prism.newest_read) ||
	       prism_head_is_followed(qp, wqe);
}

/* True if the packet begins the READ's response, or continues it. Two resolutions are never spliced. */
static bool prism_latch(struct rxe_qp *qp, struct rxe_send_wqe *wqe, u8 opcode, u32 resolution, u32 length)
{
	struct prism_wqe *prism = prism_wqe(qp, wqe);
	const bool begins = opcode == PRISM_OP_READ_RESPONSE_FIRST || opcode == PRISM_OP_READ_RESPONSE_ONLY;

	if (prism->latched && resolution == prism->resolution)
		return length == prism->read_length;
	if (!begins || !prism_may_begin(qp, wqe, resolution))
		return false;
	prism->resolution = resolution;
	prism->read_length = length;
	WRITE_ONCE(prism->next_psn, wqe->first_psn);
	WRITE_ONCE(prism->latched, true);
	/* A peer that keeps resolutions had to resolve anew: it reads other memory now, of which we have nothing. */
	if (prism->resumes)
		prism->reached = 0;
	wqe->dma.resid = wqe->dma.length;
	wqe->dma.cur_sge = 0;
	wqe->dma.sge_offset = 0;
	return true;
}

/* Returns the bytes of the packet's payload if its length is right, else -1 */
static int prism_read_payload(struct rxe_qp *qp, const struct rxe_pkt_info *pkt, const struct prism_wqe *prism,
			      u32 offset)
{
	const u32 length = min_t(u32, prism->read_length - offset, qp->mtu);
	const bool last = offset + length == prism->read_length;
	const bool ends = pkt->opcode == PRISM_OP_READ_RESPONSE_LAST || pkt->opcode == PRISM_OP_READ_RESPONSE_ONLY;

	if (last != ends || pkt->paylen != PRISM_READ_RESPONSE_HEADER + ALIGN(length, 4) + RXE_ICRC_SIZE)
		return -1;
	return length;
}

static void prism_note_read(struct rxe_qp *qp, u32 resolution)
{
	if (!qp->prism.has_read || prism_is_newer(resolution, qp->prism.newest_read))
		qp->prism.newest_read = resolution;
	qp->prism.has_read = true;
}

static enum prism_completion prism_read_part(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct rxe_send_wqe *wqe)
{
	struct prism_wqe *prism = prism_wqe(qp, wqe);
	const u32 at = (pkt->psn - wqe->first_psn) & BTH_PSN_MASK;
	const int length = prism_read_payload(qp, pkt, prism, at * qp->mtu);

	if (length < 0)
		return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
	if (copy_data(qp->pd, IB_ACCESS_LOCAL_WRITE, &wqe->dma, pkt->hdr + PRISM_READ_RESPONSE_HEADER, length,
		      RXE_TO_MR_OBJ))
		return prism_local_error(wqe);
	WRITE_ONCE(prism->next_psn, (pkt->psn + 1) & BTH_PSN_MASK);
	if (pkt->opcode == PRISM_OP_READ_RESPONSE_LAST || pkt->opcode == PRISM_OP_READ_RESPONSE_ONLY) {
		prism_note_read(qp, prism->resolution);
		return prism_done(qp, wqe, PRISM_STATUS_OK, prism->read_length);
	}
	/* Packets that an earlier resolution had brought too are no progress: else a READ could go on for ever. */
	if (at >= prism->reached) {
		prism->reached = at + 1;
		prism_progressed(qp);
	}
	return PRISM_COMPLETION_DROP;
}

/* Handles a packet of a resolution that is not the latched one */
static enum prism_completion prism_other_resolution(struct rxe_qp *qp, struct prism_wqe *prism, u32 resolution)
{
	rxe_counter_inc(to_rdev(qp->ibqp.device), PRISM_CNT_RESOLUTION_DROPPED);
	if (prism->latched && !prism_is_newer(resolution, prism->resolution))
		return PRISM_COMPLETION_DROP;
	/* The first packet of an acceptable resolution is still missing: ask for the READ from there. */
	WRITE_ONCE(prism->latched, false);
	return PRISM_COMPLETION_RETRY;
}

static enum prism_completion prism_read(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct rxe_send_wqe *wqe)
{
	struct prism_wqe *prism = prism_wqe(qp, wqe);
	const struct prism_request *req = &prism->request;
	const u8 *rdeth = pkt->hdr + PRISM_BTH_SIZE + PRISM_AETH_SIZE;
	u32 resolution, length;

	if (req->op != PRISM_READ || (req->flags & PRISM_FLAG_R) ||
	    pkt->paylen < PRISM_READ_RESPONSE_HEADER + RXE_ICRC_SIZE)
		return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
	resolution = get_unaligned_be32(rdeth);
	length = get_unaligned_be32(rdeth + 4);
	if (!prism_length_fits(req, length))
		return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
	if (!prism_latch(qp, wqe, pkt->opcode, resolution, length))
		return prism_other_resolution(qp, prism, resolution);
	if (pkt->psn != prism->next_psn) {
		prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
		return psn_compare(pkt->psn, prism->next_psn) > 0 ? PRISM_COMPLETION_RETRY : PRISM_COMPLETION_DROP;
	}
	return prism_read_part(qp, pkt, wqe);
}

/* ----------------------------------------------------------------------------------------------------------------- */

/* Handles a response; @wqe is the oldest work request that is not complete. */
enum prism_completion __prism_complete(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct rxe_send_wqe *wqe)
{
	const bool later = psn_compare(pkt->psn, wqe->last_psn) > 0;

	if (later && prism_is_refusal(pkt) && prism_was_sent(qp, pkt->psn))
		return prism_refuse_later(qp, pkt->psn, prism_refusal(aeth_syn(pkt)));
	if (!prism_is_wqe(wqe) && !prism_is_packet(pkt))
		return PRISM_COMPLETION_STANDARD;
	/* An answer to a request that was never sent */
	if (psn_compare(pkt->psn, qp->req.psn) >= 0)
		return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
	if (!prism_is_wqe(wqe)) {
		/* rxe understands a later PSN, which acknowledges SENDs and WRITEs, and nothing else of the packet. */
		if (later)
			return PRISM_COMPLETION_STANDARD;
		return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
	}
	if (later)
		return PRISM_COMPLETION_RETRY;
	if (psn_compare(pkt->psn, wqe->first_psn) < 0)
		return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
	if (pkt->opcode == IB_OPCODE_RC_ACKNOWLEDGE)
		return prism_acknowledged(qp, pkt, wqe);
	if (pkt->opcode == PRISM_OP_RESPONSE)
		return prism_short(qp, pkt, wqe);
	if (prism_is_packet(pkt))
		return prism_read(qp, pkt, wqe);
	return prism_drop(qp, PRISM_CNT_RESPONSE_DROPPED);
}

void __prism_fill_cqe(struct rxe_qp *qp, struct rxe_send_wqe *wqe, struct rxe_cqe *cqe)
{
	static const u32 opcodes[] = {
		[PRISM_READ] = IB_UVERBS_WC_RDMA_READ,
		[PRISM_WRITE] = IB_UVERBS_WC_RDMA_WRITE,
		[PRISM_CAS] = IB_UVERBS_WC_COMP_SWAP,
		[PRISM_ALLOCATE] = IB_UVERBS_WC_FETCH_ADD,
	};
	struct ib_uverbs_wc *uwc = &cqe->uibwc;
	const struct prism_wqe *prism = prism_wqe(qp, wqe);

	uwc->opcode = opcodes[prism->request.op];
	uwc->byte_len = prism->byte_len;
	uwc->vendor_err = prism->status;
}
