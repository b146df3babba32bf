/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The way of an RC queue pair from RESET to RTS, for programs in C and C++. */
#ifndef PRISM_TESTS_RC_CONNECTION_H
#define PRISM_TESTS_RC_CONNECTION_H

#include <infiniband/verbs.h>
#include <string.h>

struct rc_peer {
	union ibv_gid gid;
	uint32_t qpn;
	uint8_t sgid_index;  /* of the own port */
	uint8_t ack_timeout; /* for ibv_modify_qp() */
	enum ibv_mtu path_mtu;
};

/* Changes the state from RESET to INIT; the peer may do what ACCESS says. Returns 0 or an errno value. */
static inline int rc_init(struct ibv_qp *qp, unsigned int access)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qp_access_flags = access;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* Changes the state from INIT to RTS, with both first PSNs 0. Returns 0 or an errno value. */
static inline int rc_connect(struct ibv_qp *qp, const struct rc_peer *peer)
{
	struct ibv_qp_attr attr;
	int error;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = peer->path_mtu;
	attr.dest_qp_num = peer->qpn;
	attr.max_dest_rd_atomic = 16;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = peer->gid;
	attr.ah_attr.grh.sgid_index = peer->sgid_index;
	attr.ah_attr.grh.hop_limit = 64;
	error = ibv_modify_qp(qp, &attr,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (error)
		return error;
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = peer->ack_timeout;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 16;
	return ibv_modify_qp(qp, &attr,
		IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC);
}

#endif
