/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Each fault of a request, and the statuses at both ends (IBTA 9.9.3, 11.6.2, 11.6.3), in the order of
 * docs/conformance.md.
 */
#include "harness.hpp"

namespace verbs_test
{
namespace
{

constexpr ibv_wc_status flushed = IBV_WC_WR_FLUSH_ERR;
constexpr std::nullopt_t no_event = std::nullopt;

/**
 * Outcome at the ends: the request, the next receive, and, if that does not report it, an event of the responder's
 * queue pair.
 */
struct Verdict {
	ibv_wc_status request;
	ibv_wc_status receive;
	std::optional<ibv_event_type> event;
};

class RequestErrors : public EachVariant
{
protected:
	RequestErrors() { connect(); }

	/** Posts two receives; the second one is flushed in any case. */
	void post_receives(const ibv_sge &sge)
	{
		for (std::uint64_t id = 1; id <= 2; id++)
			post_recv(peer.get(), sge, id);
	}

	void expect(const Op &op, const Verdict &verdict)
	{
		EXPECT_EQ(run(op).status, verdict.request);
		for (std::uint64_t id = 1; id <= 2; id++) {
			const auto wc = next(server.cq.get());
			ASSERT_TRUE(wc);
			EXPECT_EQ(wc->wr_id, id);
			EXPECT_EQ(wc->status, id == 1 ? verdict.receive : flushed) << ibv_wc_status_str(wc->status);
		}
		expect_event(verdict.event);
		EXPECT_FALSE(async_event(client, 0)) << "the request's completion tells";
	}

	void expect_event(const std::optional<ibv_event_type> &event)
	{
		EXPECT_TRUE(pump_until([this] { return state_of(peer.get()) == IBV_QPS_ERR; }));
		if (event) {
			EXPECT_EQ(async_event(server), event);
		}
		EXPECT_EQ(async_event(server, 2), no_event);
	}

	void again(const PathOptions &near = {}, const PathOptions &far = {})
	{
		disconnect();
		connect(near, far);
	}

	void share(ibv_srq *srq)
	{
		disconnect();
		peer.reset();
		QpOptions options;
		options.srq = srq;
		peer = create_qp(server, options);
		connect();
	}

	[[nodiscard]] Op write_with_immediate(
		const Region &target, std::uint32_t length = 8, std::size_t offset = 0) const
	{
		return standard(IBV_WR_RDMA_WRITE_WITH_IMM, {client.memory.sge(0, length)}, &target, offset);
	}
	[[nodiscard]] Op send(std::uint32_t length) const
	{
		return standard(IBV_WR_SEND, {client.memory.sge(0, length)});
	}
};

TEST_P(RequestErrors, WriteWithImmediateFailsInTheReceive)
{
	const Owned<ibv_pd> pd(ibv_alloc_pd(server.context.get()));
	const Region read_only = server.region(64, IBV_ACCESS_REMOTE_READ), foreign(pd.get(), 64);
	Op unknown = write_with_immediate(server.memory);
	unknown.rkey = 0x1234500;
	for (const Op &op : {unknown, write_with_immediate(server.memory, 8, server.memory.length() - 7),
		     write_with_immediate(read_only), write_with_immediate(foreign)}) {
		post_receives({});
		expect(op, {IBV_WC_REM_ACCESS_ERR, IBV_WC_LOC_ACCESS_ERR, no_event});
		again();
	}
}

/** No receive is consumed before the last packet. */
TEST_P(RequestErrors, WriteWithImmediateOfSeveralPacketsFailsInTheFirst)
{
	const Region small = server.region(64);
	post_receives({});
	expect(write_with_immediate(small, 3000), {IBV_WC_REM_ACCESS_ERR, flushed, IBV_EVENT_QP_ACCESS_ERR});
}

TEST_P(RequestErrors, OtherRequestsOfAWrongKeyRaiseAnEvent)
{
	for (const ibv_wr_opcode opcode :
		{IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
		Op op = standard(opcode, {client.memory.sge(0, 8)}, &server.memory);
		op.rkey ^= 1;
		post_receives({});
		expect(op, {IBV_WC_REM_ACCESS_ERR, flushed, IBV_EVENT_QP_ACCESS_ERR});
		again();
	}
}

TEST_P(RequestErrors, SendLongerThanTheReceiveFailsInTheReceive)
{
	for (const std::uint32_t room : {0u, 4u, 1024u, 2500u}) {
		post_receives(server.memory.sge(0, room));
		expect(send(room + 1), {IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR, no_event});
		again();
	}
}

TEST_P(RequestErrors, ReceiveThatTheQueuePairMayNotWriteToFailsItself)
{
	const Region read_only = server.region(64, IBV_ACCESS_REMOTE_READ);
	const ibv_sge beyond{server.memory.at(server.memory.length() - 7), 8, server.memory.key()};
	const ibv_sge unknown{server.memory.at(), 8, 0x1234500};
	for (const ibv_sge &sge : {read_only.sge(0, 8), beyond, unknown}) {
		post_receives(sge);
		expect(send(8), {IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, no_event});
		again();
	}
}

/** The fault lies behind the bytes that the first packet has filled. */
TEST_P(RequestErrors, LaterBufferOfAReceiveIsCheckedWhenItIsReached)
{
	ibv_sge sges[] = {server.memory.sge(0, 1024), {server.memory.at(1024), 1024, 0x1234500}};
	ibv_recv_wr wr{1, nullptr, sges, 2}, *bad;
	ASSERT_EQ(ibv_post_recv(peer.get(), &wr, &bad), 0);
	post_recv(peer.get(), {}, 2);
	expect(send(2000), {IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, no_event});
}

/** Its queue pair consumes a receive of a shared queue, the rest of the queue stays. */
TEST_P(RequestErrors, ReceiveOfASharedQueueFailsAndTheLastOneIsReached)
{
	const struct {
		Op op;
		ibv_sge sge;
		ibv_wc_status request, receive;
	} rows[] = {
		{send(9), server.memory.sge(0, 8), IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR},
		{send(8), {server.memory.at(), 8, 0x1234500}, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR},
		{write_with_immediate(server.memory, 8, server.memory.length()), server.memory.sge(0, 8),
			IBV_WC_REM_ACCESS_ERR, IBV_WC_LOC_ACCESS_ERR},
	};
	for (const auto &row : rows) {
		SCOPED_TRACE(ibv_wc_status_str(row.receive));
		ibv_srq_init_attr init{nullptr, {8, 1, 0}};
		const Owned<ibv_srq> srq(ibv_create_srq(server.pd.get(), &init));
		share(srq.get());
		for (std::uint64_t id = 1; id <= 2; id++) {
			ibv_sge sge = row.sge;
			ibv_recv_wr wr{id, nullptr, &sge, 1}, *bad;
			ASSERT_EQ(ibv_post_srq_recv(srq.get(), &wr, &bad), 0);
		}
		EXPECT_EQ(run(row.op).status, row.request);
		const auto wc = next(server.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, 1u);
		EXPECT_EQ(wc->status, row.receive) << ibv_wc_status_str(wc->status);
		expect_event(IBV_EVENT_QP_LAST_WQE_REACHED);
		EXPECT_FALSE(next(server.cq.get(), 0)) << "of the queue, not of the queue pair";
		peer.reset();
		peer = create_qp(server);
		again();
	}
}

/** Packet sizes that do not fit the responder's MTU; without a receive that could report it, an event does. */
TEST_P(RequestErrors, PacketsOfAnotherMtuAreTooLong)
{
	PathOptions narrow, wide;
	narrow.mtu = IBV_MTU_256;
	const struct {
		const PathOptions &requester, &responder;
		std::uint32_t length;
	} rows[] = {{wide, narrow, 300}, {wide, narrow, 2048}, {narrow, wide, 300}};
	for (const auto &row : rows) {
		SCOPED_TRACE(row.length);
		for (const bool sends : {true, false}) {
			again(row.requester, row.responder);
			post_receives(server.memory.sge(0, 4096));
			const Op write =
				standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, row.length)}, &server.memory);
			expect(sends ? send(row.length) : write,
				{IBV_WC_REM_INV_REQ_ERR, sends ? IBV_WC_LOC_LEN_ERR : flushed,
					sends ? no_event : std::optional(IBV_EVENT_QP_REQ_ERR)});
		}
	}
}

TEST_P(RequestErrors, InvalidRequestsRaiseAnEvent)
{
	const ibv_sge word = client.memory.sge(0, 8);
	const auto expect_invalid = [&](const Op &op, const PathOptions &options) {
		again({}, options);
		post_receives(server.memory.sge(0, 8));
		expect(op, {IBV_WC_REM_INV_REQ_ERR, flushed, IBV_EVENT_QP_REQ_ERR});
	};
	PathOptions without;
	expect_invalid(standard(IBV_WR_ATOMIC_CMP_AND_SWP, {word}, &server.memory, 4), without);
	without.access = 0;
	expect_invalid(write_with_immediate(server.memory), without);
	expect_invalid(standard(IBV_WR_RDMA_READ, {word}, &server.memory), without);
	without = {};
	without.dest_rd_atomic = 0;
	expect_invalid(standard(IBV_WR_RDMA_READ, {word}, &server.memory), without);
	expect_invalid(standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {word}, &server.memory), without);
}

/** rxe acknowledges the message, as if the key had been invalidated later. */
TEST_P(RequestErrors, SendThatInvalidatesNothingFailsInTheReceive)
{
	Op op = standard(IBV_WR_SEND_WITH_INV, {client.memory.sge(0, 8)});
	op.value = 0x1234500;
	post_receives(server.memory.sge(0, 8));
	expect(op, {rxe_says(IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR), IBV_WC_MW_BIND_ERR, no_event});
}

TEST_P(RequestErrors, WithoutAReceiveNothingFailsButTheRequest)
{
	PathOptions impatient;
	impatient.rnr_retry = 1;
	Op wild = write_with_immediate(server.memory);
	wild.rkey = 0x1234500;
	for (const Op &op : {send(8), write_with_immediate(server.memory), wild}) {
		again(impatient);
		EXPECT_EQ(run(op).status, IBV_WC_RNR_RETRY_EXC_ERR);
		EXPECT_EQ(state_of(peer.get()), IBV_QPS_RTS);
		EXPECT_EQ(async_event(server, 2), no_event);
	}
	EXPECT_EQ(server.memory.word(0), 0u);
}

TEST_P(RequestErrors, LocalFaultOfARequestIsNoConcernOfThePeer)
{
	const Region read_only = client.region(64, IBV_ACCESS_REMOTE_READ);
	const ibv_sge beyond{client.memory.at(client.memory.length() - 7), 8, client.memory.key()};
	const ibv_sge unknown{client.memory.at(), 8, 0x1234500};
	for (const Op &op : {standard(IBV_WR_RDMA_WRITE, {unknown}, &server.memory), standard(IBV_WR_SEND, {unknown}),
		     standard(IBV_WR_RDMA_WRITE, {beyond}, &server.memory),
		     standard(IBV_WR_RDMA_READ, {read_only.sge(0, 8)}, &server.memory)}) {
		post_recv(peer.get(), server.memory.sge(0, 8));
		EXPECT_EQ(run(op).status, IBV_WC_LOC_PROT_ERR);
		EXPECT_EQ(state_of(qp.get()), IBV_QPS_ERR);
		EXPECT_EQ(state_of(peer.get()), IBV_QPS_RTS);
		EXPECT_EQ(async_event(server, 2), no_event);
		EXPECT_EQ(async_event(client, 0), no_event);
		again();
	}
}

TEST_P(RequestErrors, LastReceiveOfASharedQueueIsReachedOnce)
{
	ibv_srq_init_attr init{nullptr, {8, 1, 0}};
	const Owned<ibv_srq> srq(ibv_create_srq(server.pd.get(), &init));
	share(srq.get());
	ASSERT_EQ(move_to(peer.get(), IBV_QPS_ERR), 0);
	expect_event(IBV_EVENT_QP_LAST_WQE_REACHED);
	ASSERT_EQ(move_to(peer.get(), IBV_QPS_ERR), 0);
	expect_event(no_event);
	peer.reset();
}

INSTANTIATE_TEST_SUITE_P(Each, RequestErrors, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
