/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The few places where the lines of kernels that we build on differ. */
#ifndef PRISM_COMPAT_H
#define PRISM_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)

/* The requester is a task of its own. */
static inline void prism_kick_requester(struct rxe_qp *qp)
{
	rxe_sched_task(&qp->req.task);
}

#define PRISM_PERSISTENT_WR	0

#else

/* The requester runs again behind the completer, in the same task. */
static inline void prism_kick_requester(struct rxe_qp *qp)
{
	qp->req.again = 1;
}

/* ATOMIC_WRITE and FLUSH */
#define PRISM_HAS_PERSISTENT_WR
#define PRISM_PERSISTENT_WR	(BIT(IB_UVERBS_WR_ATOMIC_WRITE) | BIT(IB_UVERBS_WR_FLUSH))

#endif

#endif /* PRISM_COMPAT_H */
