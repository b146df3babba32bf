/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which answers a requester accepts (W.6.3, W.6.4), and what a responder's answers contain beside their result. */
#include <gtest/gtest.h>

#include "craft.hpp"
#include "pair.hpp"

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

/** A requester with a request under way, whose answers the test makes. */
class Answers : public testing::Test
{
protected:
	void send() { pair.client_node.engine.progress(pair.now); }

	void post_write(std::uint32_t length)
	{
		prism_request request{};
		request.op = PRISM_WRITE;
		request.va = Pair::va;
		request.length = length;
		pair.post(request, length);
	}

	/** Posts it in a slot of the send queue that a PRISM request had before. */
	void post_standard_read()
	{
		soft::SendRequest &wr = *pair.client.next();
		wr.kind = soft::SendKind::read;
		wr.wc_opcode = IBV_WC_RDMA_READ;
		wr.prism.op = PRISM_READ;
		wr.prism.flags = PRISM_FLAG_C;
		wr.remote_addr = Pair::va;
		wr.rkey = pair.key;
		const soft::Sge sge{Pair::va, 64, pair.local_key};
		pair.client.post(wr, {&sge, 1});
	}

	void expect_dropped(const std::vector<std::uint8_t> &answer)
	{
		const std::uint64_t before = counters.rx_response_dropped + counters.rx_resolution_dropped;
		pair.deliver(pair.client_node, answer);
		EXPECT_EQ(counters.rx_response_dropped + counters.rx_resolution_dropped, before + 1);
		EXPECT_TRUE(pair.client.send_cq.empty());
		EXPECT_EQ(pair.client.qp.state, IBV_QPS_RTS);
	}

	Pair pair{without_timer()};
	soft::QueuePair &client = pair.client.qp;
	soft::ProtocolCounters &counters = pair.client_node.engine.counters;
};

TEST_F(Answers, AResponseStandsAtItsLastPsn)
{
	post_write(2500);
	send();
	expect_dropped(craft_response(client, 1, PRISM_STATUS_OK, 2500));
	pair.deliver(pair.client_node, craft_response(client, 2, PRISM_STATUS_OK, 2500));
	EXPECT_FALSE(pair.client.send_cq.empty());
}

/** Overtakes as the last and shortest packet of a train (W.6.3). */
TEST_F(Answers, OnlyAnAckBehindRequestsOvertakes)
{
	const std::vector<std::uint8_t> send = craft(client, soft::rc_send_only, 0, PRISM_RESPONSE_SIZE);
	const std::vector<std::uint8_t> answer = craft_response(client, 0, PRISM_STATUS_OK);
	const auto overtakes = [this](std::vector<std::uint8_t> train, const std::vector<std::uint8_t> &last) {
		train.insert(train.end(), last.begin(), last.end());
		return pair.client_node.engine.last_overtakes(train, PRISM_RESPONSE_SIZE);
	};
	EXPECT_TRUE(overtakes(send, craft_acknowledge(client, 1)));
	EXPECT_FALSE(overtakes(send, craft_acknowledge(client, 1, soft::syndrome_access_error)));
	EXPECT_FALSE(overtakes(send, craft_acknowledge(client, 1, soft::syndrome_rnr | 1)));
	EXPECT_FALSE(overtakes(answer, craft_acknowledge(client, 1))) << "answers keep their order";
	EXPECT_FALSE(overtakes(send, {0x11}));
}

TEST_F(Answers, ARefusedReadIsAnsweredAtItsFirstPsn)
{
	pair.post_read(0, 2500, PRISM_FLAG_T);
	send();
	expect_dropped(craft_response(client, 2, PRISM_STATUS_NULL_POINTER));
	pair.deliver(pair.client_node, craft_response(client, 0, PRISM_STATUS_NULL_POINTER));
	EXPECT_FALSE(pair.client.send_cq.empty());
}

TEST_F(Answers, AResponseFitsItsRequest)
{
	post_write(64);
	send();
	for (const prism_status status :
		{PRISM_STATUS_CAS_MISS, PRISM_STATUS_NULL_POINTER, PRISM_STATUS_NO_BUFFER, PRISM_STATUS_SKIPPED})
		expect_dropped(craft_response(client, 0, status));
	expect_dropped(craft_response(client, 0, PRISM_STATUS_OK, 63));
}

TEST_F(Answers, AReadWithoutABoundBringsAllOfIt)
{
	pair.post_read(0, 64);
	send();
	expect_dropped(craft_data(client, PRISM_OP_READ_RESPONSE_ONLY, 0, 1, 32, 32));
	expect_dropped(craft_response(client, 0, PRISM_STATUS_OK, 64));
}

TEST_F(Answers, AResponseIsNoAnswerToAStandardRead)
{
	post_standard_read();
	send();
	expect_dropped(craft_response(client, 0, PRISM_STATUS_SKIPPED));
}

TEST_F(Answers, DataIsNoAnswerToAWrite)
{
	post_write(64);
	send();
	expect_dropped(craft_data(client, PRISM_OP_READ_RESPONSE_ONLY, 0, 1, 64, 64));
}

TEST_F(Answers, DataIsNoAnswerToARedirectedRead)
{
	pair.post_read(0, 64, PRISM_FLAG_R);
	send();
	expect_dropped(craft_data(client, PRISM_OP_READ_RESPONSE_ONLY, 0, 1, 64, 64));
}

TEST_F(Answers, AReadsDataDoesNotBeginInItsMidst)
{
	pair.post_read(0, 2048);
	send();
	expect_dropped(craft_data(client, PRISM_OP_READ_RESPONSE_MIDDLE, 0, 1, 2048, 1024));
	EXPECT_FALSE(client.sq.at(0).latched);
}

/** A request that was never sent cannot have been answered. */
TEST_F(Answers, ToTheFutureAreDropped)
{
	pair.post_send(64);
	send();
	expect_dropped(craft_acknowledge(client, 5));
	expect_dropped(craft_response(client, 5, PRISM_STATUS_OK));
}

TEST_F(Answers, AnAcknowledgeHasOneSize)
{
	pair.post_send(64);
	send();
	std::vector<std::uint8_t> longer = craft_acknowledge(client, 0);
	longer.resize(longer.size() + 4);
	expect_dropped(longer);
}

TEST_F(Answers, ComeFromThePeerAlone)
{
	pair.post_send(64);
	send();
	pair.client_node.engine.receive({address_of(9), {}}, craft_acknowledge(client, 0), pair.now);
	EXPECT_EQ(counters.rx_wrong_source, 1u);
	EXPECT_TRUE(pair.client.send_cq.empty());
}

/** The acknowledgement tells that the answer was lost. */
TEST_F(Answers, AnAcknowledgeOfItsLastPacketCompletesNoPrismRequest)
{
	for (const std::uint32_t length : {64, 2500}) {
		const std::uint64_t before = counters.retransmits;
		post_write(length);
		send();
		const std::uint32_t last = client.req.next_psn - 1;
		pair.deliver(pair.client_node, craft_acknowledge(client, last));
		EXPECT_TRUE(pair.client.send_cq.empty());
		EXPECT_EQ(counters.retransmits, before + 1);
		pair.deliver(pair.client_node, craft_response(client, last, PRISM_STATUS_OK, length));
		ibv_wc wc;
		EXPECT_EQ(pair.client.send_cq.poll(1, &wc), 1);
	}
}

/** The network has delayed the answer; it says nothing of the READ under way. */
TEST_F(Answers, ToWhatIsDoneAreDropped)
{
	pair.post_read(0, 64);
	ASSERT_EQ(pair.run(1).size(), 1u);
	pair.post_read(0, 64);
	send();
	expect_dropped(craft_data(client, PRISM_OP_READ_RESPONSE_ONLY, 0, 1, 64, 64));
	EXPECT_FALSE(client.sq.at(1).latched);
	EXPECT_EQ(counters.retransmits, 0u);
}

/** Acknowledgements of packets in between move the window. */
TEST_F(Answers, AMegabyteIsWrittenWithoutALoss)
{
	post_write(1 << 20);
	const std::vector<ibv_wc> wc = pair.run(1, 100'000'000);
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].byte_len, 1u << 20);
	EXPECT_EQ(counters.retransmits, 0u);
}

/* The responder's side */

std::uint32_t msn_of(const std::vector<std::uint8_t> &answer)
{
	return get_unaligned_be32(answer.data() + PRISM_BTH_SIZE) & PRISM_PSN_MASK;
}

TEST_F(Answers, TellHowManyRequestsHaveCompleted)
{
	const soft::Sge receive{Pair::va + 4096, 64, pair.key};
	pair.server.post_receive(1, {&receive, 1});
	const std::function<void()> requests[] = {[this] { pair.post_cas(0, 1); }, [this] { pair.post_send(64); },
		[this] { post_write(2500); }, [this] { pair.post_read(0, 64); }, [this] { post_standard_read(); }};
	std::uint32_t completed = 0;
	for (const auto &post : requests) {
		post();
		send();
		for (std::size_t i = 0; i < pair.client_node.outbox.size(); i++)
			pair.deliver(pair.server_node, pair.client_node.outbox.at(i).bytes);
		pair.client_node.outbox.clear();
		pair.server_node.engine.progress(pair.now);
		Outbox &answers = pair.server_node.outbox;
		ASSERT_GE(answers.size(), 1u);
		EXPECT_EQ(msn_of(answers.at(answers.size() - 1).bytes), ++completed);
		for (std::size_t i = 0; i < answers.size(); i++)
			pair.deliver(pair.client_node, answers.at(i).bytes);
		answers.clear();
	}
}

/** Stock software does the same. */
TEST(Stock, AQueuePairThatDoesNotSpeakPrismDropsIt)
{
	Node node{1}, other{2};
	EndpointOptions standard;
	standard.prism = false;
	Endpoint stock(node, standard), peer(other, {});
	stock.connect(peer, {});
	prism_request request{};
	request.op = PRISM_READ;
	request.first = request.last = true;
	node.engine.receive({other.address, {}}, craft_request(stock.qp, 0, request), 1);
	node.engine.progress(1);
	EXPECT_EQ(node.engine.counters.rx_unknown_opcode, 1u);
	EXPECT_EQ(node.outbox.size(), 0u);
	EXPECT_EQ(stock.qp.state, IBV_QPS_RTS);
}

} // namespace
