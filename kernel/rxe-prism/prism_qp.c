// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs: creation, reset, destruction, and the answers that they remember. */
#include <linux/vmalloc.h>

#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_queue.h"

int prism_qp_cmd(struct rxe_qp *qp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct prism_abi_create_qp cmd = {};
	int err;

	if (init->srq && to_rsrq(init->srq)->prism.enabled)
		return -EINVAL;
	if (!udata || !udata->inlen)
		return 0;
	err = prism_copy_command(udata, &cmd, sizeof(cmd));
	if (err)
		return err;
	if ((cmd.flags & ~PRISM_ABI_QP_PRISM) || cmd.reserved)
		return -EOPNOTSUPP;
	if (cmd.flags && init->qp_type != IB_QPT_RC)
		return -EINVAL;
	qp->prism.enabled = cmd.flags & PRISM_ABI_QP_PRISM;
	return 0;
}

void prism_qp_init(struct rxe_dev *rxe, struct rxe_qp *qp)
{
	qp->prism.chain_ok = true;
}

/* Called with the queue pair's tasks stopped. */
void prism_qp_reset(struct rxe_qp *qp)
{
	prism_responder_stop(qp);
	prism_sq_drop(qp);
	qp->prism.chain_ok = true;
	qp->prism.went_back = false;
	prism_gather_free(&qp->prism.requests);
	prism_gather_free(&qp->prism.answers);
	qp->prism.peer_bundles = false;
	qp->prism.was_bundled = false;
	qp->prism.has_read = false;
	qp->prism.next_saved = 0;
	if (qp->prism.saved)
		memset(qp->prism.saved, 0, qp->prism.saved_count * sizeof(*qp->prism.saved));
}

/* Called once, with the tasks gone; also for a queue pair whose creation failed, at any point. */
void prism_qp_cleanup(struct rxe_qp *qp)
{
	prism_responder_stop(qp);
	prism_sq_cleanup(qp);
	prism_gather_free(&qp->prism.requests);
	prism_gather_free(&qp->prism.answers);
	kfree(qp->prism.spare);
	qp->prism.spare = NULL;
}

int prism_saved_alloc(struct rxe_qp *qp, unsigned int count)
{
	if (!qp->prism.enabled || !count)
		return 0;
	qp->prism.saved = kvcalloc(count, sizeof(*qp->prism.saved), GFP_KERNEL);
	if (!qp->prism.saved)
		return -ENOMEM;
	qp->prism.saved_count = count;
	return 0;
}

void prism_saved_free(struct rxe_qp *qp)
{
	kvfree(qp->prism.saved);
	qp->prism.saved = NULL;
	qp->prism.saved_count = 0;
	qp->prism.next_saved = 0;
}
