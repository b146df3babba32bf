/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/queue_pair.hpp>

#include <algorithm>
#include <cerrno>
#include <sys/random.h>

namespace prism
{

namespace
{

constexpr std::uint64_t builders = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND |
				   IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

ibv_qp_init_attr_ex init_attr(const ProtectionDomain &pd, const CompletionQueue &send_cq,
	const CompletionQueue &receive_cq, const QueuePairOptions &options)
{
	ibv_qp_init_attr_ex attr{};
	attr.qp_type = IBV_QPT_RC;
	attr.pd = pd.raw();
	attr.send_cq = send_cq.raw();
	attr.recv_cq = receive_cq.raw();
	attr.srq = options.srq;
	attr.cap.max_send_wr = options.max_send_wr;
	attr.cap.max_recv_wr = options.srq ? 0 : options.max_recv_wr;
	attr.cap.max_send_sge = options.max_send_sge;
	attr.cap.max_recv_sge = 1;
	attr.cap.max_inline_data = options.max_inline_data;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = builders;
	return attr;
}

std::uint32_t random_psn()
{
	std::uint32_t psn = 0;
	/* Any value is valid: a short read only makes it easier to guess. */
	(void)!getrandom(&psn, sizeof(psn), 0);
	return psn & 0xffffff;
}

std::uint8_t depth_of(int device_limit)
{
	return static_cast<std::uint8_t>(std::clamp(device_limit, 1, 255));
}

bool is_silent(const prismdv_capability &capability)
{
	return std::all_of(std::begin(capability.bytes), std::end(capability.bytes), [](std::uint8_t b) { return !b; });
}

} // namespace

QueuePair::QueuePair(
	ProtectionDomain pd, CompletionQueue send, CompletionQueue receive, const QueuePairOptions &chosen, ibv_qp *qp)
	: domain_(std::move(pd)), send_cq_(std::move(send)), receive_cq_(std::move(receive)), options_(chosen),
	  handle_(qp)
{
}

Result<QueuePair> QueuePair::create(const ProtectionDomain &pd, const CompletionQueue &send_cq_,
	const CompletionQueue &receive_cq_, const QueuePairOptions &options_)
{
	ibv_qp_init_attr_ex attr = init_attr(pd, send_cq_, receive_cq_, options_);
	ibv_qp *raw = prismdv_create_qp(pd.context().raw(), &attr, nullptr);
	if (!raw)
		return make_error(errno, "cannot create a queue pair",
			"ask for smaller queues, or check the limits in ibv_devinfo -v");
	QueuePair qp(pd, send_cq_, receive_cq_, options_, raw);
	qp.inline_data_ = attr.cap.max_inline_data;
	qp.standard_builder_ = ibv_qp_to_qp_ex(raw);
	qp.prism_ = prismdv_qp_ex_from_ibv_qp_ex(qp.standard_builder_);
	if (!qp.prism_)
		return make_error(errno, "the queue pair has no PRISM work request builder");
	if (Result<void> described = qp.describe(); !described)
		return described.error();
	return qp;
}

Result<void> QueuePair::describe()
{
	const Context &context = domain_.context();
	ibv_port_attr port{};
	/* Call the function, not the macro, which needs the old layout of the attribute. */
	if (const int error = ibv_query_port(context.raw(), options_.port, &port))
		return make_error(
			error, "cannot query port " + std::to_string(options_.port) + " of " + context.name());
	ibv_device_attr device{};
	if (const int error = ibv_query_device(context.raw(), &device))
		return make_error(error, "cannot query device " + context.name());

	Result<int> index =
		options_.gid_index ? Result<int>(*options_.gid_index) : context.default_gid_index(options_.port);
	if (!index)
		return index.error();
	Result<ibv_gid> gid = context.gid(options_.port, *index);
	if (!gid)
		return gid.error();

	gid_index_ = *index;
	local_.gid = *gid;
	local_.capability = context.capability();
	local_.qp_num = handle_->qp_num;
	local_.psn = random_psn();
	local_.mtu = options_.mtu ? *options_.mtu : port.active_mtu;
	local_.max_rd_atomic = depth_of(device.max_qp_init_rd_atom);
	local_.max_dest_rd_atomic = depth_of(device.max_qp_rd_atom);
	return {};
}

Result<void> QueuePair::connect(const Endpoint &peer)
{
	if (Result<void> done = to_init(); !done)
		return done;
	if (Result<void> done = to_rtr(peer); !done)
		return done;
	if (Result<void> done = to_rts(peer); !done)
		return done;
	return declare(peer);
}

Result<void> QueuePair::to_init()
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = options_.port;
	attr.qp_access_flags = options_.access_flags;
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	if (const int error = ibv_modify_qp(handle_.get(), &attr, mask))
		return make_error(
			error, "cannot take the queue pair to INIT", "a queue pair connects once: create another");
	return {};
}

Result<void> QueuePair::to_rtr(const Endpoint &peer)
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = std::min(local_.mtu, peer.mtu);
	attr.dest_qp_num = peer.qp_num;
	attr.rq_psn = peer.psn;
	attr.max_dest_rd_atomic = std::min(local_.max_dest_rd_atomic, peer.max_rd_atomic);
	attr.min_rnr_timer = options_.min_rnr_timer;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = peer.gid;
	attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.port_num = options_.port;
	const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (const int error = ibv_modify_qp(handle_.get(), &attr, mask))
		return make_error(error, "cannot take the queue pair to RTR",
			"check that the peer's address is reachable from this device's interface");
	return {};
}

Result<void> QueuePair::to_rts(const Endpoint &peer)
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = options_.timeout;
	attr.retry_cnt = options_.retry_count;
	attr.rnr_retry = options_.rnr_retry;
	attr.sq_psn = local_.psn;
	attr.max_rd_atomic = std::min(local_.max_rd_atomic, peer.max_dest_rd_atomic);
	const int mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			 IBV_QP_MAX_QP_RD_ATOMIC;
	if (const int error = ibv_modify_qp(handle_.get(), &attr, mask))
		return make_error(error, "cannot take the queue pair to RTS");
	outstanding_ = attr.max_rd_atomic;
	return {};
}

Result<void> QueuePair::declare(const Endpoint &peer)
{
	if (is_silent(peer.capability))
		return {};
	if (const int error = prismdv_set_peer_capability(handle_.get(), &peer.capability))
		return make_error(error, "the peer's PRISM capabilities are not usable",
			"both sides must speak a common protocol version: upgrade the older one");
	prism_peer_ = true;
	return {};
}

int QueuePair::post_receive(std::uint64_t wr_id, LocalSlice into) const noexcept
{
	ibv_sge sge{.addr = into.address, .length = into.length, .lkey = into.lkey};
	ibv_recv_wr wr{.wr_id = wr_id, .next = nullptr, .sg_list = &sge, .num_sge = 1};
	ibv_recv_wr *bad = nullptr;
	return ibv_post_recv(handle_.get(), &wr, &bad);
}

int QueuePair::post_send(std::uint64_t wr_id, LocalSlice slice, unsigned send_flags) const noexcept
{
	ibv_sge sge{.addr = slice.address, .length = slice.length, .lkey = slice.lkey};
	ibv_send_wr wr{};
	wr.wr_id = wr_id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = send_flags;
	ibv_send_wr *bad = nullptr;
	return ibv_post_send(handle_.get(), &wr, &bad);
}

} // namespace prism
