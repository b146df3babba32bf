/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "loop.hpp"

#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <netinet/in.h>

#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::uint8_t port = 1;
constexpr std::uint8_t reads_at_once = 16;

sockaddr_storage loopback()
{
	sockaddr_storage address{};
	auto &ipv4 = reinterpret_cast<sockaddr_in &>(address);
	ipv4.sin_family = AF_INET;
	ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

QueuePair create_qp(ibv_pd *pd, ibv_cq *cq, std::uint32_t depth)
{
	ibv_qp_init_attr attributes{};
	attributes.send_cq = attributes.recv_cq = cq;
	attributes.qp_type = IBV_QPT_RC;
	attributes.cap = {depth, 1, 1, 1, 0};
	QueuePair qp(ibv_create_qp(pd, &attributes));
	if (!qp)
		throw system_error(fmt::format("cannot create a queue pair of {} requests", depth), errno,
			"reduce --tx-depth, --threads or --idle");
	init_qp(qp.get(), port);
	return qp;
}

} // namespace

Device::Device(const std::string &name, Carrier carrier)
	: context_(open_device(name, loopback(), Progress::thread, carrier)),
	  gid_(choose_gid(context_.get(), port, {}, loopback())), mtu_(port_mtu(context_.get(), port, 0))
{
}

ProtectionDomain Device::allocate_pd() const
{
	ProtectionDomain pd(ibv_alloc_pd(context_.get()));
	if (!pd)
		throw system_error("cannot allocate a protection domain", errno);
	return pd;
}

CompletionQueue Device::create_cq(std::uint32_t entries) const
{
	CompletionQueue cq(ibv_create_cq(context_.get(), static_cast<int>(entries), nullptr, nullptr, 0));
	if (!cq)
		throw system_error(fmt::format("cannot create a completion queue of {} entries", entries), errno);
	return cq;
}

Path Device::path() const
{
	return {.port = port,
		.gid_index = gid_.index,
		.peer_gid = gid_.gid,
		.mtu = mtu_,
		.responder_depth = reads_at_once,
		.initiator_depth = reads_at_once,
		.timeout = 14};
}

ConnectedPair::ConnectedPair(ibv_pd *pd, ibv_cq *cq, const Path &path, std::uint32_t depth)
	: from(create_qp(pd, cq, depth)), to(create_qp(pd, cq, 1))
{
	connect_qp(from.get(), 0, {to->qp_num, 0}, path);
	connect_qp(to.get(), 0, {from->qp_num, 0}, path);
}

Loop::Loop(const Device &device, std::uint32_t size, std::uint32_t depth)
	: size_(size), depth_(depth), arena_(std::size_t{2} * size), pd_(device.allocate_pd()),
	  cq_(device.create_cq(depth)),
	  region_(register_memory(pd_.get(), arena_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)),
	  qps_(pd_.get(), cq_.get(), device.path(), depth)
{
}

void Loop::start()
{
	for (std::uint32_t i = 0; i < depth_; i++)
		post();
}

void Loop::post()
{
	const auto base = reinterpret_cast<std::uint64_t>(arena_.data());
	ibv_sge to{base, size_, region_->lkey};
	ibv_send_wr request{};
	request.sg_list = &to;
	request.num_sge = 1;
	request.opcode = IBV_WR_RDMA_READ;
	request.send_flags = IBV_SEND_SIGNALED;
	request.wr.rdma = {base + size_, region_->rkey};
	ibv_send_wr *bad = nullptr;
	if (const int error = ibv_post_send(qps_.from.get(), &request, &bad))
		throw system_error("cannot post a READ", error);
}

std::uint32_t Loop::advance()
{
	std::array<ibv_wc, 16> done;
	const int count = ibv_poll_cq(cq_.get(), static_cast<int>(done.size()), done.data());
	for (int i = 0; i < count; i++) {
		if (done[i].status != IBV_WC_SUCCESS)
			throw Error(fmt::format("a READ failed: {}", ibv_wc_status_str(done[i].status)));
		post();
	}
	return count > 0 ? static_cast<std::uint32_t>(count) : 0;
}

} // namespace prism::perftest
