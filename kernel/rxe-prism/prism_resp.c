// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder: PRISM requests, their answers, and duplicates (docs/semantics.md S.9, docs/wire-protocol.md W.8).
 *
 * rxe hands over a packet once its PSN is known to be the expected one, or an earlier one; core/ interprets it. A READ
 * that returns data is answered by one packet for each call, as rxe answers its own.
 */
#include "rxe.h"
#include "rxe_loc.h"

#define PRISM_SYNDROME_ACK	AETH_ACK_UNLIMITED

static void prism_count(struct rxe_qp *qp, enum rxe_counters counter)
{
	rxe_counter_inc(to_rdev(qp->ibqp.device), counter);
}

/* Answers ------------------------------------------------------------------------------------------------------- */

/* True if other requests wait, so that their answers and this one could go in a bundle */
static bool prism_answers_gather(const struct rxe_qp *qp)
{
	return (qp->prism.was_bundled || READ_ONCE(qp->prism.peer_bundles)) &&
	       (qp->prism.answers.entries || skb_queue_len_lockless(&qp->req_pkts) > 1);
}

static void prism_encode_short(struct rxe_qp *qp, u32 psn, const struct prism_response *response, u8 *packet)
{
	const struct prism_bth bth = {
		.opcode = PRISM_OP_RESPONSE,
		.qpn = qp->attr.dest_qp_num,
		.psn = psn,
	};

	prism_bth_encode(packet, &bth);
	prism_aeth_encode(packet + PRISM_BTH_SIZE, PRISM_SYNDROME_ACK, qp->resp.msn);
	prism_response_encode(packet, response);
}

static void prism_send_short(struct rxe_qp *qp, u32 psn, const struct prism_response *response)
{
	u8 packet[PRISM_RESPONSE_SIZE] __uninitialized;
	struct rxe_pkt_info pkt __uninitialized;
	struct sk_buff *skb;

	prism_encode_short(qp, psn, response, packet);
	if (prism_answers_gather(qp) && prism_gather(qp, &qp->prism.answers, psn, packet, sizeof(packet)))
		return;
	prism_flush_answers(qp);
	skb = prism_packet(qp, &pkt, PRISM_OP_RESPONSE, psn, 0, false, sizeof(packet));
	if (!skb)
		return;
	memcpy(pkt.hdr, packet, sizeof(packet));
	prism_transmit(qp, &pkt, skb);
}

static void prism_send_ack(struct rxe_qp *qp, u32 psn, u8 syndrome)
{
	struct rxe_pkt_info pkt __uninitialized;
	struct sk_buff *skb;

	prism_before_answer(qp, syndrome);
	skb = prism_packet(qp, &pkt, IB_OPCODE_RC_ACKNOWLEDGE, psn, 0, false, PRISM_BTH_SIZE + PRISM_AETH_SIZE);
	if (!skb)
		return;
	prism_aeth_encode(pkt.hdr + PRISM_BTH_SIZE, syndrome, qp->resp.msn);
	prism_transmit(qp, &pkt, skb);
}

/*
 * Changes the queue pair to ERROR for any refused request of its peer. The owner is told once (IBTA 9.9.3): by the
 * receive that the request has taken, if @status gives the receive's error, or else by an event. None of our requests
 * takes a receive: one that is being filled is then flushed.
 */
enum ib_wc_status prism_refused(struct rxe_qp *qp, u8 syndrome, enum ib_wc_status status)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = syndrome == AETH_NAK_REM_ACC_ERR ? IB_EVENT_QP_ACCESS_ERR :
			 syndrome == AETH_NAK_INVALID_REQ ? IB_EVENT_QP_REQ_ERR : IB_EVENT_QP_FATAL,
	};

	if (prism_is_packet(SKB_TO_PKT(skb_peek(&qp->req_pkts))))
		status = IB_WC_WR_FLUSH_ERR;
	if ((!qp->resp.wqe || status == IB_WC_WR_FLUSH_ERR) && qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
	return status;
}

static enum prism_verdict prism_refuse(struct rxe_qp *qp, enum prism_reject reject)
{
	static const enum rxe_counters counters[] = {
		[PRISM_BAD_OPCODE] = PRISM_CNT_BAD_FORMAT,
		[PRISM_BAD_FORMAT] = PRISM_CNT_BAD_FORMAT,
		[PRISM_BAD_FLAGS] = PRISM_CNT_BAD_FLAGS,
		[PRISM_BAD_OPERAND] = PRISM_CNT_BAD_OPERAND,
		[PRISM_BAD_ALIGNMENT] = PRISM_CNT_BAD_ALIGNMENT,
	};

	prism_count(qp, counters[reject]);
	return PRISM_VERDICT_INVALID;
}

static enum prism_verdict prism_fault(struct rxe_qp *qp, enum prism_fault fault)
{
	switch (fault) {
	case PRISM_FAULT_INVALID:
		prism_count(qp, PRISM_CNT_BAD_ALIGNMENT);
		return PRISM_VERDICT_INVALID;
	case PRISM_FAULT_FREE_LIST:
		prism_count(qp, PRISM_CNT_BAD_FREE_LIST);
		return PRISM_VERDICT_ACCESS;
	default:
		prism_count(qp, PRISM_CNT_ACCESS_ERROR);
		return PRISM_VERDICT_ACCESS;
	}
}

static struct prism_saved *prism_find_saved(const struct rxe_qp *qp, u32 psn);
static enum prism_verdict prism_read_again(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct prism_saved *saved);

/* READs that return data ---------------------------------------------------------------------------------------- */

static void prism_resolved(struct rxe_qp *qp, struct prism_saved *saved, const struct prism_request *req,
			   const struct prism_result *result)
{
	saved->reads = true;
	saved->read.number = ++qp->prism.resolution;
	saved->read.rkey = req->rkey;
	saved->read.va = result->read_va;
	saved->read.length = result->read_length;
	saved->read.handed_out = prism_hand_outs_count(&to_rdev(qp->ibqp.device)->prism.hand_outs);
}

/* Starts to send the data of a resolved READ, from @packet on */
static void prism_start_read(struct rxe_qp *qp, const struct prism_saved *saved, u32 packet, bool duplicate,
			     bool resumed)
{
	struct prism_stream *stream = &qp->prism.stream;

	stream->active = true;
	stream->duplicate = duplicate;
	stream->resumed = resumed;
	stream->first_psn = saved->psn;
	stream->psns = saved->psns;
	stream->offset = packet * qp->mtu;
	stream->read = saved->read;
}

static u32 prism_read_psn(const struct rxe_qp *qp)
{
	const struct prism_stream *stream = &qp->prism.stream;

	return (stream->first_psn + stream->offset / qp->mtu) & BTH_PSN_MASK;
}

static u8 prism_read_opcode(const struct prism_stream *stream, bool last)
{
	if (!stream->offset)
		return last ? PRISM_OP_READ_RESPONSE_ONLY : PRISM_OP_READ_RESPONSE_FIRST;
	return last ? PRISM_OP_READ_RESPONSE_LAST : PRISM_OP_READ_RESPONSE_MIDDLE;
}

/* Checks keys and rights anew for each packet: the memory may have gone since the resolution. */
static bool prism_fill_read(struct rxe_qp *qp, u8 *packet, u32 length)
{
	const struct prism_stream *stream = &qp->prism.stream;
	const struct prism_resolution *read = &stream->read;
	u8 *rdeth = packet + PRISM_BTH_SIZE + PRISM_AETH_SIZE;
	struct prism_span span;

	prism_aeth_encode(packet + PRISM_BTH_SIZE, PRISM_SYNDROME_ACK, qp->resp.msn);
	put_unaligned_be32(read->number, rdeth);
	put_unaligned_be32(read->length, rdeth + 4);
	if (!prism_memory.get(qp, read->rkey, read->va + stream->offset, length, PRISM_RIGHT_READ, &span))
		return false;
	if (length)
		prism_load(&prism_memory, qp, &span, 0, packet + PRISM_READ_RESPONSE_HEADER, length);
	prism_memory.put(qp, &span);
	return true;
}

/* Ends a READ whose range has gone; the error takes the place of the next packet. */
static enum prism_verdict prism_end_read(struct rxe_qp *qp, struct rxe_pkt_info *pkt)
{
	struct prism_stream *stream = &qp->prism.stream;

	stream->active = false;
	prism_count(qp, PRISM_CNT_ACCESS_ERROR);
	if (stream->duplicate) {
		prism_send_ack(qp, prism_read_psn(qp), AETH_NAK_REM_ACC_ERR);
		return PRISM_VERDICT_DROP;
	}
	pkt->psn = prism_read_psn(qp);
	return PRISM_VERDICT_ACCESS;
}

/* True if a buffer of the range has been handed out since: it may have been written before it was read here. */
static bool prism_is_stale(struct rxe_qp *qp)
{
	struct prism_stream *stream = &qp->prism.stream;

	return stream->resumed && prism_handed_out(&to_rdev(qp->ibqp.device)->prism.hand_outs, &stream->place,
						   &stream->read.handed_out);
}

/* Sends the next packet */
static enum prism_verdict prism_send_read(struct rxe_qp *qp, struct rxe_pkt_info *pkt)
{
	struct prism_stream *stream = &qp->prism.stream;
	const u32 length = min_t(u32, stream->read.length - stream->offset, qp->mtu);
	const bool last = stream->offset + length == stream->read.length;
	struct rxe_pkt_info answer __uninitialized;
	struct sk_buff *skb;

	skb = prism_packet(qp, &answer, prism_read_opcode(stream, last), prism_read_psn(qp), 0, false,
			   PRISM_READ_RESPONSE_HEADER + length);
	if (skb) {
		if (!prism_fill_read(qp, answer.hdr, length)) {
			kfree_skb(skb);
			return prism_end_read(qp, pkt);
		}
		if (prism_is_stale(qp)) {
			kfree_skb(skb);
			stream->active = false;
			return prism_read_again(qp, pkt, prism_find_saved(qp, pkt->psn));
		}
		prism_send(qp, &qp->prism.answers, &answer, skb, prism_answers_gather(qp));
	}
	stream->offset += length;
	if (!last)
		return PRISM_VERDICT_AGAIN;
	stream->active = false;
	return PRISM_VERDICT_DROP;
}

static bool prism_is_read_of(const struct prism_stream *stream, const struct rxe_pkt_info *pkt)
{
	return pkt->opcode == PRISM_OP_READ_REQUEST &&
	       ((pkt->psn - stream->first_psn) & BTH_PSN_MASK) < stream->psns;
}

/* True if the next packet in line is the same READ again */
static bool prism_is_asked_again(struct rxe_qp *qp, struct rxe_pkt_info *pkt)
{
	struct sk_buff *skb = PKT_TO_SKB(pkt);
	struct sk_buff_head *line = &qp->req_pkts;
	unsigned long flags;
	bool again;

	if (skb_queue_len_lockless(line) < 2)
		return false;
	spin_lock_irqsave(&line->lock, flags);
	again = !skb_queue_is_last(line, skb) &&
		prism_is_read_of(&qp->prism.stream, SKB_TO_PKT(skb_queue_next(line, skb)));
	spin_unlock_irqrestore(&line->lock, flags);
	return again;
}

/* Continues the answer, unless the peer asks for another part of it: then it does not need the rest. */
enum prism_verdict prism_continue_read(struct rxe_qp *qp, struct rxe_pkt_info *pkt)
{
	if (prism_is_asked_again(qp, pkt)) {
		qp->prism.stream.active = false;
		return PRISM_VERDICT_DROP;
	}
	return prism_send_read(qp, pkt);
}

/* Saved answers ------------------------------------------------------------------------------------------------- */

static struct prism_saved *prism_save(struct rxe_qp *qp, u32 psn, const struct prism_response *response)
{
	struct prism_saved *saved = &qp->prism.saved[qp->prism.next_saved];

	if (++qp->prism.next_saved == qp->prism.saved_count)
		qp->prism.next_saved = 0;
	saved->psn = psn;
	saved->psns = 1;
	saved->valid = true;
	saved->reads = false;
	saved->followed = false;
	saved->response = *response;
	return saved;
}

/* Searches from the latest back: after a turn of the circle an old answer may have the same PSN. */
static struct prism_saved *prism_find_saved(const struct rxe_qp *qp, u32 psn)
{
	const u32 count = qp->prism.saved_count;
	struct prism_saved *saved;
	u32 i;

	for (i = 1; i <= count; i++) {
		saved = &qp->prism.saved[(qp->prism.next_saved + count - i) % count];
		if (saved->valid && ((psn - saved->psn) & BTH_PSN_MASK) < saved->psns)
			return saved;
	}
	return NULL;
}

/*
 * Marks the READ that has set the chain state: a conditional request is about to use it, so that READ stays successful.
 */
static void prism_follow(struct rxe_qp *qp, u32 psn, const struct prism_request *req)
{
	const u32 count = qp->prism.saved_count;
	struct prism_saved *previous;

	if (!(req->flags & PRISM_FLAG_C) || !req->first || !qp->prism.chain_ok)
		return;
	previous = &qp->prism.saved[(qp->prism.next_saved + count - 1) % count];
	if (previous->valid && previous->reads && ((previous->psn + previous->psns) & BTH_PSN_MASK) == psn)
		previous->followed = true;
}

/*
 * Notes that the peer sends bundles, and thus understands them. Only the expected request counts: a duplicate may come
 * from anybody who knows the queue pair's number (W.12.3).
 */
static void prism_note_bundle(struct rxe_qp *qp, const struct rxe_pkt_info *pkt)
{
	if (pkt->mask & PRISM_ENTRY_MASK)
		qp->prism.was_bundled = true;
}

/* Requests ------------------------------------------------------------------------------------------------------- */

static enum prism_reject prism_decode(const struct rxe_qp *qp, const struct rxe_pkt_info *pkt,
				      struct prism_request *req)
{
	return prism_request_decode(pkt->hdr, pkt->paylen - RXE_ICRC_SIZE, qp->mtu, PRISM_MAX_INDIRECT_READ, req);
}

static bool prism_allowed(const struct rxe_qp *qp, const struct prism_request *req)
{
	static const int by_op[] = {
		[PRISM_READ] = IB_ACCESS_REMOTE_READ,
		[PRISM_WRITE] = IB_ACCESS_REMOTE_WRITE,
		[PRISM_CAS] = IB_ACCESS_REMOTE_ATOMIC,
		[PRISM_ALLOCATE] = IB_ACCESS_REMOTE_WRITE,
	};
	int access = by_op[req->op];

	if (req->flags & (PRISM_FLAG_T | PRISM_FLAG_D))
		access |= IB_ACCESS_REMOTE_READ;
	if (req->flags & PRISM_FLAG_R)
		access |= IB_ACCESS_REMOTE_WRITE;
	return (qp->attr.qp_access_flags & access) == access;
}

static bool prism_standard_message(const struct rxe_qp *qp)
{
	switch (qp->resp.opcode) {
	case IB_OPCODE_RC_SEND_FIRST:
	case IB_OPCODE_RC_SEND_MIDDLE:
	case IB_OPCODE_RC_RDMA_WRITE_FIRST:
	case IB_OPCODE_RC_RDMA_WRITE_MIDDLE:
		return true;
	default:
		return false;
	}
}

static void prism_count_result(struct rxe_qp *qp, const struct prism_request *req, const struct prism_result *result)
{
	prism_count(qp, PRISM_CNT_READS + req->op);
	switch (result->status) {
	case PRISM_STATUS_CAS_MISS:
		prism_count(qp, PRISM_CNT_CAS_MISSES);
		break;
	case PRISM_STATUS_NULL_POINTER:
		prism_count(qp, PRISM_CNT_NULL_POINTERS);
		break;
	case PRISM_STATUS_NO_BUFFER:
		prism_count(qp, PRISM_CNT_NO_BUFFERS);
		break;
	case PRISM_STATUS_SKIPPED:
		prism_count(qp, PRISM_CNT_SKIPPED);
		break;
	}
}

static void prism_to_response(const struct prism_result *result, struct prism_response *response)
{
	response->status = result->status;
	response->value = result->value;
	memcpy(response->result, result->bytes, sizeof(response->result));
}

static enum prism_verdict prism_finish(struct rxe_qp *qp, struct rxe_pkt_info *pkt, const struct prism_request *req,
				       const struct prism_result *result)
{
	struct prism_response response __uninitialized;
	struct prism_saved *saved;

	if (result->fault)
		return prism_fault(qp, result->fault);
	qp->resp.psn = (pkt->psn + prism_request_psns(req, qp->mtu)) & BTH_PSN_MASK;
	qp->resp.ack_psn = qp->resp.psn;
	qp->resp.opcode = -1;
	qp->resp.status = IB_WC_SUCCESS;
	if (!req->last)
		return PRISM_VERDICT_ACKNOWLEDGE;

	qp->resp.msn++;
	qp->prism.chain_ok = result->status == PRISM_STATUS_OK;
	prism_count_result(qp, req, result);
	prism_to_response(result, &response);
	saved = prism_save(qp, pkt->psn, &response);
	if (result->reads) {
		saved->psns = prism_request_psns(req, qp->mtu);
		prism_resolved(qp, saved, req, result);
		prism_start_read(qp, saved, 0, false, false);
		return prism_send_read(qp, pkt);
	}
	prism_send_short(qp, pkt->psn, &response);
	return PRISM_VERDICT_DROP;
}

enum prism_verdict prism_respond_request(struct rxe_qp *qp, struct rxe_pkt_info *pkt)
{
	struct prism_message *message = &qp->prism.message;
	struct prism_request req __uninitialized;
	struct prism_result result __uninitialized;
	enum prism_reject reject;
	bool single;

	prism_note_bundle(qp, pkt);
	reject = prism_decode(qp, pkt, &req);
	if (reject)
		return prism_refuse(qp, reject);
	if (!prism_allowed(qp, &req))
		return prism_refuse(qp, PRISM_BAD_FLAGS);
	if (prism_standard_message(qp))
		return prism_refuse(qp, PRISM_BAD_FORMAT);
	single = req.first && req.last && !message->active;
	if (!single) {
		reject = prism_message_check(message, &req);
		if (reject)
			return prism_refuse(qp, reject);
	}
	if (!qp->prism.saved_count) {
		prism_count(qp, PRISM_CNT_EXCESS);
		return PRISM_VERDICT_INVALID;
	}
	prism_follow(qp, pkt->psn, &req);
	if (single)
		prism_execute(&prism_memory, qp, &req, qp->prism.chain_ok, &result);
	else
		prism_message_packet(&prism_memory, qp, message, &req, qp->prism.chain_ok, &result);
	return prism_finish(qp, pkt, &req, &result);
}

/* Duplicates ----------------------------------------------------------------------------------------------------- */

static enum prism_verdict prism_drop_duplicate(struct rxe_qp *qp)
{
	prism_count(qp, PRISM_CNT_DUP_DROPPED);
	return PRISM_VERDICT_DROP;
}

/* Refuses a duplicate, without an error of this queue pair: the memory may rightly have gone since. */
static enum prism_verdict prism_fail_duplicate(struct rxe_qp *qp, u32 psn)
{
	prism_count(qp, PRISM_CNT_ACCESS_ERROR);
	prism_send_ack(qp, psn, AETH_NAK_REM_ACC_ERR);
	return PRISM_VERDICT_DROP;
}

/*
 * Resolves a READ again, as a whole, whichever packet was asked for. It was not skipped then, so it is not now; and
 * actions that followed from its success cannot be undone.
 */
static enum prism_verdict prism_read_again(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct prism_saved *saved)
{
	struct prism_request req __uninitialized;
	struct prism_result result __uninitialized;

	if (!saved || prism_decode(qp, pkt, &req))
		return prism_drop_duplicate(qp);
	prism_execute(&prism_memory, qp, &req, true, &result);
	if (result.fault || (!result.reads && saved->followed))
		return prism_fail_duplicate(qp, pkt->psn);
	if (result.reads) {
		prism_resolved(qp, saved, &req, &result);
		prism_start_read(qp, saved, 0, true, false);
		return prism_send_read(qp, pkt);
	}
	if (((saved->psn + saved->psns) & BTH_PSN_MASK) == qp->resp.psn)
		qp->prism.chain_ok = false;
	saved->reads = false;
	prism_to_response(&result, &saved->response);
	prism_send_short(qp, saved->psn, &saved->response);
	return PRISM_VERDICT_DROP;
}

/* True if a READ may still be answered from its resolution. @place gets its range. */
static bool prism_is_unchanged(struct rxe_qp *qp, struct prism_resolution *read, struct prism_place *place)
{
	if (!prism_locate(qp, read->rkey, read->va, read->length, PRISM_RIGHT_READ, place))
		return false;
	return !read->length ||
	       !prism_handed_out(&to_rdev(qp->ibqp.device)->prism.hand_outs, place, &read->handed_out);
}

/*
 * Continues a READ with data where its requester asks for it, as long as its resolution is the same memory. If the
 * requester has nothing of it yet, requests before it may be repeated too, and the READ must not be older than they
 * are: it is resolved again, unless a conditional request has acted on its status. A packet behind the end belongs to
 * another resolution: then start from the beginning.
 */
static enum prism_verdict prism_repeat_read(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct prism_saved *saved)
{
	u32 packet = (pkt->psn - saved->psn) & BTH_PSN_MASK;

	if ((!packet && !saved->followed) || !prism_is_unchanged(qp, &saved->read, &qp->prism.stream.place))
		return prism_read_again(qp, pkt, saved);
	if (packet * qp->mtu >= saved->read.length)
		packet = 0;
	prism_start_read(qp, saved, packet, true, saved->read.length);
	return prism_send_read(qp, pkt);
}

/* Answers a packet with a PSN before the expected one */
enum prism_verdict prism_respond_duplicate(struct rxe_qp *qp, struct rxe_pkt_info *pkt)
{
	struct prism_saved *saved;
	struct prism_request req __uninitialized;
	bool reads;

	if (!prism_is_packet(pkt))
		return PRISM_VERDICT_NOT_OURS;
	if (prism_decode(qp, pkt, &req) || !prism_allowed(qp, &req))
		return prism_drop_duplicate(qp);
	if (!req.last) {
		/* The last packet of a message answers the earlier ones too; let the peer's window move. */
		if (bth_ack(pkt))
			prism_send_ack(qp, (qp->resp.ack_psn - 1) & BTH_PSN_MASK, PRISM_SYNDROME_ACK);
		return PRISM_VERDICT_DROP;
	}
	saved = prism_find_saved(qp, pkt->psn);
	reads = req.op == PRISM_READ && !(req.flags & PRISM_FLAG_R);
	if (!saved || (saved->reads && !reads))
		return prism_drop_duplicate(qp);
	if (saved->reads && saved->psns != prism_request_psns(&req, qp->mtu))
		return prism_drop_duplicate(qp);
	if (saved->reads)
		return prism_repeat_read(qp, pkt, saved);
	prism_count(qp, PRISM_CNT_REPLAYS);
	prism_send_short(qp, saved->psn, &saved->response);
	return PRISM_VERDICT_DROP;
}

/* Stops all work when the queue pair leaves RTR or RTS */
void prism_responder_stop(struct rxe_qp *qp)
{
	prism_message_abort(&prism_memory, qp, &qp->prism.message);
	qp->prism.stream.active = false;
	qp->prism.answers.entries = 0;
	prism_end(qp);
}
