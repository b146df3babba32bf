/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "node.hpp"

#include <algorithm>
#include <cstring>

namespace prism::test
{

using soft::QueuePair;
using soft::SendRequest;
using soft::Sge;

std::uint8_t *Outbox::begin(const soft::Address &peer, std::size_t size)
{
	if (size_ == packets_.size())
		packets_.emplace_back();
	Packet &packet = packets_[size_];
	packet.to = peer;
	packet.bytes.resize(size);
	return packet.bytes.data();
}

soft::Address address_of(std::uint8_t host)
{
	return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, host}};
}

Endpoint::Endpoint(Node &of, const EndpointOptions &options)
	: node(of), send_cq(options.cq_capacity, [] {}), recv_cq(options.cq_capacity, [] {}),
	  qp(of.engine.take_qpn(), options.type, options.pd, options.prism,
		  soft::SendQueue(options.max_send_wr, options.max_sge, options.max_inline, options.prism),
		  soft::ReceiveQueue(options.max_recv_wr, options.max_sge))
{
	qp.send_cq = &send_cq;
	qp.recv_cq = &recv_cq;
	node.engine.add_qp(qp);
}

Endpoint::~Endpoint()
{
	node.engine.remove_qp(qp);
}

void Endpoint::connect(const soft::Address &peer, std::uint32_t qpn, const ConnectOptions &options)
{
	node.engine.reset_qp(qp);
	qp.attr.mtu = options.mtu;
	qp.attr.dest_qpn = qpn;
	qp.attr.peer = peer;
	qp.attr.access = options.access;
	qp.attr.max_rd_atomic = options.max_rd_atomic;
	qp.attr.ack_timeout = options.ack_timeout;
	qp.attr.retry_count = options.retry_count;
	qp.attr.rnr_retry = options.rnr_retry;
	qp.attr.min_rnr_timer = options.min_rnr_timer;
	qp.attr.peer_is_ours = options.peer_is_ours;
	qp.peer_features = options.bundles ? ~0ull : ~peer_bundles;
	qp.req.next_psn = qp.req.unacked = options.send_psn;
	qp.req.retries = options.retry_count;
	qp.req.rnr_retries = options.rnr_retry;
	qp.resp.expected_psn = options.recv_psn;
	soft::Engine::keep_answers(qp, options.max_rd_atomic);
	qp.state = IBV_QPS_RTS;
}

SendRequest *Endpoint::next()
{
	if (!qp.sq.room())
		return nullptr;
	SendRequest &request = qp.sq.at(qp.sq.tail);
	request = {};
	request.signaled = true;
	return &request;
}

void Endpoint::post(SendRequest &request, std::span<const Sge> sges)
{
	request.num_sge = static_cast<std::uint32_t>(sges.size());
	request.length = 0;
	for (const Sge &sge : sges)
		request.length += sge.length;
	std::copy(sges.begin(), sges.end(), qp.sq.sges(request).begin());
	qp.sq.tail++;
	node.engine.posted(qp);
}

void Endpoint::post_inline(SendRequest &request, std::span<const std::uint8_t> data)
{
	request.inline_data = true;
	request.length = static_cast<std::uint32_t>(data.size());
	if (!data.empty())
		std::memcpy(qp.sq.inline_bytes(request).data(), data.data(), data.size());
	qp.sq.tail++;
	node.engine.posted(qp);
}

void set_prism(
	Endpoint &endpoint, SendRequest &request, const prism_request &fields, std::span<const std::uint8_t> operands)
{
	static constexpr ibv_wc_opcode opcodes[] = {
		IBV_WC_RDMA_READ, IBV_WC_RDMA_WRITE, IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD};
	request.kind = soft::SendKind::prism;
	request.wc_opcode = opcodes[fields.op];
	request.prism = fields;
	if (!operands.empty())
		std::memcpy(endpoint.qp.sq.operands(request), operands.data(), operands.size());
}

} // namespace prism::test
