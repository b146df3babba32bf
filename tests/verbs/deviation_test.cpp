/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Deviations of the userspace device from the specification or from most devices; docs/conformance.md gives the
 * reasons.
 */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

class Deviations : public Fabric
{
protected:
	Deviations()
	{
		if (devices.kernel)
			skip("this is about the userspace device");
	}

	[[nodiscard]] ibv_qp_init_attr init_of(ibv_qp_type type) const
	{
		ibv_qp_init_attr attr{};
		attr.send_cq = attr.recv_cq = client.cq.get();
		attr.cap = {4, 4, 1, 1, 0};
		attr.qp_type = type;
		return attr;
	}
	[[nodiscard]] Owned<ibv_qp> datagram_qp() const
	{
		ibv_qp_init_attr init = init_of(IBV_QPT_UD);
		Owned<ibv_qp> made(ibv_create_qp(client.pd.get(), &init));
		ready_for_datagrams(made.get());
		return made;
	}
	static ibv_qp_attr attr_of(ibv_qp *of)
	{
		ibv_qp_attr attr{};
		ibv_qp_init_attr init;
		EXPECT_EQ(ibv_query_qp(of, &attr, ~0, &init), 0);
		return attr;
	}
	/** Moves it to RTR again, with the attributes that it had. */
	static void go_to_rtr(ibv_qp *again, ibv_qp_attr attr)
	{
		attr.qp_state = IBV_QPS_INIT;
		EXPECT_EQ(ibv_modify_qp(
				  again, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
			0);
		attr.qp_state = IBV_QPS_RTR;
		EXPECT_EQ(ibv_modify_qp(again, &attr,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			0);
	}
	[[nodiscard]] ibv_ah_attr path_to_itself() const
	{
		int source = 0;
		ibv_ah_attr path{};
		path.is_global = path.port_num = 1;
		path.grh.dgid = client.gid(false, source);
		path.grh.sgid_index = static_cast<std::uint8_t>(source);
		return path;
	}
};

TEST_F(Deviations, FailedDatagramEndsInErrorNotInSendQueueError)
{
	const Owned<ibv_qp> sender = datagram_qp();
	ibv_ah_attr path = path_to_itself();
	ibv_ah *ah = ibv_create_ah(client.pd.get(), &path);
	ASSERT_NE(ah, nullptr);
	ibv_sge unknown{client.memory.at(), 8, client.memory.key() ^ 1};
	ibv_send_wr wr{}, *bad;
	wr.sg_list = &unknown;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.wr.ud = {ah, sender->qp_num, 0};
	ASSERT_EQ(ibv_post_send(sender.get(), &wr, &bad), 0);
	const auto wc = next(client.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_LOC_PROT_ERR);
	EXPECT_EQ(state_of(sender.get()), IBV_QPS_ERR);
	EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(Deviations, FirstMessageInRtrRaisesNoEvent)
{
	connect();
	ibv_qp_attr near = attr_of(qp.get()), far = attr_of(peer.get());
	disconnect();
	go_to_rtr(qp.get(), near);
	go_to_rtr(peer.get(), far);
	near.qp_state = IBV_QPS_RTS;
	ASSERT_EQ(ibv_modify_qp(qp.get(), &near,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				  IBV_QP_MAX_QP_RD_ATOMIC),
		0);
	EXPECT_EQ(run(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory)).status, IBV_WC_SUCCESS);
	EXPECT_EQ(state_of(peer.get()), IBV_QPS_RTR);
	EXPECT_FALSE(async_event(server, 2));
}

TEST_F(Deviations, QueuePairsOutliveAnOverflow)
{
	const Owned<ibv_cq> cq(ibv_create_cq(client.context.get(), 1, nullptr, nullptr, 0));
	QpOptions options;
	options.send_cq = cq.get();
	qp = create_qp(client, options);
	connect();
	ASSERT_EQ(post({prism_read({}, server.memory), prism_read({}, server.memory)}), 0);
	EXPECT_EQ(async_event(client), IBV_EVENT_CQ_ERR);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_RTS);
	EXPECT_TRUE(next(cq.get())) << "what it held before";
	ASSERT_EQ(post({prism_read({}, server.memory).id(3)}), 0);
	const auto wc = next(cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->wr_id, 3u);
	qp.reset();
}

TEST_F(Deviations, RegionOfNoBytesNamesNothing)
{
	connect();
	ibv_pd *pd = server.pd.get();
	const Owned<ibv_mr> none(ibv_reg_mr_iova2(pd, server.memory.bytes(), 0, server.memory.at(), all_access));
	ASSERT_NE(none, nullptr);
	Op write = standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 1)}, &server.memory);
	write.rkey = none->rkey;
	EXPECT_EQ(run(write).status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Deviations, AddressOfARegionIsAsTheProgramChooses)
{
	connect();
	constexpr std::uint64_t odd = 0x1003;
	const Owned<ibv_mr> mr(ibv_reg_mr_iova2(server.pd.get(), server.memory.bytes(), 64, odd, all_access));
	ASSERT_NE(mr, nullptr) << "the kernel refuses addresses that differ within the page";
	client.memory.put(0, "odd");
	Op write = standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 3)}, &server.memory);
	write.rkey = mr->rkey;
	write.remote = odd + 8;
	EXPECT_EQ(run(write).status, IBV_WC_SUCCESS);
	EXPECT_EQ(server.memory.text(8, 3), "odd");
}

TEST_F(Deviations, WhatAnAddressVectorSaysOfTheNetworkIsKeptAndNotUsed)
{
	connect();
	ASSERT_EQ(move_to(qp.get(), IBV_QPS_SQD), 0);
	ibv_qp_attr attr{};
	attr.ah_attr = path_to_itself();
	attr.ah_attr.sl = 5;
	attr.ah_attr.static_rate = IBV_RATE_10_GBPS;
	attr.ah_attr.grh.traffic_class = 0x68;
	attr.ah_attr.grh.flow_label = 77;
	attr.ah_attr.grh.hop_limit = 1;
	ASSERT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_AV), 0);
	ibv_qp_init_attr init;
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_AV, &init), 0);
	EXPECT_EQ(attr.ah_attr.sl, 5);
	EXPECT_EQ(attr.ah_attr.grh.traffic_class, 0x68);
}

TEST_F(Deviations, OtherServicesAreNotSupported)
{
	for (const ibv_qp_type type : {IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER}) {
		ibv_qp_init_attr init = init_of(type);
		errno = 0;
		EXPECT_EQ(ibv_create_qp(client.pd.get(), &init), nullptr);
		EXPECT_EQ(errno, EOPNOTSUPP) << type;
	}
	ibv_xrcd_init_attr xrcd{};
	ibv_parent_domain_init_attr parent{};
	ibv_wq_init_attr wq{};
	EXPECT_EQ(ibv_open_xrcd(client.context.get(), &xrcd), nullptr);
	EXPECT_EQ(ibv_alloc_parent_domain(client.context.get(), &parent), nullptr);
	EXPECT_EQ(ibv_create_wq(client.context.get(), &wq), nullptr);
	EXPECT_EQ(ibv_reg_mr_iova2(client.pd.get(), client.memory.bytes(), 64, 0, IBV_ACCESS_ON_DEMAND), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Deviations, QueuesOfQueuePairsKeepTheirSize)
{
	connect();
	ibv_qp_attr attr{};
	attr.cap = {128, 128, 1, 1, 0};
	EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_CAP), EINVAL);
	ibv_device_attr device;
	ASSERT_EQ(ibv_query_device(client.context.get(), &device), 0);
	EXPECT_FALSE(device.device_cap_flags & (IBV_DEVICE_RESIZE_MAX_WR | IBV_DEVICE_SRQ_RESIZE));
}

TEST_F(Deviations, DelayOfAnswersIsNotAnnounced)
{
	ibv_device_attr device;
	ASSERT_EQ(ibv_query_device(client.context.get(), &device), 0);
	EXPECT_EQ(device.local_ca_ack_delay, 0u);
}

/** The device is in each process: no part of it counts for all processes. */
TEST_F(Deviations, LimitsAreThoseOfAContext)
{
	const auto queues = [](const Host &host) {
		ibv_device_attr attr{};
		EXPECT_EQ(ibv_query_device(host.context.get(), &attr), 0);
		std::vector<Owned<ibv_srq>> all;
		ibv_srq_init_attr init{nullptr, {1, 1, 0}};
		while (ibv_srq *one = ibv_create_srq(host.pd.get(), &init))
			all.emplace_back(one);
		EXPECT_EQ(all.size(), static_cast<std::size_t>(attr.max_srq));
		return all;
	};
	const auto ours = queues(client), theirs = queues(server);
	EXPECT_NE(client.context, server.context);
}

TEST_F(Deviations, CapacityOfZeroIsOne)
{
	ibv_qp_init_attr init = init_of(IBV_QPT_RC);
	init.cap = {};
	const Owned<ibv_qp> made(ibv_create_qp(client.pd.get(), &init));
	ASSERT_NE(made, nullptr);
	EXPECT_EQ(init.cap.max_send_wr, 1u);
	EXPECT_EQ(init.cap.max_recv_sge, 1u);
}

TEST_F(Deviations, FlagsOfRequestsThatAreNotKnownAreIgnored)
{
	connect();
	EXPECT_EQ(run(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory)
				  .with(IBV_SEND_IP_CSUM | 1u << 20))
			  .status,
		IBV_WC_SUCCESS);
}

} // namespace
} // namespace verbs_test
