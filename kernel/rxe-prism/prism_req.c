// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The requester: packets of PRISM work requests. */
#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_queue.h"

/* Takes one of max_rd_atomic, as for READs and atomics; the completer gives it back and checks need_rd_atomic. */
static bool prism_take_slot(struct rxe_qp *qp, struct rxe_send_wqe *wqe)
{
	if (wqe->has_rd_atomic)
		return true;
	qp->req.need_rd_atomic = 1;
	if (atomic_dec_return(&qp->req.rd_atomic) >= 0) {
		qp->req.need_rd_atomic = 0;
		wqe->has_rd_atomic = 1;
		return true;
	}
	atomic_inc(&qp->req.rd_atomic);
	return false;
}

static bool prism_carries_payload(const struct prism_request *req)
{
	return req->op == PRISM_ALLOCATE || (req->op == PRISM_WRITE && !(req->flags & PRISM_FLAG_D));
}

/* Assigns PSNs when the first packet is sent, and again each time that rxe has gone back to it. */
static void prism_start_wqe(struct rxe_qp *qp, struct rxe_send_wqe *wqe, struct prism_wqe *prism)
{
	const struct prism_request *req = &prism->request;

	prism->psns = prism_request_psns(req, qp->mtu);
	if (prism_carries_payload(req) && req->length)
		prism->psns = DIV_ROUND_UP(req->length, qp->mtu);
	wqe->first_psn = qp->req.psn;
	wqe->last_psn = (qp->req.psn + prism->psns - 1) & BTH_PSN_MASK;
}

/* Describes the next packet as a part of the request: its place, and its share of the payload. */
static void prism_next_part(struct rxe_qp *qp, const struct rxe_send_wqe *wqe, const struct prism_wqe *prism,
			    struct prism_request *part)
{
	*part = prism->request;
	if (!prism_carries_payload(part))
		return;
	part->first = qp->req.psn == wqe->first_psn;
	part->last = wqe->dma.resid <= qp->mtu;
	part->payload_length = min_t(u32, wqe->dma.resid, qp->mtu);
}

static int prism_fill_payload(struct rxe_qp *qp, struct rxe_send_wqe *wqe, u8 *to, u32 length)
{
	if (!(wqe->wr.send_flags & IB_SEND_INLINE))
		return copy_data(qp->pd, 0, &wqe->dma, to, length, RXE_FROM_MR_OBJ);
	memcpy(to, wqe->dma.inline_data + wqe->dma.sge_offset, length);
	wqe->dma.sge_offset += length;
	wqe->dma.resid -= length;
	return 0;
}

/* Returns the PSN to ask for: a READ that continues its resolution starts at the first missing packet. */
static u32 prism_request_psn(struct rxe_qp *qp, const struct prism_wqe *prism)
{
	if (prism->request.op == PRISM_READ && prism->resumes && READ_ONCE(prism->latched))
		return READ_ONCE(prism->next_psn);
	return qp->req.psn;
}

/* Asks for an acknowledge now and then, as rxe does, so that its window of PSNs moves */
static bool prism_wants_ack(struct rxe_qp *qp, const struct prism_request *part)
{
	const bool wants = part->last || qp->req.noack_pkts++ > RXE_MAX_PKT_PER_ACK;

	if (wants)
		qp->req.noack_pkts = 0;
	return wants;
}

/* True if another request follows this one, so that both could go in a bundle */
static bool prism_has_more(struct rxe_qp *qp, const struct prism_wqe *prism)
{
	struct rxe_queue *q = qp->sq.queue;

	return prism->bundles &&
	       queue_next_index(q, qp->req.wqe_index) != queue_get_producer(q, QUEUE_TYPE_FROM_CLIENT);
}

/*
 * Sends the next packet of @wqe. Returns 0 when it is sent, or gathered for a bundle until the requester ends its run,
 * and described by @pkt; -EAGAIN if it has to wait for others; else wqe->status tells the error.
 */
int prism_send_request(struct rxe_qp *qp, struct rxe_send_wqe *wqe, struct rxe_pkt_info *pkt)
{
	struct prism_wqe *prism = prism_wqe(qp, wqe);
	struct prism_request part __uninitialized;
	struct sk_buff *skb;
	u32 header;

	if (!prism_take_slot(qp, wqe))
		return -EAGAIN;
	if (wqe->state == wqe_state_posted)
		prism_start_wqe(qp, wqe, prism);
	prism_next_part(qp, wqe, prism, &part);
	header = prism_request_header_size(&part);
	skb = prism_packet(qp, pkt, prism_request_opcode(&part), prism_request_psn(qp, prism), part.flags,
			   prism_wants_ack(qp, &part), header + part.payload_length);
	if (!skb) {
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		return -ENOMEM;
	}
	pkt->wqe = wqe;
	prism_request_encode(pkt->hdr, &part);
	if (prism_fill_payload(qp, wqe, pkt->hdr + header, part.payload_length)) {
		kfree_skb(skb);
		prism_flush_requests(qp);
		wqe->status = IB_WC_LOC_PROT_ERR;
		return -EFAULT;
	}

	/* Before sending: over rxe's loopback the answer comes before we return. */
	wqe->state = part.last ? wqe_state_pending : wqe_state_processing;
	if (part.op == PRISM_READ)
		qp->req.psn = (wqe->last_psn + 1) & BTH_PSN_MASK;
	else
		qp->req.psn = (qp->req.psn + 1) & BTH_PSN_MASK;
	if (prism_send(qp, &qp->prism.requests, pkt, skb, prism_has_more(qp, prism))) {
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		return -EHOSTUNREACH;
	}
	return 0;
}
