/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A queue pair that is connected to itself, for programs that check if a device still works. */
#ifndef PRISM_TESTS_LOOPBACK_H
#define PRISM_TESTS_LOOPBACK_H

#include "rc_connection.h"

#include <time.h>

/* For programs that do not need prism-run */
#ifndef loopback_devices
#define loopback_devices ibv_get_device_list
#define loopback_gid ibv_query_gid
#endif

struct loopback {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *memory; /* of the caller's, SIZE bytes */
};

static inline int loopback_connect(struct loopback *loop)
{
	struct rc_peer self = {{{0}}, loop->qp->qp_num, 0, 14, IBV_MTU_1024};

	return !loopback_gid(loop->context, 1, 0, &self.gid) && !rc_init(loop->qp, IBV_ACCESS_REMOTE_WRITE) &&
	       !rc_connect(loop->qp, &self);
}

/* Opens the first device, with MEMORY registered. */
static inline int loopback_open(struct loopback *loop, void *memory, size_t size)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_device **list = loopback_devices(NULL);

	loop->memory = (char *)memory;
	if (!list || !list[0] || !(loop->context = ibv_open_device(list[0])))
		return 0;
	ibv_free_device_list(list);
	loop->pd = ibv_alloc_pd(loop->context);
	loop->cq = ibv_create_cq(loop->context, 4, NULL, NULL, 0);
	if (!loop->pd || !loop->cq)
		return 0;
	attr.send_cq = attr.recv_cq = loop->cq;
	loop->qp = ibv_create_qp(loop->pd, &attr);
	loop->mr = ibv_reg_mr(loop->pd, memory, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return loop->qp && loop->mr && loopback_connect(loop);
}

/* Posts an RDMA WRITE of 8 bytes within the memory; returns true if it completes within 5 seconds. */
static inline int loopback_works(struct loopback *loop)
{
	struct ibv_sge from = {(uintptr_t)loop->memory, 8, loop->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED}, *bad;
	const time_t end = time(NULL) + 5;
	struct ibv_wc wc;
	int got = 0;

	wr.wr.rdma.remote_addr = (uintptr_t)loop->memory + 8;
	wr.wr.rdma.rkey = loop->mr->rkey;
	memcpy(loop->memory, "to write", 8);
	memset(loop->memory + 8, 0, 8);
	if (ibv_post_send(loop->qp, &wr, &bad))
		return 0;
	while (!got && time(NULL) < end)
		got = ibv_poll_cq(loop->cq, 1, &wc);
	return got == 1 && wc.status == IBV_WC_SUCCESS && !memcmp(loop->memory + 8, "to write", 8);
}

#endif
