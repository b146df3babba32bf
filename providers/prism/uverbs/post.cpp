/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting to the kernel's device: the Device of posting.hpp. */
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "../verbs/post_send.hpp"
#include "../verbs/prism_builders.hpp"
#include "objects.hpp"

namespace prism::uverbs
{

namespace
{

struct KernelDevice {
	using Object = QpObject;
	using Request = SendRequest;
	static constexpr std::uint32_t max_message = 1u << 31; /* InfiniBand's limit; the module checks its own */
	static constexpr bool has_atomic_write = true;

	static bool may_write_atomically(const Object &object)
	{
		return uverbs::has_atomic_write(object.base.qp.context);
	}
	using Lock = std::unique_lock<SpinLock>;
	static Lock hold(Object &object) { return Lock(object.send_lock); }
	static void suspend(Object &, Lock &lock) { static_cast<void>(lock.release()); } /* held until the batch ends */
	static Lock resume(Object &object) { return Lock(object.send_lock, std::adopt_lock); }
	static SendRing &queue(Object &object) { return object.sends; }

	/** Judges by the state that the application knows, even if the module has found an error since. */
	static bool may_post(const Object &object)
	{
		const ibv_qp_state state = object.base.qp.state;
		return state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE || state == IBV_QPS_ERR;
	}

	static PostingRules rules(const Object &object)
	{
		const ibv_qp &qp = object.base.qp;
		/* Only a connected queue pair has READs and atomics to count. */
		return {object.prism, object.signal_all, qp.state == IBV_QPS_ERR || qp.qp_type != IBV_QPT_RC,
			object.peer_features, object.mtu, object.max_rd_atomic, qp.qp_num, qp.qp_type};
	}

	static void set_address(const Object &object, Request &wr, const ibv_send_wr &from)
	{
		if (object.base.qp.qp_type != IBV_QPT_UD)
			return;
		wr.ah = to_object<AddressHandle>(from.wr.ud.ah)->number;
		wr.remote_qpn = from.wr.ud.remote_qpn;
		wr.remote_qkey = from.wr.ud.remote_qkey;
	}

	/** Publishes the requests, releases the lock, then rings the doorbell, which is a system call. */
	static int submit(Object &object, std::uint32_t begin, Lock &lock)
	{
		if (object.sends.tail == begin)
			return 0;
		object.sends.publish(begin);
		lock.unlock();
		return object.ring_doorbell();
	}
};

void wr_set_ud_addr(ibv_qp_ex *ex, ibv_ah *ah, std::uint32_t remote_qpn, std::uint32_t remote_qkey)
{
	SendRequest *wr = to_object<QpObject>(ex)->building;
	if (!wr)
		return;
	wr->ah = to_object<AddressHandle>(ah)->number;
	wr->remote_qpn = remote_qpn;
	wr->remote_qkey = remote_qkey;
}

} // namespace

/* Calls POST_SEND without a work request, as for the kernel's software devices. */
int QpObject::ring_doorbell()
{
	struct {
		ib_uverbs_cmd_hdr header;
		ib_uverbs_post_send command;
	} doorbell{};
	ib_uverbs_post_send_resp resp{};
	doorbell.header.command = IB_USER_VERBS_CMD_POST_SEND;
	doorbell.header.in_words = sizeof(doorbell) / 4;
	doorbell.header.out_words = sizeof(resp) / 4;
	doorbell.command.response = reinterpret_cast<std::uintptr_t>(&resp);
	doorbell.command.qp_handle = base.qp.handle;
	doorbell.command.wqe_size = sizeof(ib_uverbs_send_wr);
	const ssize_t written = write(base.qp.context->cmd_fd, &doorbell, sizeof(doorbell));
	return written == sizeof(doorbell) ? 0 : errno;
}

int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad)
{
	return PostSend<KernelDevice>::post_send(qp, wr, bad);
}

int bind_mw(ibv_qp *qp, ibv_mw *mw, ibv_mw_bind *bind)
{
	/* A window of type 1 has the addresses of its region (IBTA 10.6.7.2.2). */
	if (bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED)
		return EINVAL;
	return PostSend<KernelDevice>::bind_mw(qp, mw, bind);
}

void set_send_ops(QpObject &object)
{
	QpExBuilders<KernelDevice>::install(object);
	PrismBuilders<KernelDevice>::install(object);
	object.base.qp_ex.wr_set_ud_addr = wr_set_ud_addr;
}

int post_recv(ibv_qp *base, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	auto &object = *to_object<QpObject>(base);
	int error = base->state == IBV_QPS_RESET || base->srq ? EINVAL : 0;
	{
		std::lock_guard guard(object.receives.lock);
		for (; wr && !error; wr = wr->next) {
			error = object.receives.post(*wr);
			if (error)
				break;
		}
	}
	if (error)
		*bad = wr;
	/* No packet will arrive to make the module look: have the requests that were just posted flushed. */
	if (base->state == IBV_QPS_ERR)
		object.ring_doorbell();
	return error;
}

} // namespace prism::uverbs
