/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests that come while a long READ is being answered: they wait, in order, and none is forgotten (W.8.1). */
#include <gtest/gtest.h>

#include <utility>

#include "pair.hpp"

namespace
{

using namespace prism::test;

constexpr std::uint32_t long_read = 200 << 10;

/** A READ whose response takes several bursts; the first has arrived. */
class Held : public testing::Test
{
protected:
	void begin(const ConnectOptions &options = {})
	{
		pair.emplace(options);
		pair->post_read(0, long_read);
		while (pair->client.qp.sq.at(0).acked < 128)
			pair->step();
		ASSERT_TRUE(pair->server.qp.resp.stream.active);
	}

	static ConnectOptions without_timer()
	{
		ConnectOptions options;
		options.ack_timeout = 0;
		return options;
	}

	void expect_good(std::size_t count)
	{
		const std::vector<ibv_wc> completed = pair->run(count, 100'000'000);
		ASSERT_EQ(completed.size(), count);
		for (const ibv_wc &wc : completed)
			EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	}

	/** As a requester does that does not know its peer's limit. */
	void limit_server(std::uint32_t requests)
	{
		pair->server.qp.attr.max_dest_rd_atomic = requests;
		pair->server.qp.resp.saved.resize(requests);
	}

	/** As after so many ALLOCATEs that nobody knows any more what was handed out. */
	static void forget(prism::soft::SavedResponse &saved) { saved.read.handed_out -= 1u << 20; }

	prism::soft::ProtocolCounters &counters() { return pair->server_node.engine.counters; }

	std::optional<Pair> pair;
};

TEST_F(Held, AWriteOfManyPacketsIsOneRequest)
{
	ConnectOptions options;
	options.max_rd_atomic = 2;
	begin(options);
	prism_request request{};
	request.op = PRISM_WRITE;
	request.va = Pair::va + (1 << 20);
	request.length = 20 * 1024;
	pair->post(request, request.length, {}, 1 << 20);
	expect_good(2);
	EXPECT_EQ(counters().rx_excess_request, 0u);
}

TEST_F(Held, OneRequestTooManyIsRefusedBehindTheOthers)
{
	begin();
	limit_server(2);
	for (std::uint64_t i = 0; i < 3; i++)
		pair->post_cas(32 * i, i + 1);
	const std::vector<ibv_wc> wc = pair->run(4);
	ASSERT_EQ(wc.size(), 4u);
	EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc[1].status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc[2].status, IBV_WC_REM_INV_REQ_ERR);
	EXPECT_EQ(wc[3].status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(counters().rx_excess_request, 1u);
}

/** F15 is the last of the rules. */
TEST_F(Held, ABadRequestTooManyIsRefusedAsBad)
{
	begin();
	limit_server(2);
	pair->post_cas(0, 1);
	pair->post_cas(0, 2, PRISM_FLAG_R);
	ASSERT_EQ(pair->run(3).size(), 3u);
	EXPECT_EQ(counters().rx_bad_flags, 1u);
	EXPECT_EQ(counters().rx_excess_request, 0u);
}

TEST_F(Held, ALossIsTold)
{
	begin(without_timer());
	bool lost = false;
	pair->loses = [&lost](bool, const prism_bth &bth) {
		return bth.opcode == PRISM_OP_CAS && !std::exchange(lost, true);
	};
	for (std::uint64_t i = 1; i <= 3; i++)
		pair->post_cas(0, i);
	expect_good(4);
	EXPECT_TRUE(lost);
	EXPECT_EQ(counters().tx_nak, 1u);
	EXPECT_EQ(counters().rx_duplicate, 0u) << "the READ was not taken for lost";
}

/** The answer is repeated and what was behind it as well, of which a part is lost. */
TEST_F(Held, ALossAmongDuplicatesIsTold)
{
	begin(without_timer());
	bool lost = false;
	unsigned sent = 0;
	pair->loses = [&](bool to_client, const prism_bth &bth) {
		if (to_client)
			return bth.psn == 199 && !std::exchange(lost, true);
		/* Three of them, and then the second of the three again */
		return bth.opcode == PRISM_OP_CAS && ++sent == 5;
	};
	for (std::uint64_t i = 1; i <= 3; i++)
		pair->post_cas(0, i);
	expect_good(4);
	EXPECT_TRUE(lost);
	EXPECT_GT(sent, 6u);
}

/** When the READ is repeated, it may come to nothing: nothing is left in line then. */
TEST_F(Held, NothingIsLeftBehindAReadThatEndsAtOnce)
{
	pair.emplace(without_timer());
	constexpr std::uint64_t pointer = 64;
	put_unaligned_le64(Pair::va + 4096, &pair->memory[pointer]);
	put_unaligned_le32(long_read, &pair->memory[pointer + 8]);
	bool lost = false;
	pair->loses = [this, &lost](bool to_client, const prism_bth &bth) {
		if (!to_client || bth.psn != 150 || lost)
			return false;
		/* What it resolved to is forgotten, and the pointer is gone. */
		put_unaligned_le64(0, &pair->memory[pointer]);
		forget(pair->server.qp.resp.saved[0]);
		return lost = true;
	};
	pair->post_read(pointer, long_read, PRISM_FLAG_T | PRISM_FLAG_B);
	while (pair->client.qp.sq.at(0).acked < 128)
		pair->step();
	for (std::uint64_t i = 1; i <= 3; i++)
		pair->post_cas(0, i);
	expect_good(4);
	EXPECT_TRUE(lost);
	EXPECT_TRUE(pair->server.qp.resp.held.empty());
	EXPECT_EQ(pair->memory[0], 3);
}

/** The network has kept an old request back; nobody waits for its answer. */
TEST_F(Held, AnOldDuplicateDoesNotEndTheAnswer)
{
	pair.emplace(without_timer());
	pair->post_read(0, 64);
	pair->client_node.engine.progress(pair->now);
	const std::vector<std::uint8_t> old = pair->client_node.outbox.at(0).bytes;
	expect_good(1);
	pair->post_read(0, long_read);
	while (pair->client.qp.sq.at(1).acked < 128)
		pair->step();
	pair->post_cas(0, 1);
	pair->pass(2);
	pair->deliver(pair->server_node, old);
	expect_good(2);
}

/** And whose duplicates come between is no matter to what is to be acknowledged. */
TEST_F(Held, ADuplicateDoesNotAcknowledgeWhatCameAfterIt)
{
	pair.emplace(without_timer());
	const prism::soft::Sge receive{Pair::va + 4096, 64, pair->key};
	pair->server.post_receive(1, {&receive, 1});
	pair->post_cas(0, 1);
	pair->client_node.engine.progress(pair->now);
	const std::vector<std::uint8_t> cas = pair->client_node.outbox.at(0).bytes;
	expect_good(1);
	pair->post_send(64);
	pair->step();
	pair->deliver(pair->server_node, pair->take_flying());
	pair->deliver(pair->server_node, cas);
	expect_good(1);
}

/** An acknowledgement of all that was executed would tell the peer that the READ's answer was lost. */
TEST_F(Held, ADuplicateOfASendIsAcknowledgedBeforeTheRead)
{
	pair.emplace(without_timer());
	const prism::soft::Sge receive{Pair::va + 4096, 64, pair->key};
	pair->server.post_receive(1, {&receive, 1});
	pair->post_send(64);
	pair->step();
	const std::vector<std::uint8_t> send = pair->take_flying();
	pair->deliver(pair->server_node, send);
	expect_good(1);
	pair->post_read(0, long_read);
	while (pair->client.qp.sq.at(1).acked < 128)
		pair->step();
	pair->deliver(pair->server_node, send);
	expect_good(1);
	EXPECT_EQ(pair->client_node.engine.counters.retransmits, 0u);
}

} // namespace
