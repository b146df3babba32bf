/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Particulars of rxe of Linux 6.12 */
#ifndef PRISM_COMPAT_H
#define PRISM_COMPAT_H

/* The requester runs again behind the completer, in the same task. */
static inline void prism_kick_requester(struct rxe_qp *qp)
{
	qp->req.again = 1;
}

/* Run the completer's task again for its remaining work. */
static inline void prism_kick_completer(struct rxe_qp *qp)
{
	rxe_sched_task(&qp->send_task);
}

/* Packets have been put in the responder's line. */
static inline void prism_kick_responder(struct rxe_qp *qp)
{
	rxe_sched_task(&qp->recv_task);
}

#define PRISM_HAS_PERSISTENT_WR
#define PRISM_PERSISTENT_WR	(BIT(IB_UVERBS_WR_ATOMIC_WRITE) | BIT(IB_UVERBS_WR_FLUSH))
#define PRISM_PERSISTENT_ACCESS	(IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT)

/* Standard requests that are answered, and not just acknowledged */
#define PRISM_ANSWERED_WR	(WR_ATOMIC_OR_READ_MASK | WR_ATOMIC_WRITE_MASK | WR_FLUSH_MASK)

/* A user queue pair in ERROR has been posted to, perhaps a receive: it is flushed. */
static inline void prism_flush_receives(struct rxe_qp *qp)
{
	if (qp_state(qp) == IB_QPS_ERR && !qp->srq)
		rxe_sched_task(&qp->recv_task);
}

#endif /* PRISM_COMPAT_H */
