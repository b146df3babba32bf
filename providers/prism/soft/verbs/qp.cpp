/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs: creation, the state machine of ibv_modify_qp (IBTA 10.3), queries. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "../../verbs/qp_mark.hpp"
#include "device.hpp"
#include "objects.hpp"

namespace prism::soft
{

namespace
{

int check_init_attr(const ibv_context *context, const ibv_qp_init_attr_ex &attr, bool prism)
{
	constexpr std::uint32_t known =
		IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	if (!(attr.comp_mask & IBV_QP_INIT_ATTR_PD) || !known_in(context, attr.pd) ||
		!known_in(context, attr.send_cq) || !known_in(context, attr.recv_cq) ||
		(attr.srq && !known_in(context, attr.srq)))
		return EINVAL;
	const bool datagram_or_uc = attr.qp_type == IBV_QPT_UD || attr.qp_type == IBV_QPT_UC;
	if ((attr.comp_mask & ~known) || !(attr.qp_type == IBV_QPT_RC || (datagram_or_uc && !prism)))
		return EOPNOTSUPP;
	if ((attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr.create_flags)
		return EOPNOTSUPP;
	if ((attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
		((attr.send_ops_flags & ~send_ops_of(attr.qp_type, true)) || !can_mark_extended()))
		return EOPNOTSUPP;
	if (attr.srq && to_object<SrqObject>(attr.srq)->queue.free_list)
		return EINVAL;
	const ibv_qp_cap &cap = attr.cap;
	/* With a shared queue the queue pair has no receive queue of its own. */
	const bool receives_fit =
		attr.srq || (cap.max_recv_wr <= limits::max_qp_wr && cap.max_recv_sge <= limits::max_sge);
	const bool fits = cap.max_send_wr <= limits::max_qp_wr && cap.max_send_sge <= limits::max_sge &&
			  cap.max_inline_data <= limits::max_inline_data;
	return fits && receives_fit ? 0 : EINVAL;
}

std::unique_ptr<QueuePair> make_protocol_qp(
	std::uint32_t qpn, const ibv_qp_init_attr_ex &attr, std::uint32_t pd, bool prism)
{
	const ibv_qp_cap &cap = attr.cap;
	SendQueue sq(std::max(1u, cap.max_send_wr), std::max(1u, cap.max_send_sge), cap.max_inline_data, prism);
	const bool own_receives = !attr.srq;
	ReceiveQueue rq(
		own_receives ? std::max(1u, cap.max_recv_wr) : 1, own_receives ? std::max(1u, cap.max_recv_sge) : 1);
	auto qp = std::make_unique<QueuePair>(qpn, attr.qp_type, pd, prism, std::move(sq), std::move(rq));
	qp->sq_signal_all = attr.sq_sig_all;
	qp->send_cq = &to_object<CompletionQueueObject>(attr.send_cq)->queue;
	qp->recv_cq = &to_object<CompletionQueueObject>(attr.recv_cq)->queue;
	if (attr.srq)
		qp->srq = &to_object<SrqObject>(attr.srq)->queue;
	return qp;
}

/** Returns the real capacities of the queues, which may exceed those asked for. */
ibv_qp_cap granted(const QueuePair &qp, const ibv_qp_cap &asked)
{
	ibv_qp_cap cap = asked;
	cap.max_send_wr = qp.sq.max_wr;
	cap.max_send_sge = qp.sq.max_sge;
	cap.max_inline_data = qp.sq.max_inline;
	cap.max_recv_wr = qp.srq ? 0 : qp.rq.max_wr();
	cap.max_recv_sge = qp.srq ? 0 : qp.rq.max_sge();
	return cap;
}

void fill_base(QpObject &object, ibv_context *context, const ibv_qp_init_attr_ex &attr)
{
	ibv_qp &base = object.base.qp;
	base.context = context;
	base.qp_context = attr.qp_context;
	base.pd = attr.pd;
	base.send_cq = attr.send_cq;
	base.recv_cq = attr.recv_cq;
	base.srq = attr.srq;
	base.handle = object.qp->qpn;
	base.qp_num = object.qp->qpn;
	base.state = IBV_QPS_RESET;
	base.qp_type = attr.qp_type;
	pthread_mutex_init(&base.mutex, nullptr);
	pthread_cond_init(&base.cond, nullptr);
	std::memcpy(&object.init, &attr, sizeof(object.init));
	if (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		set_send_ops(object);
}

/* Changing state ------------------------------------------------------------------------------------------------ */

/** Attributes that a transition needs and may have (IBTA table 91; as in the kernel's qp_state_table). */
struct Transition {
	ibv_qp_state from;
	ibv_qp_state to;
	int required;
	int optional;
};

constexpr int rc_running =
	IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_MIN_RNR_TIMER;

constexpr Transition rc_transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_INIT, IBV_QPS_RTR,
		IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER,
		IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
	{IBV_QPS_RTR, IBV_QPS_RTS,
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
		rc_running},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, rc_running},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0, rc_running},
	{IBV_QPS_SQD, IBV_QPS_SQD, 0,
		IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH |
			IBV_QP_PATH_MIG_STATE | IBV_QP_MIN_RNR_TIMER},
};

constexpr int uc_running = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

constexpr Transition uc_transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
		IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, uc_running},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, uc_running},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0, uc_running},
	{IBV_QPS_SQD, IBV_QPS_SQD, 0,
		IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PATH_MIG_STATE},
};

constexpr Transition ud_transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
	{IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
};

std::span<const Transition> transitions_of(ibv_qp_type type)
{
	if (type == IBV_QPT_UD)
		return ud_transitions;
	if (type == IBV_QPT_UC)
		return uc_transitions;
	return rc_transitions;
}

bool transition_allowed(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask)
{
	mask &= ~IBV_QP_STATE;
	if (to == IBV_QPS_RESET)
		return mask == 0;
	if (to == IBV_QPS_ERR)
		return mask == 0 && from != IBV_QPS_RESET;
	for (const Transition &t : transitions_of(type))
		if (t.from == from && t.to == to)
			return (mask & t.required) == t.required && !(mask & ~(t.required | t.optional));
	return false;
}

/** Returns the local ACK timeout: 4.096 us * 2^value (IBTA 9.7.6.1.3). */
Time ack_timeout(std::uint8_t value)
{
	return value ? Time{4096} << (value & 31) : 0;
}

/** Checks the fields: timers have 5 bits, retry counters 3. */
bool fields_fit(const ibv_qp_attr &attr, int mask)
{
	const auto fits = [mask](int bit, unsigned value, unsigned bits) { return !(mask & bit) || !(value >> bits); };
	return fits(IBV_QP_TIMEOUT, attr.timeout, 5) && fits(IBV_QP_MIN_RNR_TIMER, attr.min_rnr_timer, 5) &&
	       fits(IBV_QP_RETRY_CNT, attr.retry_cnt, 3) && fits(IBV_QP_RNR_RETRY, attr.rnr_retry, 3);
}

int check_values(const ibv_qp_attr &attr, int mask, const Context &context)
{
	if ((mask & IBV_QP_PORT) && attr.port_num != 1)
		return EINVAL;
	if ((mask & IBV_QP_PKEY_INDEX) && attr.pkey_index != 0)
		return EINVAL;
	Address peer;
	unsigned source;
	if ((mask & IBV_QP_AV) &&
		(attr.ah_attr.port_num != 1 || !resolve_path(attr.ah_attr, context.gids(), peer, source)))
		return EINVAL;
	if (!fields_fit(attr, mask))
		return EINVAL;
	if ((mask & IBV_QP_PATH_MTU) &&
		(attr.path_mtu < IBV_MTU_256 || attr.path_mtu > active_mtu(context.interface_mtu())))
		return EINVAL;
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attr.max_rd_atomic > max_outstanding)
		return EINVAL;
	if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && attr.max_dest_rd_atomic > max_outstanding)
		return EINVAL;
	if ((mask & IBV_QP_ALT_PATH) || ((mask & IBV_QP_PATH_MIG_STATE) && attr.path_mig_state != IBV_MIG_MIGRATED))
		return EOPNOTSUPP;
	return 0;
}

/** Returns the address of the peer's lane. On loopback it is not the one that its context has told, but has its slot.
 */
Address peer_address(const QpAttributes &attr)
{
	const unsigned slot = attr.dest_qpn >> qpn_index_bits;
	return attr.peer_is_ours && is_loopback_of_context(attr.peer) && slot ? loopback_address(slot) : attr.peer;
}

/** Returns the peer's source port. On other hosts source ports may change, by IBTA annex A17. */
std::uint16_t peer_port(const QpAttributes &attr)
{
	/* Check the cheap condition first: reading all addresses of the host takes long. */
	return attr.peer_is_ours || is_on_this_host(attr.peer) ? source_port_of(attr.dest_qpn >> qpn_index_bits) : 0;
}

bool wants_notification(const ibv_qp_attr &attr, int mask)
{
	return (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) && attr.en_sqd_async_notify;
}

void apply_values(QueuePair &qp, const ibv_qp_attr &attr, int mask, const Context &context)
{
	QpAttributes &to = qp.attr;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) /* first, as it may run out of memory */
		Engine::keep_answers(qp, attr.max_dest_rd_atomic);
	if (mask & IBV_QP_AV) {
		resolve_path(attr.ah_attr, context.gids(), to.peer, to.source);
		to.peer_is_ours = context.interface().is_loopback;
	}
	if (mask & IBV_QP_QKEY)
		to.qkey = attr.qkey;
	if (qp.type == IBV_QPT_UD) /* each datagram has a path of its own: use what the interface can carry */
		to.mtu = mtu_bytes(active_mtu(context.interface_mtu()));
	if (mask & IBV_QP_PATH_MTU)
		to.mtu = mtu_bytes(attr.path_mtu);
	if (mask & IBV_QP_DEST_QPN)
		to.dest_qpn = attr.dest_qp_num & PRISM_QPN_MASK;
	if ((mask & IBV_QP_AV) && qp.type != IBV_QPT_UD) {
		to.peer = peer_address(to);
		to.peer_port = peer_port(to);
	}
	if (mask & IBV_QP_ACCESS_FLAGS)
		to.access = static_cast<std::uint32_t>(attr.qp_access_flags);
	if (mask & IBV_QP_RQ_PSN)
		qp.resp.expected_psn = attr.rq_psn & PRISM_PSN_MASK;
	if (mask & IBV_QP_SQ_PSN)
		qp.req.next_psn = qp.req.unacked = attr.sq_psn & PRISM_PSN_MASK;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to.max_rd_atomic = attr.max_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to.min_rnr_timer = attr.min_rnr_timer;
	if (mask & IBV_QP_TIMEOUT)
		to.ack_timeout = ack_timeout(attr.timeout);
	if (mask & IBV_QP_RETRY_CNT)
		qp.req.retries = to.retry_count = attr.retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		qp.req.rnr_retries = to.rnr_retry = attr.rnr_retry;
}

/** Stores the values as the application set them, for ibv_query_qp. */
void remember(ibv_qp_attr &kept, const ibv_qp_attr &attr, int mask)
{
	const auto keep = [mask](int bit, auto &to, const auto &from) {
		if (mask & bit)
			to = from;
	};
	keep(IBV_QP_QKEY, kept.qkey, attr.qkey);
	keep(IBV_QP_ACCESS_FLAGS, kept.qp_access_flags, attr.qp_access_flags);
	keep(IBV_QP_PKEY_INDEX, kept.pkey_index, attr.pkey_index);
	keep(IBV_QP_PORT, kept.port_num, attr.port_num);
	keep(IBV_QP_AV, kept.ah_attr, attr.ah_attr);
	keep(IBV_QP_PATH_MTU, kept.path_mtu, attr.path_mtu);
	keep(IBV_QP_TIMEOUT, kept.timeout, attr.timeout);
	keep(IBV_QP_RETRY_CNT, kept.retry_cnt, attr.retry_cnt);
	keep(IBV_QP_RNR_RETRY, kept.rnr_retry, attr.rnr_retry);
	keep(IBV_QP_RQ_PSN, kept.rq_psn, attr.rq_psn & PRISM_PSN_MASK);
	keep(IBV_QP_MAX_QP_RD_ATOMIC, kept.max_rd_atomic, attr.max_rd_atomic);
	keep(IBV_QP_MIN_RNR_TIMER, kept.min_rnr_timer, attr.min_rnr_timer);
	keep(IBV_QP_SQ_PSN, kept.sq_psn, attr.sq_psn & PRISM_PSN_MASK);
	keep(IBV_QP_MAX_DEST_RD_ATOMIC, kept.max_dest_rd_atomic, attr.max_dest_rd_atomic);
	keep(IBV_QP_DEST_QPN, kept.dest_qp_num, attr.dest_qp_num & PRISM_QPN_MASK);
}

} // namespace

ibv_qp *create_queue_pair(ibv_context *context, ibv_qp_init_attr_ex *attr, bool prism)
{
	if (const int error = check_init_attr(context, *attr, prism))
		return fail<ibv_qp>(error);
	Context &owner = to_context(context);
	Place place = owner.quotas.qps.take();
	if (!place)
		return fail<ibv_qp>(ENOMEM);
	Lane &lane = owner.lane_for(*to_object<CompletionQueueObject>(attr->send_cq),
		*to_object<CompletionQueueObject>(attr->recv_cq), attr->qp_type);
	auto &pd = *to_object<ProtectionDomain>(attr->pd);
	auto object = std::make_unique<QpObject>(owner, lane, pd);
	object->place = std::move(place);
	{
		std::lock_guard guard(lane.lock);
		const std::uint32_t qpn = lane.engine().take_qpn();
		if (!qpn)
			return fail<ibv_qp>(ENOMEM);
		object->qp = make_protocol_qp(qpn, *attr, pd.number, prism);
		object->qp->owner = object.get();
		lane.engine().add_qp(*object->qp);
	}
	attr->cap = granted(*object->qp, attr->cap);
	fill_base(*object, context, *attr);
	pd.users++;
	to_object<CompletionQueueObject>(attr->send_cq)->users++;
	to_object<CompletionQueueObject>(attr->recv_cq)->users++;
	if (attr->srq)
		to_object<SrqObject>(attr->srq)->users++;
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

int modify_qp(ibv_qp *base, ibv_qp_attr *attr, int mask)
{
	if (!known_in(base->context, base))
		return EINVAL;
	auto &object = *to_object<QpObject>(base);
	QueuePair &qp = *object.qp;
	/* From now on peers may send requests while the application is busy elsewhere. */
	if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RTR)
		object.lane.start_thread();
	std::lock_guard guard(object.lane.lock);
	Engine &engine = object.lane.engine();
	if ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != qp.state)
		return EINVAL;
	const ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : qp.state;
	if (!transition_allowed(qp.type, qp.state, to, mask))
		return EINVAL;
	if (const int error = check_values(*attr, mask, object.context))
		return error;
	if (to == IBV_QPS_RESET) {
		engine.reset_qp(qp);
		qp.send_cq->purge(qp.qpn);
		qp.recv_cq->purge(qp.qpn);
		object.attr = {};
		return 0;
	}
	if (to == IBV_QPS_ERR) {
		object.lane.catch_up();
		engine.fail_qp(qp);
		return 0;
	}
	apply_values(qp, *attr, mask, object.context);
	remember(object.attr, *attr, mask);
	qp.state = to;
	qp.notify_drained = to == IBV_QPS_SQD && (qp.notify_drained || wants_notification(*attr, mask));
	engine.report_drained(qp);
	if (to == IBV_QPS_RTS) {
		engine.posted(qp);
		object.lane.transmit();
	}
	return 0;
}

int query_qp(ibv_qp *base, ibv_qp_attr *attr, int, ibv_qp_init_attr *init)
{
	if (!known_in(base->context, base))
		return EINVAL;
	auto &object = *to_object<QpObject>(base);
	std::lock_guard guard(object.lane.lock);
	*attr = object.attr;
	attr->qp_state = attr->cur_qp_state = object.qp->state;
	attr->sq_draining = object.qp->state == IBV_QPS_SQD && !object.qp->drained();
	attr->path_mig_state = IBV_MIG_MIGRATED;
	attr->cap = object.init.cap;
	attr->sq_psn = object.qp->state >= IBV_QPS_RTS ? object.qp->req.next_psn : object.attr.sq_psn;
	attr->rq_psn = object.qp->state >= IBV_QPS_RTR ? object.qp->resp.expected_psn : object.attr.rq_psn;
	*init = object.init;
	base->state = object.qp->state;
	return 0;
}

int destroy_qp(ibv_qp *base)
{
	if (!known_in(base->context, base))
		return EINVAL;
	auto &object = *to_object<QpObject>(base);
	{
		std::lock_guard guard(object.lane.lock);
		if (object.lane.engine().in_a_group(*object.qp))
			return EBUSY;
		object.lane.engine().remove_qp(*object.qp);
	}
	object.qp->send_cq->purge(object.qp->qpn);
	object.qp->recv_cq->purge(object.qp->qpn);
	await_acknowledgement(object, *base);
	object.pd.users--;
	to_object<CompletionQueueObject>(base->send_cq)->users--;
	to_object<CompletionQueueObject>(base->recv_cq)->users--;
	if (base->srq)
		to_object<SrqObject>(base->srq)->users--;
	std::unique_ptr<QpObject> owned(&object);
	return 0;
}

namespace
{

/** Returns null if @p base cannot be in the group. */
QueuePair *member_of(ibv_qp *base, const ibv_gid *gid, Address &group)
{
	std::copy_n(gid->raw, group.gid.size(), group.gid.begin());
	return known_in(base->context, base) && base->qp_type == IBV_QPT_UD && group.is_multicast()
		       ? to_object<QpObject>(base)->qp.get()
		       : nullptr;
}

} // namespace

int attach_mcast(ibv_qp *base, const ibv_gid *gid, std::uint16_t)
{
	Address group;
	QueuePair *qp = member_of(base, gid, group);
	if (!qp)
		return EINVAL;
	QpObject &object = *to_object<QpObject>(base);
	return object.context.attach(object.lane, *qp, group);
}

int detach_mcast(ibv_qp *base, const ibv_gid *gid, std::uint16_t)
{
	Address group;
	QueuePair *qp = member_of(base, gid, group);
	return qp ? to_object<QpObject>(base)->lane.detach(*qp, group) : EINVAL;
}

} // namespace prism::soft
