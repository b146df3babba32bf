/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs: the kernel keeps their state; we keep what posting needs of it. */
#include <cerrno>
#include <cstring>

#include "../verbs/qp_mark.hpp"
#include "command.hpp"
#include "objects.hpp"

namespace prism::uverbs
{

namespace
{

int check_init_attr(ibv_context *context, const ibv_qp_init_attr_ex &attr, bool prism)
{
	constexpr std::uint32_t known =
		IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	if (!(attr.comp_mask & IBV_QP_INIT_ATTR_PD) || !attr.pd || !attr.send_cq || !attr.recv_cq)
		return EINVAL;
	if ((attr.comp_mask & ~known) || (prism && attr.qp_type != IBV_QPT_RC))
		return EOPNOTSUPP;
	if ((attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr.create_flags)
		return EOPNOTSUPP;
	if ((attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
		((attr.send_ops_flags & ~send_ops_of(attr.qp_type, has_atomic_write(context))) || !can_mark_extended()))
		return EOPNOTSUPP;
	return attr.srq && to_object<SrqObject>(attr.srq)->free_list ? EINVAL : 0;
}

int map_queues(QpObject &object, int cmd_fd, const ibv_qp_cap &cap, const prism_abi_create_qp_resp &resp)
{
	if (const int error = object.sends.map(cmd_fd, resp.send_queue, cap, object.prism))
		return error;
	if (object.base.qp.srq)
		return 0;
	object.receives.max_sge = cap.max_recv_sge;
	return object.receives.map(cmd_fd, resp.receive_queue);
}

std::uint32_t mtu_bytes(ibv_mtu mtu)
{
	return 128u << mtu;
}

void purge_completions(const ibv_qp &qp)
{
	to_object<CompletionQueueObject>(qp.send_cq)->purge(qp.qp_num);
	if (qp.recv_cq != qp.send_cq)
		to_object<CompletionQueueObject>(qp.recv_cq)->purge(qp.qp_num);
}

/** Stores the attributes that posting needs, under the lock of the sends. */
void remember(QpObject &object, const ibv_qp_attr &attr, int mask)
{
	if ((mask & IBV_QP_STATE) && attr.qp_state == IBV_QPS_RESET) {
		object.peer_features = 0;
		object.sends.resumes = false;
		object.sends.bundles = false;
	}
	if (mask & IBV_QP_PATH_MTU)
		object.mtu = mtu_bytes(attr.path_mtu);
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		object.max_rd_atomic = attr.max_rd_atomic;
}

} // namespace

ibv_qp *create_queue_pair(ibv_context *context, ibv_qp_init_attr_ex *attr, bool prism)
{
	if (const int error = check_init_attr(context, *attr, prism))
		return fail<ibv_qp>(error);
	auto object = std::make_unique<QpObject>();
	ibv_qp &qp = object->base.qp;
	ibv_qp_init_attr wanted;
	std::memcpy(&wanted, attr, sizeof(wanted)); /* ibv_qp_init_attr_ex begins with it */
	Command<ib_uverbs_create_qp, prism_abi_create_qp> cmd;
	Response<ib_uverbs_create_qp_resp, prism_abi_create_qp_resp> resp;
	cmd.driver.flags = prism ? PRISM_ABI_QP_PRISM : 0;
	if (const int error = ibv_cmd_create_qp(attr->pd, &qp, &wanted, cmd, cmd.size, resp, resp.size))
		return fail<ibv_qp>(error);
	object->prism = prism;
	object->signal_all = attr->sq_sig_all;
	if (const int error = map_queues(*object, context->cmd_fd, wanted.cap, resp.driver)) {
		ibv_cmd_destroy_qp(&qp);
		return fail<ibv_qp>(error);
	}
	attr->cap = wanted.cap;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		set_send_ops(*object);
	return &object.release()->base.qp;
}

ibv_qp *create_qp_ex(ibv_context *context, ibv_qp_init_attr_ex *attr)
{
	return create_queue_pair(context, attr, false);
}

ibv_qp *create_qp(ibv_pd *pd, ibv_qp_init_attr *attr)
{
	return create_plain_qp(pd, attr, create_qp_ex);
}

int modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask)
{
	auto &object = *to_object<QpObject>(qp);
	Command<ib_uverbs_modify_qp> cmd;
	if (const int error = ibv_cmd_modify_qp(qp, attr, mask, cmd, cmd.size))
		return error;
	{
		std::lock_guard guard(object.send_lock);
		remember(object, *attr, mask);
	}
	if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
		purge_completions(*qp);
	return 0;
}

int query_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask, ibv_qp_init_attr *init)
{
	Command<ib_uverbs_query_qp> cmd;
	return ibv_cmd_query_qp(qp, attr, mask, init, cmd, cmd.size);
}

int destroy_qp(ibv_qp *qp)
{
	if (const int error = ibv_cmd_destroy_qp(qp))
		return error;
	purge_completions(*qp);
	std::unique_ptr<QpObject> owned(to_object<QpObject>(qp));
	return 0;
}

} // namespace prism::uverbs
