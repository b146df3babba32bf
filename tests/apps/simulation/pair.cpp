/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "pair.hpp"

#include "verbs/post_send.hpp"
#include "verbs/prism_builders.hpp"

namespace simulation
{

namespace
{

struct SimulatedDevice {
	using Object = PostingObject;
	using Request = soft::SendRequest;
	static constexpr std::uint32_t max_message = soft::max_message;
	static constexpr bool has_atomic_write = false;

	static bool may_write_atomically(const Object &) { return false; }
	/* No locking: one thread runs a simulation. */
	struct Lock {
	};
	static Lock hold(Object &) { return {}; }
	static void suspend(Object &, Lock &) {}
	static Lock resume(Object &) { return {}; }
	static soft::SendQueue &queue(Object &object) { return object.endpoint->qp.sq; }
	static bool may_post(const Object &object)
	{
		return object.endpoint->qp.state == IBV_QPS_RTS || object.endpoint->qp.state == IBV_QPS_ERR;
	}
	static prism::PostingRules rules(const Object &object)
	{
		const soft::QueuePair &qp = object.endpoint->qp;
		return {qp.prism, qp.sq_signal_all, qp.state == IBV_QPS_ERR, qp.peer_features, qp.attr.mtu,
			qp.attr.max_rd_atomic, qp.qpn, qp.type};
	}
	static void set_address(const Object &, Request &, const ibv_send_wr &) {}

	static int submit(Object &object, std::uint32_t, Lock &)
	{
		soft::QueuePair &qp = object.endpoint->qp;
		if (qp.state == IBV_QPS_ERR)
			object.endpoint->node.engine.flush(qp);
		else
			object.endpoint->node.engine.posted(qp);
		return 0;
	}
};

} // namespace

Pair::Pair(test::Node &node, const test::EndpointOptions &options) : endpoint(node, options)
{
	object_.endpoint = &endpoint;
	prism::QpExBuilders<SimulatedDevice>::install(object_);
	prism::PrismBuilders<SimulatedDevice>::install(object_);
}

void Pair::connect(test::Endpoint &server, const test::ConnectOptions &options)
{
	const bool to_itself = &server == &endpoint;
	test::ConnectOptions mine = options;
	if (to_itself)
		mine.recv_psn = mine.send_psn;
	endpoint.connect(server, mine);
	std::swap(mine.send_psn, mine.recv_psn);
	if (!to_itself)
		server.connect(endpoint, mine);
}

int Pair::post(const prism::Chain &chain, std::uint64_t wr_id) noexcept
{
	return chain.post(&object_.base.qp_ex, &object_.dv.base, wr_id);
}

int Pair::post(std::span<const prism::Chain::Posting> postings) noexcept
{
	return prism::Chain::post(&object_.base.qp_ex, &object_.dv.base, postings);
}

int Pair::post(ibv_send_wr *first) noexcept
{
	ibv_send_wr *bad = nullptr;
	return prism::PostSend<SimulatedDevice>::post_send(&object_.base.qp, first, &bad);
}

int Pair::send(std::span<const std::byte> bytes, std::uint64_t wr_id, bool signaled) noexcept
{
	ibv_sge sge{reinterpret_cast<std::uintptr_t>(bytes.data()), static_cast<std::uint32_t>(bytes.size()), 0};
	ibv_send_wr wr{};
	wr.wr_id = wr_id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_INLINE | (signaled ? unsigned{IBV_SEND_SIGNALED} : 0u);
	return post(&wr);
}

bool Pair::poll(prism::Completion &completion) noexcept
{
	ibv_wc wc;
	if (endpoint.send_cq.poll(1, &wc) != 1)
		return false;
	completion = prism::to_completion(wc);
	return true;
}

} // namespace simulation
