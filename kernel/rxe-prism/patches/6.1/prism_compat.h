/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Particulars of rxe of Linux 6.1 */
#ifndef PRISM_COMPAT_H
#define PRISM_COMPAT_H

/* The requester is a task of its own. */
static inline void prism_kick_requester(struct rxe_qp *qp)
{
	rxe_sched_task(&qp->req.task);
}

/* Run the completer again for its remaining work. */
static inline void prism_kick_completer(struct rxe_qp *qp)
{
	rxe_sched_task(&qp->comp.task);
}

/* Packets have been put in the responder's line. */
static inline void prism_kick_responder(struct rxe_qp *qp)
{
	rxe_sched_task(&qp->resp.task);
}

/* There are neither ATOMIC_WRITE nor FLUSH. */
#define PRISM_PERSISTENT_WR	0
#define PRISM_PERSISTENT_ACCESS	0

/* Standard requests that are answered, and not just acknowledged */
#define PRISM_ANSWERED_WR	WR_ATOMIC_OR_READ_MASK

/* A user queue pair in ERROR has been posted to, perhaps a receive: it is flushed. */
static inline void prism_flush_receives(struct rxe_qp *qp)
{
	if (qp->resp.state == QP_STATE_ERROR && !qp->srq)
		rxe_sched_task(&qp->resp.task);
}

#endif /* PRISM_COMPAT_H */
