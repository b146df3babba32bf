/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Refused requests: which completion reports it, and which rule is counted (S.11.1, W.5). */
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <utility>

#include "craft.hpp"
#include "pair.hpp"

namespace
{

using namespace prism::test;

class Refused : public testing::Test
{
protected:
	/** Posts a CAS whose key names nothing. */
	void post_bad()
	{
		prism_request request{};
		request.op = PRISM_CAS;
		request.cas_size = 8;
		request.va = Pair::va;
		request.rkey = 0xdead00;
		const std::uint8_t operands[32] = {};
		pair.post(request, 0, operands);
	}

	/** Loses the @p number-th packet to the client. */
	void lose_answer(unsigned number)
	{
		pair.loses = [number, count = 0u](bool to_client, const prism_bth &) mutable {
			return to_client && ++count == number;
		};
	}

	Pair pair;
};

TEST_F(Refused, TheRequestThatWasRefusedTells)
{
	pair.post_cas(0, 7);
	post_bad();
	pair.post_cas(32, 8);
	const std::vector<ibv_wc> wc = pair.run(3);
	ASSERT_EQ(wc.size(), 3u);
	EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc[1].status, IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(wc[2].status, IBV_WC_WR_FLUSH_ERR);
}

/** The fate of the request before it is no longer known. */
TEST_F(Refused, ALostAnswerIsNotTakenForTheRefusal)
{
	lose_answer(1);
	pair.post_cas(0, 7);
	post_bad();
	pair.post_cas(32, 8);
	const std::vector<ibv_wc> wc = pair.run(3);
	ASSERT_EQ(wc.size(), 3u);
	EXPECT_EQ(pair.memory[0], 7) << "it was executed";
	EXPECT_EQ(wc[0].status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(wc[1].status, IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(wc[2].status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(pair.client.qp.state, IBV_QPS_ERR);
}

/** A READ that is refused in its middle is the refused request, whichever of its packets were lost. */
TEST_F(Refused, AReadIsRefusedInItsMidst)
{
	lose_answer(20);
	pair.post_read(0, 200 << 10);
	pair.pass(2);
	ASSERT_TRUE(pair.server.qp.resp.stream.active);
	pair.server_node.engine.memory.remove(pair.key);
	const std::vector<ibv_wc> wc = pair.run(1);
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].status, IBV_WC_REM_ACCESS_ERR);
}

/** The refusal takes the place of a packet of its answer. */
TEST_F(Refused, AReadIsRefusedAtTheNextPacketOfItsAnswer)
{
	pair.post_read(0, 200 << 10);
	pair.pass(2);
	ASSERT_TRUE(pair.server.qp.resp.stream.active);
	const std::uint32_t next = pair.server.qp.resp.stream.offset / 1024;
	std::uint32_t refused = 0;
	pair.loses = [&refused](bool, const prism_bth &bth) {
		if (bth.opcode == prism::soft::rc_acknowledge)
			refused = bth.psn;
		return false;
	};
	pair.server_node.engine.memory.remove(pair.key);
	const std::vector<ibv_wc> wc = pair.run(1);
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].status, IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(refused, next);
	EXPECT_EQ(pair.server_node.events.last_qp_event, IBV_EVENT_QP_ACCESS_ERR);
}

/** Delivers packets to the server at the PSN that it expects, with @p body bytes behind the BTH. */
class RuleOrder : public Refused
{
protected:
	void receive(std::uint8_t opcode, std::uint8_t flags, std::size_t body)
	{
		std::vector<std::uint8_t> packet(PRISM_BTH_SIZE + body);
		prism_bth bth{};
		bth.opcode = opcode;
		bth.flags = flags;
		bth.qpn = pair.server.qp.qpn;
		bth.psn = pair.server.qp.resp.expected_psn;
		prism_bth_encode(packet.data(), &bth);
		const std::size_t header = PRISM_BTH_SIZE + PRISM_RETH_SIZE;
		if (packet.size() >= header) {
			put_unaligned_be64(Pair::va, packet.data() + PRISM_BTH_SIZE);
			put_unaligned_be32(pair.key, packet.data() + PRISM_BTH_SIZE + 8);
			put_unaligned_be32(length, packet.data() + PRISM_BTH_SIZE + 12);
		}
		pair.deliver(pair.server_node, packet);
	}

	static constexpr std::uint32_t length = 2048, mtu = 1024;
	prism::soft::ProtocolCounters &counters = pair.server_node.engine.counters;
};

TEST_F(RuleOrder, FlagsComeBeforeSizes)
{
	receive(PRISM_OP_READ_REQUEST, PRISM_FLAG_D, PRISM_RETH_SIZE + 1);
	EXPECT_EQ(counters.rx_bad_flags, 1u);
	EXPECT_EQ(counters.rx_bad_format, 0u);
}

TEST_F(RuleOrder, FlagsComeBeforeTheMessageUnderWay)
{
	receive(prism::soft::rc_write_first, 0, PRISM_RETH_SIZE + mtu);
	ASSERT_TRUE(pair.server.qp.resp.message.active);
	receive(PRISM_OP_READ_REQUEST, PRISM_FLAG_D, PRISM_RETH_SIZE);
	EXPECT_EQ(counters.rx_bad_flags, 1u);
	EXPECT_EQ(counters.rx_bad_format, 0u);
}

TEST_F(RuleOrder, AnotherRequestInsideAMessageIsBadFormat)
{
	receive(prism::soft::rc_write_first, 0, PRISM_RETH_SIZE + mtu);
	receive(PRISM_OP_READ_REQUEST, 0, PRISM_RETH_SIZE);
	EXPECT_EQ(counters.rx_bad_format, 1u);
}

TEST_F(RuleOrder, AStandardRequestInsideAPrismMessageIsBadFormat)
{
	receive(PRISM_OP_WRITE_FIRST, 0, PRISM_RETH_SIZE + mtu);
	ASSERT_TRUE(pair.server.qp.resp.prism.active);
	receive(prism::soft::rc_write_first, 0, PRISM_RETH_SIZE + mtu);
	EXPECT_EQ(counters.rx_bad_format, 1u);
}

TEST_F(RuleOrder, AStandardReadInsideAPrismMessageIsBadFormat)
{
	receive(PRISM_OP_WRITE_FIRST, 0, PRISM_RETH_SIZE + mtu);
	receive(prism::soft::rc_read_request, 0, PRISM_RETH_SIZE);
	EXPECT_EQ(counters.rx_bad_format, 1u);
}

TEST_F(RuleOrder, RightsComeBeforeTheMessageUnderWay)
{
	receive(PRISM_OP_WRITE_FIRST, 0, PRISM_RETH_SIZE + mtu);
	ASSERT_TRUE(pair.server.qp.resp.prism.active);
	pair.server.qp.attr.access = prism::soft::access_remote_write;
	receive(prism::soft::rc_read_request, 0, PRISM_RETH_SIZE);
	EXPECT_EQ(counters.rx_bad_flags, 1u);
	EXPECT_EQ(counters.rx_bad_format, 0u);
}

/** F7 before F13. */
TEST_F(RuleOrder, ALastPacketWithAPointerIsBadFormat)
{
	receive(PRISM_OP_WRITE_FIRST, 0, PRISM_RETH_SIZE + mtu);
	receive(PRISM_OP_WRITE_LAST, PRISM_FLAG_T, mtu);
	EXPECT_EQ(counters.rx_bad_format, 1u);
	EXPECT_EQ(counters.rx_bad_flags, 0u);
}

TEST_F(RuleOrder, AStandardReadInsideAMessageIsBadFormat)
{
	receive(prism::soft::rc_write_first, 0, PRISM_RETH_SIZE + mtu);
	receive(prism::soft::rc_read_request, 0, PRISM_RETH_SIZE);
	EXPECT_EQ(counters.rx_bad_format, 1u);
	EXPECT_EQ(pair.server_node.events.last_qp_event, IBV_EVENT_QP_REQ_ERR);
}

TEST_F(RuleOrder, AStandardPacketIsAMultipleOfFour)
{
	const prism::soft::Sge receive_sge{Pair::va + 4096, 64, pair.key};
	pair.server.post_receive(1, {&receive_sge, 1});
	receive(prism::soft::rc_send_only, 0, 7);
	EXPECT_EQ(counters.rx_bad_format, 1u);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_ERR);
}

/** The queue pair's own access flags (S.5). */
TEST(AccessFlags, AreThoseThatOperationAndModifiersNeed)
{
	constexpr std::uint32_t read = prism::soft::access_remote_read, write = prism::soft::access_remote_write,
				atomic = prism::soft::access_remote_atomic;
	const struct {
		prism_op op;
		std::uint8_t flags;
		std::uint32_t needs;
	} cases[] = {{PRISM_READ, 0, read}, {PRISM_READ, PRISM_FLAG_R, read | write}, {PRISM_WRITE, 0, write},
		{PRISM_WRITE, PRISM_FLAG_T, write | read}, {PRISM_WRITE, PRISM_FLAG_D, write | read},
		{PRISM_CAS, 0, atomic}, {PRISM_CAS, PRISM_FLAG_T, atomic | read},
		{PRISM_CAS, PRISM_FLAG_D, atomic | read}, {PRISM_ALLOCATE, 0, write},
		{PRISM_ALLOCATE, PRISM_FLAG_R, write}};
	for (const auto &[op, flags, needs] : cases) {
		for (const std::uint32_t missing : {0u, read, write, atomic}) {
			SCOPED_TRACE(testing::Message()
				     << "op " << op << " flags " << unsigned{flags} << " without " << missing);
			ConnectOptions options;
			options.access = (read | write | atomic) & ~missing;
			Pair pair(options, 4096);
			prism_request request{};
			request.op = static_cast<u8>(op);
			request.flags = flags;
			request.first = request.last = true;
			request.cas_size = 8;
			request.va = request.aux_va = Pair::va;
			request.rkey = request.aux_rkey = pair.key;
			pair.deliver(pair.server_node, craft_request(pair.server.qp, 0, request));
			EXPECT_EQ(pair.server_node.engine.counters.rx_bad_flags, needs & missing ? 1u : 0u);
		}
	}
}

/** Such a queue pair remembers nothing, so it could not answer a duplicate. */
TEST(AccessFlags, AQueuePairThatServesNoneServesNone)
{
	ConnectOptions options;
	options.max_rd_atomic = 0;
	Pair pair(options, 4096);
	pair.deliver(pair.server_node, craft_request(pair.server.qp, 0, pair.whole(PRISM_CAS, 0)));
	EXPECT_EQ(pair.server_node.engine.counters.rx_excess_request, 1u);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_ERR);
}

/** A standard READ counts as the others do (F15). */
TEST(AccessFlags, AQueuePairThatServesNoneServesNoStandardRead)
{
	ConnectOptions options;
	options.max_rd_atomic = 0;
	Pair pair(options, 4096);
	std::vector<std::uint8_t> packet =
		craft(pair.server.qp, prism::soft::rc_read_request, 0, PRISM_BTH_SIZE + PRISM_RETH_SIZE);
	pair.deliver(pair.server_node, packet);
	EXPECT_EQ(pair.server_node.engine.counters.rx_excess_request, 1u);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_ERR);
}

/** Beyond 32 bits its length could not be reported, nor its bytes be counted. */
TEST(Messages, AreNoLongerThanThePortSays)
{
	constexpr std::uint32_t mtu = 1024, room = 2 * prism::soft::max_message;
	constexpr std::uint64_t at = 0x1'0000'0000;
	Pair pair;
	void *const memory =
		mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(memory, MAP_FAILED);
	const std::uint32_t key = pair.server_node.engine.memory.add_region(
		static_cast<std::uint8_t *>(memory), at, room, Pair::rights, 1);
	const prism::soft::Sge sge{at, room, key};
	pair.server.post_receive(1, {&sge, 1});
	const auto receive = [&](std::uint8_t opcode, std::uint32_t psn) {
		pair.deliver(pair.server_node, craft(pair.server.qp, opcode, psn, PRISM_BTH_SIZE + mtu));
	};
	receive(prism::soft::rc_send_first, 0);
	pair.server.qp.resp.message.received = prism::soft::max_message - mtu; /* as if they had arrived */
	receive(prism::soft::rc_send_middle, 1);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_RTS);
	receive(prism::soft::rc_send_last, 2);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_ERR);
	EXPECT_EQ(pair.server_node.engine.counters.rx_bad_format, 1u);
	ibv_wc wc{};
	ASSERT_EQ(pair.server.recv_cq.poll(1, &wc), 1);
	EXPECT_EQ(wc.status, IBV_WC_LOC_LEN_ERR);
	munmap(memory, room);
}

/** The sum of the packets is not the total length: invalid, so nothing of the packet is executed (S.11.1). */
TEST(StandardWrite, OfAnotherLengthThanItSaysWritesNothing)
{
	for (const std::uint32_t total : {100u, 0u}) {
		Pair pair;
		constexpr std::size_t headers = prism::soft::bth_size + prism::soft::reth_size;
		std::vector<std::uint8_t> packet = craft(pair.server.qp, prism::soft::rc_write_only, 0, headers + 64);
		put_unaligned_be64(Pair::va, &packet[prism::soft::bth_size]);
		put_unaligned_be32(pair.key, &packet[prism::soft::bth_size + 8]);
		put_unaligned_be32(total, &packet[prism::soft::bth_size + 12]);
		std::fill(packet.begin() + headers, packet.end(), 0x5a);
		pair.deliver(pair.server_node, packet);
		EXPECT_EQ(pair.server.qp.state, IBV_QPS_ERR);
		EXPECT_EQ(pair.server_node.engine.counters.rx_bad_format, 1u);
		EXPECT_EQ(pair.memory[0], 0) << "total " << total;
	}
}

/** The receive's completion reports the error; the event is for errors of the peer (IBTA 11.6.3). */
TEST(Receive, WithAWrongKeyIsNoFaultOfThePeers)
{
	Pair pair;
	const prism::soft::Sge wrong{Pair::va, 64, pair.local_key ^ 1};
	pair.server.post_receive(1, {&wrong, 1});
	std::vector<std::uint8_t> packet =
		craft(pair.server.qp, prism::soft::rc_send_only, 0, prism::soft::bth_size + 8);
	pair.deliver(pair.server_node, packet);
	ibv_wc wc;
	ASSERT_EQ(pair.server.recv_cq.poll(1, &wc), 1);
	EXPECT_EQ(wc.status, IBV_WC_LOC_PROT_ERR);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_ERR);
	EXPECT_EQ(pair.server_node.events.qp_events, 0u);
}

/** A violation of the protocol is no fault of the current receive: it is flushed, and the event reports the error. */
TEST(Receive, OfAMessageThatIsNotContinuedIsFlushed)
{
	constexpr std::uint32_t mtu = 1024;
	Pair pair;
	const prism::soft::Sge room{Pair::va, 4096, pair.local_key};
	pair.server.post_receive(1, {&room, 1});
	pair.deliver(
		pair.server_node, craft(pair.server.qp, prism::soft::rc_send_first, 0, prism::soft::bth_size + mtu));
	pair.deliver(pair.server_node, craft(pair.server.qp, prism::soft::rc_send_only, 1, prism::soft::bth_size + 8));
	ibv_wc wc;
	ASSERT_EQ(pair.server.recv_cq.poll(1, &wc), 1);
	EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(pair.server_node.events.qp_events, 1u);
	EXPECT_EQ(pair.server_node.events.last_qp_event, IBV_EVENT_QP_REQ_ERR);
}

/** The region has gone since the first packet; the last one takes the receive. */
TEST(Receive, OfAWriteThatFailsInItsLastPacketFails)
{
	constexpr std::uint32_t mtu = 1024;
	Pair pair;
	pair.server.post_receive(1, {});
	std::vector<std::uint8_t> first = craft(
		pair.server.qp, prism::soft::rc_write_first, 0, prism::soft::bth_size + prism::soft::reth_size + mtu);
	put_unaligned_be64(Pair::va, &first[prism::soft::bth_size]);
	put_unaligned_be32(pair.key, &first[prism::soft::bth_size + 8]);
	put_unaligned_be32(mtu + 8, &first[prism::soft::bth_size + 12]);
	pair.deliver(pair.server_node, first);
	ASSERT_EQ(pair.server.qp.state, IBV_QPS_RTS);
	pair.server_node.engine.memory.remove(pair.key);
	pair.deliver(pair.server_node, craft(pair.server.qp, prism::soft::rc_write_last_imm, 1,
					       prism::soft::bth_size + prism::soft::immediate_size + 8));
	ibv_wc wc;
	ASSERT_EQ(pair.server.recv_cq.poll(1, &wc), 1);
	EXPECT_EQ(wc.status, IBV_WC_LOC_ACCESS_ERR);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_ERR);
	EXPECT_EQ(pair.server_node.events.qp_events, 0u);
}

} // namespace
