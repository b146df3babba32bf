/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM in rxe: functions that the patched files of rxe call, and declarations that the prism_*.c files share. The
 * patches only add such calls; docs/kernel-module.md tells the place of each, and the reason.
 */
#ifndef PRISM_H
#define PRISM_H

#include <rdma/uverbs_ioctl.h>

#include "prism_compat.h"
#include "prism_types.h"

/*
 * Peers and users can make rxe print at will, so all of its messages are rate-limited. Each call site has its own
 * limit, as with printk_ratelimited().
 */
#undef pr_err
#define pr_err(fmt, ...)	pr_err_ratelimited(fmt, ##__VA_ARGS__)
#undef pr_warn
#define pr_warn(fmt, ...)	pr_warn_ratelimited(fmt, ##__VA_ARGS__)

#define PRISM_MAX_INDIRECT_READ	0x100000
#define PRISM_MAX_OUTSTANDING	128
#define PRISM_FREE_LIST_TRIES	8

/* Work requests taken over or flushed in one go: nothing else can run on the processor meanwhile */
#define PRISM_BATCH		64

/* Work requests ------------------------------------------------------------------------------------------------- */

/* Stands behind the sges of a PRISM request in the private copy of the send queue */
struct prism_wqe {
	struct prism_request request;
	struct rxe_sge result;		/* ALLOCATE: place for the address */
	u8 operands[4 * PRISM_MAX_CAS];
	u32 psns;
	u8 status;			/* enum prism_status, once answered */
	u32 byte_len;
	bool latched;			/* READ: resolution and read_length are known */
	u32 resolution;
	u32 read_length;
	u32 next_psn;			/* READ: of the next response packet */
	u32 reached;			/* READ: most response packets accepted, of any resolution that counts */
	bool resumes;			/* READ: the peer lets it continue where it was */
	bool bundles;			/* the peer takes bundles */
};

static inline bool prism_is_wr(u32 opcode)
{
	return opcode >= PRISM_ABI_WR_READ && opcode <= PRISM_ABI_WR_ALLOCATE;
}

static inline bool prism_is_wqe(const struct rxe_send_wqe *wqe)
{
	return unlikely(prism_is_wr(wqe->wr.opcode));
}

static inline struct prism_wqe *prism_wqe(struct rxe_qp *qp, struct rxe_send_wqe *wqe)
{
	return (void *)wqe + qp->prism.wqe_offset;
}

/*
 * Locals marked __uninitialized here and in prism_*.c are written as a whole before they are read; kernels that zero
 * the stack would write them twice for each packet.
 */

/* prism_sq.c */
int prism_send_wqe_size(struct rxe_qp *qp, int data_size);
int prism_sq_init(struct rxe_qp *qp, int wqe_size);
u32 prism_user_opcodes(void);
void prism_sq_cleanup(struct rxe_qp *qp);
void prism_sq_fetch(struct rxe_qp *qp);
void prism_sq_drop(struct rxe_qp *qp);
struct rxe_send_wqe *prism_sq_flush(struct rxe_qp *qp, bool notify, int *done);
void prism_check_recv(struct rxe_recv_wqe *wqe, unsigned int num_sge);

/* prism_req.c */
int prism_send_request(struct rxe_qp *qp, struct rxe_send_wqe *wqe, struct rxe_pkt_info *pkt);

/* Packets ------------------------------------------------------------------------------------------------------- */

static inline bool prism_is_packet(const struct rxe_pkt_info *pkt)
{
	return pkt->opcode >= PRISM_OP_READ_REQUEST;
}

/* Returns the pad bytes that a packet must have room for. core/ checks ours itself, and answers if there is no room. */
static inline u8 prism_pad(struct rxe_pkt_info *pkt)
{
	return prism_is_packet(pkt) ? 0 : bth_pad(pkt);
}

/* Returns the service of a packet, in the form of a standard opcode's upper bits */
static inline unsigned int prism_packet_class(struct rxe_qp *qp, u8 opcode)
{
	if (likely(opcode < PRISM_OP_READ_REQUEST))
		return opcode & 0xe0;
	if (qp->prism.enabled)
		return IB_OPCODE_RC;
	rxe_counter_inc(to_rdev(qp->ibqp.device), PRISM_CNT_UNKNOWN_OPCODE);
	return opcode & 0xe0;
}

/* Marks a packet that has come as an entry of a bundle; rxe's own masks end below */
#define PRISM_ENTRY_MASK	BIT(31)

/* prism_unbundle.c */
bool __prism_unbundle(struct rxe_pkt_info *pkt, struct sk_buff *skb);

/* True if it was a bundle, whose entries have been handed over as packets. */
static inline bool prism_unbundle(struct rxe_pkt_info *pkt, struct sk_buff *skb)
{
	return unlikely(prism_opcode_is_bundle(pkt->opcode)) && __prism_unbundle(pkt, skb);
}

/* prism_gather.c */
void prism_gather_free(struct prism_gather *gather);
void __prism_flush(struct rxe_qp *qp, struct prism_gather *gather);
bool prism_gather(struct rxe_qp *qp, struct prism_gather *gather, u32 psn, const u8 *packet, u32 size);
int prism_send(struct rxe_qp *qp, struct prism_gather *gather, struct rxe_pkt_info *pkt, struct sk_buff *skb,
	       bool more);

/* Sends the gathered packets */
static inline void prism_flush(struct rxe_qp *qp, struct prism_gather *gather)
{
	if (unlikely(gather->entries))
		__prism_flush(qp, gather);
}

/* Flushes when the requester ends its run */
static inline void prism_flush_requests(struct rxe_qp *qp)
{
	prism_flush(qp, &qp->prism.requests);
}

/* Flushes when the responder ends its run */
static inline void prism_flush_answers(struct rxe_qp *qp)
{
	prism_flush(qp, &qp->prism.answers);
}

/* True if the next request to be sent is PRISM. A standard one must not overtake the gathered packets. */
static inline bool prism_is_next(struct rxe_qp *qp, const struct rxe_send_wqe *wqe)
{
	if (prism_is_wqe(wqe))
		return true;
	prism_flush_requests(qp);
	return false;
}

/* Flushes the gathered answers before rxe answers or acknowledges. */
static inline void prism_before_answer(struct rxe_qp *qp, u8 syndrome)
{
	prism_flush_answers(qp);
	if ((syndrome & AETH_TYPE_MASK) == AETH_NAK)
		rxe_counter_inc(to_rdev(qp->ibqp.device), PRISM_CNT_TX_NAK);
}

struct sk_buff *prism_packet(struct rxe_qp *qp, struct rxe_pkt_info *pkt, u8 opcode, u32 psn, u8 flags,
			     bool ack_req, u32 size);
int prism_transmit(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct sk_buff *skb);

/* Responder: the next step after a packet. rxe_resp.c has its own state for each. */
enum prism_verdict {
	PRISM_VERDICT_NOT_OURS,		/* a standard request: continue with it */
	PRISM_VERDICT_AGAIN,		/* more to do for this packet */
	PRISM_VERDICT_ACKNOWLEDGE,
	PRISM_VERDICT_DROP,		/* done with the packet */
	PRISM_VERDICT_INVALID,		/* NAK invalid request, ERROR */
	PRISM_VERDICT_ACCESS,		/* NAK remote access error, ERROR */
	PRISM_VERDICTS,
};

enum prism_verdict prism_respond_request(struct rxe_qp *qp, struct rxe_pkt_info *pkt);
enum prism_verdict prism_respond_duplicate(struct rxe_qp *qp, struct rxe_pkt_info *pkt);

/*
 * Handles a packet with the expected PSN. A standard request ends a chain's failure: if it is refused itself, nothing
 * follows it, and if it has to wait for a receive, nothing overtakes it.
 */
static inline enum prism_verdict prism_respond(struct rxe_qp *qp, struct rxe_pkt_info *pkt)
{
	if (unlikely(prism_is_packet(pkt)))
		return prism_respond_request(qp, pkt);
	if (unlikely(qp->prism.message.active))
		return PRISM_VERDICT_INVALID;
	qp->prism.chain_ok = true;
	return PRISM_VERDICT_NOT_OURS;
}

enum prism_verdict prism_continue_read(struct rxe_qp *qp, struct rxe_pkt_info *pkt);
int prism_saved_alloc(struct rxe_qp *qp, unsigned int count);
void prism_saved_free(struct rxe_qp *qp);
void prism_responder_stop(struct rxe_qp *qp);
enum ib_wc_status prism_refused(struct rxe_qp *qp, u8 syndrome, enum ib_wc_status status);

/* Completer: the next step for a packet at a PRISM request */
enum prism_completion {
	PRISM_COMPLETION_STANDARD,	/* neither is PRISM: continue as usual */
	PRISM_COMPLETION_DROP,
	PRISM_COMPLETION_RETRY,		/* its response was lost */
	PRISM_COMPLETION_DONE,		/* answered */
	PRISM_COMPLETION_ERROR,		/* wqe->status says which */
	PRISM_COMPLETION_AGAIN,		/* the oldest work request has ended: check again */
	PRISM_COMPLETIONS,
};

enum prism_completion __prism_complete(struct rxe_qp *qp, struct rxe_pkt_info *pkt, struct rxe_send_wqe *wqe);
void __prism_fill_cqe(struct rxe_qp *qp, struct rxe_send_wqe *wqe, struct rxe_cqe *cqe);

static inline enum prism_completion prism_complete(struct rxe_qp *qp, struct rxe_pkt_info *pkt,
						   struct rxe_send_wqe *wqe)
{
	if (prism_is_wqe(wqe) || unlikely(qp->prism.enabled) || unlikely(prism_is_packet(pkt)))
		return __prism_complete(qp, pkt, wqe);
	return PRISM_COMPLETION_STANDARD;
}

static inline void prism_fill_cqe(struct rxe_qp *qp, struct rxe_send_wqe *wqe, struct rxe_cqe *cqe)
{
	if (prism_is_wqe(wqe) && wqe->status == IB_WC_SUCCESS)
		__prism_fill_cqe(qp, wqe, cqe);
}

/* Notes that the requester goes back. Answers to packets that it has sent before may still come. */
static inline void prism_goes_back(struct rxe_qp *qp)
{
	const u32 sent = qp->req.psn;

	qp->prism.requests.entries = 0;
	if (!qp->prism.went_back || psn_compare(sent, READ_ONCE(qp->prism.sent_psn)) > 0)
		WRITE_ONCE(qp->prism.sent_psn, sent);
	WRITE_ONCE(qp->prism.went_back, true);
}

/* Requests under way -------------------------------------------------------------------------------------------- */

static inline struct prism_generations *prism_requests(struct rxe_qp *qp)
{
	return &to_rdev(qp->ibqp.device)->prism.requests;
}

/* Notes that the responder starts a request */
static inline void prism_begin(struct rxe_qp *qp)
{
	if (!qp->prism.begun)
		qp->prism.begun = prism_generations_begin(prism_requests(qp), raw_smp_processor_id());
}

static inline void prism_end(struct rxe_qp *qp)
{
	if (!qp->prism.begun)
		return;
	prism_generations_end(prism_requests(qp), raw_smp_processor_id(), qp->prism.begun);
	qp->prism.begun = 0;
}

/* Objects ------------------------------------------------------------------------------------------------------- */

extern u16 prism_udp_port;
extern spinlock_t atomic_ops_lock;
extern const struct prism_env prism_memory;

void prism_init(void);
void prism_port_taken(int err);
void prism_dev_init(struct rxe_dev *rxe);
void prism_dev_cleanup(struct rxe_dev *rxe);
int prism_check_rest(struct ib_udata *udata, size_t size);
int prism_copy_command(struct ib_udata *udata, void *cmd, size_t size);
int prism_ucontext_resp(struct ib_udata *udata);

int prism_qp_cmd(struct rxe_qp *qp, struct ib_qp_init_attr *init, struct ib_udata *udata);
void prism_qp_init(struct rxe_dev *rxe, struct rxe_qp *qp);
void prism_qp_reset(struct rxe_qp *qp);
void prism_qp_cleanup(struct rxe_qp *qp);

int prism_srq_init(struct rxe_dev *rxe, struct rxe_srq *srq, struct ib_udata *udata);
void prism_srq_destroy(struct rxe_srq *srq);
void prism_srq_cleanup(struct rxe_srq *srq);
u64 prism_look(struct rxe_dev *rxe, const struct rxe_qp *except, u64 *begun);
void prism_grace(struct work_struct *work);

void prism_hand_outs_init(struct prism_hand_outs *outs);
void prism_hand_outs_cleanup(struct prism_hand_outs *outs);
void prism_hand_out(struct prism_hand_outs *outs, const struct prism_place *place);
u64 prism_hand_outs_count(struct prism_hand_outs *outs);
bool prism_handed_out(struct prism_hand_outs *outs, const struct prism_place *place, u64 *since);
/* True if the region is paged on demand. Requests are executed where no page can be faulted in. */
static inline bool prism_is_paged(const struct rxe_mr *mr)
{
	return mr->umem && mr->umem->is_odp;
}

void prism_place_in(const struct rxe_mr *mr, u64 va, u32 length, struct prism_place *place);
bool prism_locate(struct rxe_qp *qp, u32 rkey, u64 va, u32 length, u32 rights, struct prism_place *place);

enum prism_pop prism_pop(void *ctx, u32 free_list, u32 length, struct prism_buffer *buffer);
void prism_give_back(void *ctx, struct prism_buffer *buffer);

#endif /* PRISM_H */
