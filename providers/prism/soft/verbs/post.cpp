/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting to the userspace device: the Device of posting.hpp. */
#include <cerrno>
#include <mutex>
#include <thread>

#include "../../verbs/post_send.hpp"
#include "../../verbs/prism_builders.hpp"
#include "objects.hpp"

namespace prism::soft
{

namespace
{

bool may_post_send(const QueuePair &qp)
{
	return qp.state == IBV_QPS_RTS || qp.state == IBV_QPS_SQD || qp.state == IBV_QPS_SQE || qp.state == IBV_QPS_ERR;
}

struct SoftDevice {
	using Object = QpObject;
	using Request = SendRequest;
	static constexpr std::uint32_t max_message = soft::max_message;
	static constexpr bool has_atomic_write = true;

	static bool may_write_atomically(const Object &) { return true; }
	using Lock = std::unique_lock<LaneLock>;

	/** Locks the lane, after any batch that another thread has open, which is short. */
	static Lock hold(Object &object)
	{
		Lock lock(object.lane.lock);
		while (object.batch_open) {
			lock.unlock();
			std::this_thread::yield();
			lock.lock();
		}
		return lock;
	}
	/** Leaves the lane free for other verbs: the batch lies beyond the tail, where the protocol does not look.
	 */
	static void suspend(Object &object, Lock &) { object.batch_open = true; }
	static Lock resume(Object &object)
	{
		Lock lock(object.lane.lock);
		object.batch_open = false;
		return lock;
	}
	static SendQueue &queue(Object &object) { return object.qp->sq; }
	static bool may_post(const Object &object) { return may_post_send(*object.qp); }

	static PostingRules rules(const Object &object)
	{
		const QueuePair &qp = *object.qp;
		return {qp.prism, qp.sq_signal_all, qp.state == IBV_QPS_ERR, qp.peer_features, qp.attr.mtu,
			qp.attr.max_rd_atomic, qp.qpn, qp.type};
	}

	static void set_address(const Object &object, Request &wr, const ibv_send_wr &from)
	{
		if (object.qp->type == IBV_QPT_UD)
			set_destination(object, wr, from.wr.ud.ah, from.wr.ud.remote_qpn, from.wr.ud.remote_qkey);
	}

	/** Sets the destination. An address handle of another domain counts as none; the completion reports it (IBTA
	 * 10.2.3). */
	static void set_destination(
		const Object &object, Request &wr, const ibv_ah *handle, std::uint32_t qpn, std::uint32_t qkey)
	{
		const auto &ah = *to_object<const AddressHandle>(handle);
		wr.addressed = ah.pd == &object.pd;
		wr.to.peer = ah.peer;
		wr.to.source = ah.source;
		wr.to.qpn = qpn & PRISM_QPN_MASK;
		wr.to.qkey = qkey;
	}

	/** Hands the requests behind the old tail to the protocol. */
	static int submit(Object &object, std::uint32_t, Lock &)
	{
		QueuePair &qp = *object.qp;
		Engine &engine = object.lane.engine();
		if (qp.state == IBV_QPS_ERR)
			engine.flush(qp);
		else
			engine.posted(qp);
		object.lane.transmit();
		return 0;
	}
};

void wr_set_ud_addr(ibv_qp_ex *ex, ibv_ah *ah, std::uint32_t remote_qpn, std::uint32_t remote_qkey)
{
	QpObject &object = *to_object<QpObject>(ex);
	if (SendRequest *wr = object.building)
		SoftDevice::set_destination(object, *wr, ah, remote_qpn, remote_qkey);
}

} // namespace

int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad)
{
	return PostSend<SoftDevice>::post_send(qp, wr, bad);
}

int bind_mw(ibv_qp *qp, ibv_mw *mw, ibv_mw_bind *bind)
{
	return PostSend<SoftDevice>::bind_mw(qp, mw, bind);
}

void set_send_ops(QpObject &object)
{
	QpExBuilders<SoftDevice>::install(object);
	PrismBuilders<SoftDevice>::install(object);
	object.base.qp_ex.wr_set_ud_addr = wr_set_ud_addr;
}

int post_recv(ibv_qp *base, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	auto &object = *to_object<QpObject>(base);
	QueuePair &qp = *object.qp;
	std::lock_guard guard(object.lane.lock);
	int error = qp.state == IBV_QPS_RESET || qp.srq ? EINVAL : 0;
	for (; wr && !error; wr = wr->next) {
		const auto count = static_cast<std::uint32_t>(wr->num_sge);
		if (wr->num_sge < 0 || count > qp.rq.max_sge())
			error = EINVAL;
		else if (!qp.rq.post(wr->wr_id, {reinterpret_cast<const Sge *>(wr->sg_list), count}))
			error = ENOMEM;
		if (error)
			break;
	}
	if (error)
		*bad = wr;
	if (qp.state == IBV_QPS_ERR)
		object.lane.engine().flush(qp);
	return error;
}

} // namespace prism::soft
