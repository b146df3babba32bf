/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/datagram/socket.hpp"

#include <cerrno>

namespace prism::rpc::datagram
{

namespace
{

constexpr std::uint8_t port = 1;
constexpr std::uint32_t queue_key = 0x50524d31;

} // namespace

Result<Address> Address::create(const ProtectionDomain &pd, const Endpoint &peer)
{
	const Result<int> index = pd.context().default_gid_index(port);
	if (!index)
		return index.error();
	ibv_ah_attr attr{};
	attr.is_global = 1;
	attr.grh.dgid = peer.gid;
	attr.grh.sgid_index = static_cast<std::uint8_t>(*index);
	attr.grh.hop_limit = 64;
	attr.port_num = port;
	ibv_ah *ah = ibv_create_ah(pd.raw(), &attr);
	if (!ah)
		return make_error(errno, "cannot address the peer's datagrams",
			"check that its address is reachable from this device's interface");
	return Address(ah, peer.qp_num);
}

Result<Socket> Socket::create(
	const ProtectionDomain &pd, const CompletionQueue &cq, std::uint32_t sends, std::uint32_t receives)
{
	ibv_qp_init_attr attr{};
	attr.qp_type = IBV_QPT_UD;
	attr.send_cq = cq.raw();
	attr.recv_cq = cq.raw();
	attr.cap.max_send_wr = sends;
	attr.cap.max_recv_wr = receives;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_sge = 1;
	attr.cap.max_inline_data = 256;
	ibv_qp *qp = ibv_create_qp(pd.raw(), &attr);
	if (!qp)
		return make_error(errno, "cannot create a datagram queue pair",
			"ask for smaller queues, or check the limits in ibv_devinfo -v");
	Socket made(pd, cq, qp, attr.cap.max_inline_data);
	if (Result<void> described = made.describe(); !described)
		return described.error();
	if (Result<void> started = made.start(); !started)
		return started.error();
	return made;
}

Result<void> Socket::describe()
{
	const Context &context = pd_.context();
	ibv_port_attr attr{};
	/* Call the function, not the macro, which needs the old layout of the attribute. */
	if (const int error = ibv_query_port(context.raw(), port, &attr))
		return make_error(error, "cannot query port 1 of " + context.name());
	const Result<int> index = context.default_gid_index(port);
	if (!index)
		return index.error();
	const Result<ibv_gid> gid = context.gid(port, *index);
	if (!gid)
		return gid.error();
	local_.capability = context.capability();
	local_.gid = *gid;
	local_.qp_num = number();
	local_.mtu = attr.active_mtu;
	return {};
}

Result<void> Socket::start()
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = port;
	attr.qkey = queue_key;
	int error = ibv_modify_qp(handle_.get(), &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	if (!error)
		error = ibv_modify_qp(handle_.get(), &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!error)
		error = ibv_modify_qp(handle_.get(), &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	if (error)
		return make_error(error, "cannot start a datagram queue pair");
	return {};
}

int Socket::send(const Address &to, std::uint64_t wr_id, LocalSlice slice) const noexcept
{
	ibv_sge sge{.addr = slice.address, .length = slice.length, .lkey = slice.lkey};
	ibv_send_wr wr{};
	wr.wr_id = wr_id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED | (slice.length <= inline_data_ ? unsigned{IBV_SEND_INLINE} : 0u);
	wr.wr.ud.ah = to.handle();
	wr.wr.ud.remote_qpn = to.qp_num();
	wr.wr.ud.remote_qkey = queue_key;
	ibv_send_wr *bad = nullptr;
	return ibv_post_send(handle_.get(), &wr, &bad);
}

int Socket::receive(std::uint64_t wr_id, LocalSlice into) const noexcept
{
	ibv_sge sge{.addr = into.address, .length = into.length, .lkey = into.lkey};
	ibv_recv_wr wr{.wr_id = wr_id, .next = nullptr, .sg_list = &sge, .num_sge = 1};
	ibv_recv_wr *bad = nullptr;
	return ibv_post_recv(handle_.get(), &wr, &bad);
}

void Socket::close() const noexcept
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_ERR;
	(void)ibv_modify_qp(handle_.get(), &attr, IBV_QP_STATE);
}

} // namespace prism::rpc::datagram
