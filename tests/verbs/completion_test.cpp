/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues, their events, and shared receive queues (IBTA 11.4.2, 10.2.9). */
#include "harness.hpp"

#include <poll.h>

#include <cerrno>

namespace verbs_test
{
namespace
{

class Completions : public EachVariant
{
protected:
	bool event_within(ibv_comp_channel *channel, int milliseconds)
	{
		return pump_until(
			[channel] {
				pollfd fd{channel->fd, POLLIN, 0};
				return ::poll(&fd, 1, 0) == 1;
			},
			milliseconds);
	}
	void take_event(ibv_comp_channel *channel, const ibv_cq *expected)
	{
		ASSERT_TRUE(event_within(channel, 5000));
		ibv_cq *cq;
		void *cq_context;
		ASSERT_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
		EXPECT_EQ(cq, expected);
		ibv_ack_cq_events(cq, 1);
	}
};

TEST_P(Completions, ArmedQueueRaisesOneEvent)
{
	const Owned<ibv_comp_channel> channel(prismdv_create_comp_channel(client.context.get()));
	const Owned<ibv_cq> cq(ibv_create_cq(client.context.get(), 16, nullptr, channel.get(), 0));
	QpOptions options;
	options.send_cq = cq.get();
	qp = create_qp(client, options);
	connect();
	ASSERT_EQ(post({prism_read({}, server.memory)}), 0);
	ASSERT_TRUE(next(cq.get()));
	EXPECT_FALSE(event_within(channel.get(), 2)) << "not armed";
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	ASSERT_EQ(post({prism_read({}, server.memory), prism_read({}, server.memory)}), 0);
	take_event(channel.get(), cq.get());
	EXPECT_TRUE(next(cq.get()));
	EXPECT_TRUE(next(cq.get()));
	EXPECT_FALSE(event_within(channel.get(), 2)) << "one for each time it is armed";
	qp.reset();
}

TEST_P(Completions, SolicitedOnlyWaitsForASolicitedMessageOrAnError)
{
	const Owned<ibv_comp_channel> channel(prismdv_create_comp_channel(server.context.get()));
	const Owned<ibv_cq> cq(ibv_create_cq(server.context.get(), 16, nullptr, channel.get(), 0));
	QpOptions options;
	options.recv_cq = cq.get();
	peer = create_qp(server, options);
	connect();
	for (int i = 0; i < 3; i++)
		post_recv(peer.get(), server.memory.sge(0, 64));
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 1), 0);
	EXPECT_EQ(run(standard(IBV_WR_SEND, {})).status, IBV_WC_SUCCESS);
	EXPECT_FALSE(event_within(channel.get(), 2));
	EXPECT_EQ(run(standard(IBV_WR_SEND, {}).with(IBV_SEND_SOLICITED)).status, IBV_WC_SUCCESS);
	take_event(channel.get(), cq.get());
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 1), 0);
	ASSERT_EQ(move_to(peer.get(), IBV_QPS_ERR), 0);
	take_event(channel.get(), cq.get());
	peer.reset();
}

TEST_P(Completions, ArmingFindsACompletionThatNobodyPolled)
{
	if (devices.kernel)
		GTEST_SKIP() << "rxe leaves it to the program to poll again after arming";
	const Owned<ibv_comp_channel> channel(prismdv_create_comp_channel(server.context.get()));
	const Owned<ibv_cq> cq(ibv_create_cq(server.context.get(), 16, nullptr, channel.get(), 0));
	QpOptions options;
	options.recv_cq = cq.get();
	peer = create_qp(server, options);
	connect();
	for (int i = 0; i < 3; i++)
		post_recv(peer.get(), server.memory.sge(0, 64));

	EXPECT_EQ(run(standard(IBV_WR_SEND, {})).status, IBV_WC_SUCCESS);
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 1), 0);
	EXPECT_FALSE(event_within(channel.get(), 2)) << "not solicited";
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	take_event(channel.get(), cq.get());
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	EXPECT_FALSE(event_within(channel.get(), 2)) << "one event for each completion";
	EXPECT_TRUE(next(cq.get()));

	EXPECT_EQ(run(standard(IBV_WR_SEND, {})).status, IBV_WC_SUCCESS);
	take_event(channel.get(), cq.get());
	EXPECT_EQ(run(standard(IBV_WR_SEND, {}).with(IBV_SEND_SOLICITED)).status, IBV_WC_SUCCESS);
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 1), 0);
	take_event(channel.get(), cq.get());
	EXPECT_TRUE(next(cq.get()));
	EXPECT_TRUE(next(cq.get()));
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	EXPECT_FALSE(event_within(channel.get(), 2)) << "all polled";
	peer.reset();
}

TEST_P(Completions, OverflowIsAnAsynchronousError)
{
	const Owned<ibv_cq> cq(ibv_create_cq(client.context.get(), 1, nullptr, nullptr, 0));
	QpOptions options;
	options.send_cq = cq.get();
	qp = create_qp(client, options);
	connect();
	ASSERT_EQ(post({prism_read({}, server.memory), prism_read({}, server.memory)}), 0);
	EXPECT_EQ(async_event(client), IBV_EVENT_CQ_ERR);
	if (client.counts("cq_overflows")) {
		EXPECT_EQ(client.counter("cq_overflows"), 1u);
	}
	qp.reset();
}

TEST_P(Completions, ResizeKeepsWhatIsThere)
{
	connect();
	const Owned<ibv_cq> cq(ibv_create_cq(client.context.get(), 4, nullptr, nullptr, 0));
	QpOptions options;
	options.send_cq = cq.get();
	disconnect();
	qp = create_qp(client, options);
	connect();
	for (std::uint64_t i = 0; i < 4; i++)
		ASSERT_EQ(post({prism_read({}, server.memory).id(i)}), 0);
	const auto answers = [&] {
		return client.counter("rx_packets") - client.counter("rx_bundles") + client.counter("rx_bundled");
	};
	ASSERT_TRUE(pump_until([&] { return server.counter("prism_reads") == 4 && answers() >= 4; }));
	EXPECT_FALSE(async_event(client, 5));
	EXPECT_EQ(ibv_resize_cq(cq.get(), 2), EINVAL) << "four are in it";
	ASSERT_EQ(ibv_resize_cq(cq.get(), 8), 0);
	EXPECT_GE(cq->cqe, 8);
	for (std::uint64_t i = 0; i < 4; i++) {
		const auto wc = next(cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, i);
	}
	qp.reset();
}

TEST_P(Completions, ExtendedQueueReadsEveryField)
{
	ibv_cq_init_attr_ex attr{};
	attr.cqe = 16;
	attr.wc_flags = IBV_WC_STANDARD_FLAGS;
	const Owned<ibv_cq> cq(ibv_cq_ex_to_cq(ibv_create_cq_ex(client.context.get(), &attr)));
	auto *ex = reinterpret_cast<ibv_cq_ex *>(cq.get());
	QpOptions options;
	options.send_cq = cq.get();
	qp = create_qp(client, options);
	connect();
	ibv_poll_cq_attr poll_attr{};
	EXPECT_EQ(ibv_start_poll(ex, &poll_attr), ENOENT);
	const Cas8 miss{1, 2};
	ASSERT_EQ(post({prism_cas({}, server.memory, 0, miss.operands()).id(1),
			  prism_read({client.memory.sge(0, 4)}, server.memory).id(2)}),
		0);
	ASSERT_TRUE(pump_until([&] { return ibv_start_poll(ex, &poll_attr) == 0; }));
	EXPECT_EQ(ex->wr_id, 1u);
	EXPECT_EQ(ex->status, IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_wc_read_opcode(ex), IBV_WC_COMP_SWAP);
	EXPECT_EQ(ibv_wc_read_vendor_err(ex), std::uint32_t{PRISMDV_STATUS_CAS_MISS});
	EXPECT_EQ(ibv_wc_read_byte_len(ex), 8u);
	EXPECT_EQ(ibv_wc_read_qp_num(ex), qp->qp_num);
	ASSERT_TRUE(pump_until([&] { return ibv_next_poll(ex) == 0; }));
	EXPECT_EQ(ex->wr_id, 2u);
	EXPECT_EQ(ibv_wc_read_byte_len(ex), 4u);
	EXPECT_EQ(ibv_wc_read_vendor_err(ex), 0u);
	ibv_end_poll(ex);
	qp.reset();
}

TEST_P(Completions, SharedReceiveQueueServesTwoQueuePairs)
{
	ibv_srq_init_attr attr{nullptr, {8, 2, 0}};
	const Owned<ibv_srq> srq(ibv_create_srq(server.pd.get(), &attr));
	ASSERT_NE(srq, nullptr);
	for (std::uint64_t i = 0; i < 2; i++) {
		ibv_sge sge = server.memory.sge(i * 64, 64);
		ibv_recv_wr wr{i, nullptr, &sge, 1}, *bad;
		ASSERT_EQ(ibv_post_srq_recv(srq.get(), &wr, &bad), 0);
	}
	QpOptions options;
	options.srq = srq.get();
	peer = create_qp(server, options);
	connect();
	const Owned<ibv_qp> second = create_qp(client);
	Owned<ibv_qp> second_peer = create_qp(server, options);
	connect(second.get(), client, second_peer.get(), server);
	client.memory.put(0, "onetwo");
	EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, 3)})).status, IBV_WC_SUCCESS);
	ASSERT_EQ(post_to(second.get(), {standard(IBV_WR_SEND, {client.memory.sge(3, 3)})}), 0);
	ASSERT_TRUE(next(client.cq.get()));
	EXPECT_EQ(server.memory.text(0, 3), "one");
	EXPECT_EQ(server.memory.text(64, 3), "two");
	ibv_recv_wr wr{}, *bad;
	EXPECT_EQ(ibv_post_recv(peer.get(), &wr, &bad), EINVAL);
	EXPECT_EQ(ibv_destroy_srq(srq.get()), EBUSY);
	second_peer.reset();
	peer.reset();
}

INSTANTIATE_TEST_SUITE_P(Each, Completions, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
