/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "ucm_messages.hpp"

#include <endian.h>
#include <infiniband/ib.h>

#include <algorithm>

namespace prism::cm
{

namespace
{

/* Values that the kernel leaves to the subnet manager, which Ethernet does not have. */
constexpr std::uint8_t hop_limit = 64;
constexpr std::uint16_t default_pkey = 0xffff;
/** 0.64 ms. The kernel says 0, which means 655 ms. */
constexpr std::uint8_t min_rnr_timer = 12;
/* Our device has no index among the kernel's. */
constexpr std::uint32_t no_device_index = 0xffffffff;

void copy_gid(const Address &from, std::uint8_t *to)
{
	std::copy(from.gid.begin(), from.gid.end(), to);
}

bool has_acknowledges(std::uint8_t qp_type)
{
	return qp_type == rc;
}

template <typename Param>
void fill_private_data(Param &param, const Event &event)
{
	const std::size_t size =
		std::min({event.private_data.size(), sizeof(param.private_data), std::size_t{UINT8_MAX}});
	std::copy_n(event.private_data.begin(), size, param.private_data);
	param.private_data_len = static_cast<std::uint8_t>(size);
}

} // namespace

std::optional<SocketName> to_name(const __kernel_sockaddr_storage &from)
{
	soft::SocketAddress address{};
	std::memcpy(&address, &from, sizeof(address));
	const bool is_ipv6 = address.any.sa_family == AF_INET6;
	if (!is_ipv6 && address.any.sa_family != AF_INET)
		return {};
	return SocketName{soft::address_from(address.any), address.port(), is_ipv6 ? address.v6.sin6_scope_id : 0};
}

std::uint16_t put_name(const std::optional<SocketName> &name, __kernel_sockaddr_storage &to)
{
	if (!name)
		return 0;
	const soft::SocketAddress address = soft::to_socket_address(name->address, name->port, name->scope);
	std::memcpy(&to, &address, address.size());
	return static_cast<std::uint16_t>(address.size());
}

std::uint16_t put_gid(const Address &gid, __kernel_sockaddr_storage &to)
{
	sockaddr_ib address{};
	address.sib_family = AF_IB;
	address.sib_pkey = htobe16(default_pkey);
	copy_gid(gid, address.sib_addr.sib_raw);
	std::memcpy(&to, &address, sizeof(address));
	return sizeof(address);
}

void put_device(const std::optional<Device> &device, rdma_ucm_query_addr_resp &to)
{
	to.pkey = htobe16(default_pkey);
	to.ibdev_index = no_device_index;
	if (!device)
		return;
	to.node_guid = device->guid;
	to.port_num = 1;
}

PathResponse describe_path(const Path &path, std::uint8_t mtu, std::uint8_t traffic_class)
{
	constexpr std::uint8_t exactly = 2 << 6; /* the selector before MTU, rate and life time */
	PathResponse response{};
	response.count = 1;
	response.path.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
	ibv_path_record &record = response.path.path;
	record.service_id = htobe64(path.service_id);
	copy_gid(path.local, record.sgid.raw);
	copy_gid(path.remote, record.dgid.raw);
	record.flowlabel_hoplimit = htobe32(hop_limit);
	record.tclass = traffic_class;
	record.reversible_numpath = 1 << 7 | 1;
	record.pkey = htobe16(default_pkey);
	record.mtu = exactly | mtu;
	record.rate = exactly | IBV_RATE_25_GBPS;
	record.packetlifetime = exactly | packet_life_time;
	return response;
}

void fill_address(ib_uverbs_ah_attr &attr, const Path &path, const Device &device)
{
	copy_gid(path.remote, attr.grh.dgid);
	attr.grh.sgid_index = static_cast<std::uint8_t>(device.sgid_index);
	attr.grh.hop_limit = hop_limit;
	attr.is_global = 1;
	attr.port_num = 1;
}

std::uint8_t qp_type_of(PortSpace space, std::uint8_t said)
{
	if (space == PortSpace::udp)
		return ud;
	return space == PortSpace::ib && (said == uc || said == ud) ? said : rc;
}

void to_init(ib_uverbs_qp_attr &attr, std::uint8_t qp_type)
{
	attr.qp_attr_mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	attr.port_num = 1;
	if (qp_type == ud) {
		attr.qp_attr_mask |= IBV_QP_QKEY;
		attr.qkey = default_udp_qkey;
		return;
	}
	attr.qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (has_acknowledges(qp_type))
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
}

void to_ready_to_receive(
	ib_uverbs_qp_attr &attr, std::uint8_t qp_type, const Path &path, const Endpoint &peer, const Device &device)
{
	attr.qp_attr_mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	fill_address(attr.ah_attr, path, device);
	attr.path_mtu = peer.path_mtu;
	attr.dest_qp_num = peer.qpn;
	if (!has_acknowledges(qp_type))
		return;
	attr.qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	attr.max_dest_rd_atomic = peer.initiator_depth;
	attr.min_rnr_timer = min_rnr_timer;
}

void to_ready_to_send(ib_uverbs_qp_attr &attr, std::uint8_t qp_type, const Endpoint &peer)
{
	attr.qp_attr_mask |= IBV_QP_SQ_PSN;
	attr.sq_psn = peer.starting_psn;
	if (!has_acknowledges(qp_type))
		return;
	attr.qp_attr_mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	attr.timeout = peer.ack_timeout;
	attr.retry_cnt = peer.retry_count;
	attr.rnr_retry = peer.rnr_retry_count;
	attr.max_rd_atomic = peer.responder_resources;
}

void fill_connection(rdma_ucm_conn_param &param, const Event &event)
{
	fill_private_data(param, event);
	param.qp_num = event.peer.qpn;
	param.qkey = event.peer.qkey;
	param.responder_resources = event.peer.initiator_depth;
	param.initiator_depth = event.peer.responder_resources;
	param.flow_control = event.peer.flow_control;
	param.retry_count = event.peer.retry_count;
	param.rnr_retry_count = event.peer.rnr_retry_count;
	param.srq = event.peer.srq;
}

void fill_datagram(rdma_ucm_ud_param &param, const Event &event, const Path &path, const Device &device)
{
	fill_private_data(param, event);
	param.qp_num = event.peer.qpn;
	param.qkey = event.peer.qkey;
	fill_address(param.ah_attr, path, device);
}

} // namespace prism::cm
