/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting to the userspace device: what posting.hpp leaves to it. */
#include <cerrno>
#include <mutex>

#include "../../posting.hpp"
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
	static constexpr bool has_atomic_write = false;

	static bool may_write_atomically(const Object &) { return false; }
	static std::mutex &lock(Object &object) { return object.context.lock; }
	static SendQueue &queue(Object &object) { return object.qp->sq; }
	static bool may_post(const Object &object) { return may_post_send(*object.qp); }

	static PostingRules rules(const Object &object)
	{
		const QueuePair &qp = *object.qp;
		return {qp.prism, qp.sq_signal_all, qp.state == IBV_QPS_ERR, qp.peer_features, qp.attr.mtu,
			qp.attr.max_rd_atomic, max_indirect_read, qp.qpn};
	}

	static void set_address(const Object &, Request &, const ibv_send_wr &) {}

	/** Let the protocol have what has been put behind the old tail. */
	static int submit(Object &object, std::uint32_t, std::unique_lock<std::mutex> &)
	{
		QueuePair &qp = *object.qp;
		Engine &engine = object.context.engine();
		if (qp.state == IBV_QPS_ERR)
			engine.flush(qp);
		else
			engine.posted(qp);
		object.context.transmit();
		return 0;
	}
};

} // namespace

int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad)
{
	return Posting<SoftDevice>::post_send(qp, wr, bad);
}

int bind_mw(ibv_qp *qp, ibv_mw *mw, ibv_mw_bind *bind)
{
	return Posting<SoftDevice>::bind_mw(qp, mw, bind);
}

void set_send_ops(QpObject &object)
{
	Posting<SoftDevice>::set_send_ops(object);
}

int post_recv(ibv_qp *base, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	auto &object = *to_object<QpObject>(base);
	QueuePair &qp = *object.qp;
	std::lock_guard guard(object.context.lock);
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
		object.context.engine().flush(qp);
	return error;
}

} // namespace prism::soft
