/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The state machine of a queue pair and how requests fail (IBTA 10.3, 10.8, 9.7.5). */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

class States : public EachVariant
{
};

TEST_P(States, IllegalTransitionsAreRefused)
{
	qp = create_qp(client);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_RESET);
	for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD})
		EXPECT_EQ(move_to(qp.get(), state), EINVAL) << "to " << state << " without its attributes";
	ibv_qp_attr attr = init_attr(0);
	attr.port_num = 2;
	constexpr int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, mask), EINVAL);
	attr.port_num = 1;
	EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, mask), 0);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_INIT);
	EXPECT_EQ(move_to(qp.get(), IBV_QPS_RTS), EINVAL);
	EXPECT_EQ(move_to(qp.get(), IBV_QPS_ERR), 0);
	EXPECT_EQ(move_to(qp.get(), IBV_QPS_INIT), EINVAL);
	EXPECT_EQ(move_to(qp.get(), IBV_QPS_RESET), 0);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_RESET);
}

TEST_P(States, CurrentStateIsCompared)
{
	connect();
	ibv_qp_attr attr{};
	attr.cur_qp_state = IBV_QPS_SQD;
	if (!devices.kernel) { /* rxe of some kernels does not check it */
		EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_CUR_STATE), EINVAL);
	}
	attr.cur_qp_state = IBV_QPS_RTS;
	EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_CUR_STATE), 0);
}

TEST_P(States, PostingNeedsAStateThatTakesIt)
{
	qp = create_qp(client);
	ibv_recv_wr recv{}, *bad_recv = nullptr;
	EXPECT_EQ(post({standard(IBV_WR_SEND, {})}), EINVAL);
	EXPECT_EQ(ibv_post_recv(qp.get(), &recv, &bad_recv), EINVAL);
	EXPECT_EQ(bad_recv, &recv);
	ibv_qp_attr attr = init_attr(0);
	ASSERT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	EXPECT_EQ(post({standard(IBV_WR_SEND, {})}), EINVAL);
	EXPECT_EQ(ibv_post_recv(qp.get(), &recv, &bad_recv), 0);
}

TEST_P(States, QueryGivesBackWhatWasSet)
{
	connect();
	ibv_qp_attr attr;
	ibv_qp_init_attr init;
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_RATE_LIMIT - 1, &init), 0);
	EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
	EXPECT_EQ(attr.path_mtu, IBV_MTU_1024);
	EXPECT_EQ(attr.dest_qp_num, peer->qp_num);
	EXPECT_EQ(attr.max_rd_atomic, 16);
	EXPECT_EQ(attr.max_dest_rd_atomic, 16);
	EXPECT_EQ(attr.timeout, 14);
	EXPECT_EQ(attr.retry_cnt, 7);
	EXPECT_GE(init.cap.max_send_wr, 64u);
	EXPECT_GE(init.cap.max_inline_data, 256u);
	EXPECT_EQ(init.qp_type, IBV_QPT_RC);
}

TEST_P(States, ErrorFlushesBothQueues)
{
	connect();
	post_recv(qp.get(), client.memory.sge(0, 8), 5);
	ASSERT_EQ(move_to(qp.get(), IBV_QPS_ERR), 0);
	auto wc = next(client.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->wr_id, 5u);
	EXPECT_EQ(wc->status, IBV_WC_WR_FLUSH_ERR);
	ASSERT_EQ(post({prism_read({client.memory.sge(0, 8)}, server.memory).unsignaled().id(6)}), 0);
	wc = next(client.cq.get());
	ASSERT_TRUE(wc) << "a flushed request completes even if it is not signalled";
	EXPECT_EQ(wc->wr_id, 6u);
	EXPECT_EQ(wc->status, IBV_WC_WR_FLUSH_ERR);
	post_recv(qp.get(), client.memory.sge(0, 8), 7);
	wc = next(client.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->wr_id, 7u);
}

/** A peer acknowledges, and leaves at once. Its packets have arrived, even if this process has not read them yet. */
TEST_P(States, ErrorFlushesNothingThatIsAcknowledged)
{
	if (devices.kernel)
		return skip("packets come to the module by themselves");
	for (std::uint64_t i = 0; i < 50; i++) {
		connect();
		post_recv(peer.get(), server.memory.sge(0, 8), i);
		ASSERT_EQ(post({standard(IBV_WR_SEND, {client.memory.sge(0, 8)}).id(i)}), 0);
		ibv_wc received{}, sent{};
		while (ibv_poll_cq(server.cq.get(), 1, &received) == 0)
			;
		ASSERT_EQ(received.status, IBV_WC_SUCCESS);
		ASSERT_EQ(move_to(peer.get(), IBV_QPS_ERR), 0);
		ASSERT_EQ(move_to(qp.get(), IBV_QPS_ERR), 0);
		ASSERT_EQ(ibv_poll_cq(client.cq.get(), 1, &sent), 1);
		EXPECT_EQ(sent.wr_id, i);
		ASSERT_EQ(sent.status, IBV_WC_SUCCESS) << "time " << i;
		disconnect();
	}
}

TEST_P(States, ResetForgetsRequestsAndCompletions)
{
	connect();
	ASSERT_EQ(post({standard(IBV_WR_SEND, {})}), 0);
	disconnect();
	EXPECT_FALSE(next(client.cq.get(), 2));
	connect();
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory)), 0u);
}

TEST_P(States, ReceiverNotReadyIsRetriedForEver)
{
	connect();
	ASSERT_EQ(post({standard(IBV_WR_SEND, {client.memory.sge(0, 8)})}), 0);
	EXPECT_FALSE(next(client.cq.get(), 20));
	EXPECT_GT(server.counter("tx_rnr_nak"), 1u);
	post_recv(peer.get(), server.memory.sge(0, 8));
	const auto wc = next(client.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
}

TEST_P(States, ReceiverNotReadyEndsWhenRetriesDo)
{
	PathOptions options;
	options.rnr_retry = 2;
	connect(options);
	EXPECT_EQ(run(standard(IBV_WR_SEND, {})).status, IBV_WC_RNR_RETRY_EXC_ERR);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_ERR);
	EXPECT_EQ(client.counter("rnr_exceeded"), 1u);
	EXPECT_EQ(client.counter("rx_rnr_nak"), 3u);
}

TEST_P(States, VanishedPeerEndsInRetryExceeded)
{
	PathOptions options;
	options.timeout = 8;
	options.retry = 2;
	connect(options);
	peer.reset();
	for (const Op &op : {prism_read({client.memory.sge(0, 8)}, server.memory),
		     standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory)}) {
		EXPECT_EQ(run(op).status, IBV_WC_RETRY_EXC_ERR);
		peer = create_qp(server);
		ASSERT_EQ(move_to(qp.get(), IBV_QPS_RESET), 0);
		connect(options);
		peer.reset();
	}
	EXPECT_EQ(client.counter("retry_exceeded"), 2u);
	if (client.counts("timeouts")) {
		EXPECT_GE(client.counter("timeouts"), 4u);
	}
	if (server.counts("rx_unknown_qp")) {
		EXPECT_TRUE(pump_until([this] { return server.counter("rx_unknown_qp") >= 6; }));
	}
}

TEST_P(States, FailedRequestRaisesNoEventAtTheRequester)
{
	connect();
	Op op = prism_read({client.memory.sge(0, 8)}, server.memory);
	op.rkey ^= 1;
	expect_fault(op, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "rx_access_error");
	EXPECT_FALSE(async_event(client, 2));
}

INSTANTIATE_TEST_SUITE_P(Each, States, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
