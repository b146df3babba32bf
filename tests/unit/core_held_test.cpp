/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests that arrive while a long READ is being answered: they wait, in order, and none is forgotten (W.8.1). */
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "craft.hpp"
#include "pair.hpp"

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

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

	/** Completes a READ without a timer; returns the packet that requested it. */
	std::vector<std::uint8_t> answered_read(std::uint32_t length)
	{
		pair.emplace(without_timer());
		pair->post_read(0, length);
		pair->client_node.engine.progress(pair->now);
		std::vector<std::uint8_t> request = pair->client_node.outbox.at(0).bytes;
		expect_good(1);
		return request;
	}

	/**
	 * Delivers an old READ's request that the network delayed or duplicated; the requester expects no answer to it.
	 */
	void deliver_an_old_duplicate(std::uint32_t length)
	{
		const std::vector<std::uint8_t> old = answered_read(length);
		pair->post_read(0, long_read);
		while (pair->client.qp.sq.at(1).acked < 128)
			pair->step();
		ASSERT_TRUE(pair->server.qp.resp.stream.active);
		pair->post_cas(0, 1);
		pair->pass(2);
		pair->deliver(pair->server_node, old);
	}

	void expect_good(std::size_t count)
	{
		const std::vector<ibv_wc> completed = pair->run(count, 100'000'000);
		ASSERT_EQ(completed.size(), count);
		for (const ibv_wc &wc : completed)
			EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	}

	/** Limits the server as for a requester that does not know its peer's limit. */
	void limit_server(std::uint32_t requests) { soft::Engine::keep_answers(pair->server.qp, requests); }

	/** Executes the request of @p post, then a SEND, then delivers the former's packet again. */
	template <typename Post>
	void bring_again_behind_a_send(Post post)
	{
		pair.emplace(without_timer());
		const soft::Sge receive{Pair::va + 4096, 64, pair->key};
		pair->server.post_receive(1, {&receive, 1});
		post();
		pair->client_node.engine.progress(pair->now);
		const std::vector<std::uint8_t> old = pair->client_node.outbox.at(0).bytes;
		expect_good(1);
		pair->post_send(64);
		pair->step();
		pair->deliver(pair->server_node, pair->take_flying());
		pair->deliver(pair->server_node, old);
	}

	/** Forgets the resolution, as after so many ALLOCATEs that the buffers handed out are no longer known. */
	static void forget(soft::SavedResponse &saved) { saved.read.handed_out -= 1u << 20; }

	soft::ProtocolCounters &counters() { return pair->server_node.engine.counters; }

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

/** The answer is repeated, and so are the requests behind it, one of which is lost. */
TEST_F(Held, ALossAmongDuplicatesIsTold)
{
	begin(without_timer());
	bool lost = false;
	unsigned sent = 0;
	pair->loses = [&](bool to_client, const prism_bth &bth) {
		if (to_client)
			return bth.psn == 199 && !std::exchange(lost, true);
		/* Three of them, then the second of the three again */
		return bth.opcode == PRISM_OP_CAS && ++sent == 5;
	};
	for (std::uint64_t i = 1; i <= 3; i++)
		pair->post_cas(0, i);
	expect_good(4);
	EXPECT_TRUE(lost);
	EXPECT_GT(sent, 6u);
}

/** A repeated READ may resolve to nothing or to less: nothing stays in line then. */
class HeldBehindAReadThatChanges : public Held
{
protected:
	static constexpr std::uint64_t pointer = 64, target = Pair::va + 4096;

	void point_at(std::uint64_t address, std::uint32_t bound)
	{
		put_unaligned_le64(address, &pair->memory[pointer]);
		put_unaligned_le32(bound, &pair->memory[pointer + 8]);
	}

	/** Reads; a packet is lost, the resolution is forgotten, and the pointer changes to @p address and @p bound. */
	std::vector<ibv_wc> read_while_it_becomes(std::uint64_t address, std::uint32_t bound)
	{
		pair.emplace(without_timer());
		point_at(target, long_read);
		pair->loses = [=, this, lost = false](bool to_client, const prism_bth &bth) mutable {
			if (!to_client || bth.psn != 150 || lost)
				return false;
			point_at(address, bound);
			forget(pair->server.qp.resp.saved[0]);
			return lost = true;
		};
		pair->post_read(pointer, long_read, PRISM_FLAG_T | PRISM_FLAG_B);
		while (pair->client.qp.sq.at(0).acked < 128)
			pair->step();
		for (std::uint64_t i = 1; i <= 3; i++)
			pair->post_cas(0, i);
		return pair->run(4, 100'000'000);
	}

	void expect_executed(const std::vector<ibv_wc> &completed, prism_status of_the_read, std::uint32_t length)
	{
		ASSERT_EQ(completed.size(), 4u);
		for (const ibv_wc &wc : completed)
			EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_EQ(completed[0].vendor_err, of_the_read);
		EXPECT_EQ(completed[0].byte_len, length);
		EXPECT_TRUE(pair->server.qp.resp.held.empty());
		EXPECT_EQ(pair->memory[0], 3);
	}
};

TEST_F(HeldBehindAReadThatChanges, ToNothing)
{
	expect_executed(read_while_it_becomes(0, long_read), PRISM_STATUS_NULL_POINTER, 0);
}

TEST_F(HeldBehindAReadThatChanges, ToOnePacket)
{
	expect_executed(read_while_it_becomes(target, 64), PRISM_STATUS_OK, 64);
}

TEST_F(Held, AnOldDuplicateDoesNotEndTheAnswer)
{
	deliver_an_old_duplicate(64);
	expect_good(2);
	EXPECT_EQ(pair->memory[0], 1);
}

TEST_F(Held, AnOldDuplicateOfALongReadDoesNotEndTheAnswerEither)
{
	deliver_an_old_duplicate(long_read);
	expect_good(2);
	EXPECT_EQ(pair->memory[0], 1);
}

/** The requests behind the duplicate are new, not duplicates that might have come with it. */
class HeldBehindAnOldDuplicate : public Held
{
protected:
	void SetUp() override
	{
		const std::vector<std::uint8_t> old = answered_read(long_read);
		pair->post_cas(0, 1);
		expect_good(1);
		pair->deliver(pair->server_node, old);
		ASSERT_TRUE(pair->server.qp.resp.stream.active);
	}
};

TEST_F(HeldBehindAnOldDuplicate, WhatIsNewIsTaken)
{
	pair->post_cas(0, 2);
	expect_good(1);
	EXPECT_EQ(pair->memory[0], 2);
}

TEST_F(HeldBehindAnOldDuplicate, ALossIsTold)
{
	pair->loses = [lost = false](bool, const prism_bth &bth) mutable {
		return bth.opcode == PRISM_OP_CAS && !std::exchange(lost, true);
	};
	pair->post_cas(0, 2);
	pair->post_cas(0, 3);
	expect_good(2);
	EXPECT_EQ(pair->memory[0], 3);
}

/** A duplicate in between, from whichever request, does not change which requests are to be acknowledged. */
TEST_F(Held, ADuplicateDoesNotAcknowledgeWhatCameAfterIt)
{
	bring_again_behind_a_send([this] { pair->post_cas(0, 1); });
	expect_good(1);
}

/** Neither does an old READ that is answered again. */
TEST_F(Held, AnOldReadTakesNoAcknowledgementAway)
{
	bring_again_behind_a_send([this] { pair->post_read(0, long_read); });
	ASSERT_TRUE(pair->server.qp.resp.stream.active);
	expect_good(1);
}

/** An acknowledgement of everything executed would tell the peer that the READ's answer was lost. */
TEST_F(Held, ADuplicateOfASendIsAcknowledgedBeforeTheRead)
{
	pair.emplace(without_timer());
	const soft::Sge receive{Pair::va + 4096, 64, pair->key};
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

/** Packets that the test hands to the server while the READ is being answered. */
class Line : public Held
{
protected:
	void SetUp() override { begin(without_timer()); }

	prism_request write(std::uint32_t length) const { return pair->whole(PRISM_WRITE, length); }
	prism_request cas() const { return pair->whole(PRISM_CAS, 0); }

	void deliver(std::uint32_t psn, const prism_request &request)
	{
		const std::uint32_t payload = request.op == PRISM_WRITE ? request.length : 0;
		pair->deliver(pair->server_node, craft_request(server(), psn, request, payload));
	}

	/** Requests the same READ from its packet at @p psn on. */
	void ask_again(std::uint32_t psn)
	{
		prism_request request = write(long_read);
		request.op = PRISM_READ;
		deliver(psn, request);
	}

	/** Advances to the time when the next train of the READ is due. */
	void next_train()
	{
		pair->now = std::max(pair->now, server().resp.stream.next);
		pair->server_node.engine.progress(pair->now);
	}

	void finish_read()
	{
		for (int i = 0; i < 10'000 && server().resp.stream.active; i++)
			pair->step();
		ASSERT_FALSE(server().resp.stream.active);
	}

	soft::QueuePair &server() { return pair->server.qp; }
	Outbox &answers() { return pair->server_node.outbox; }

	static constexpr std::uint32_t behind = long_read / 1024;
};

/** A request touches memory only after all before it have read their last byte. */
TEST_F(Line, KeepsTheOrder)
{
	pair->memory[long_read - 1] = 0x11;
	prism_request request = write(1);
	request.va = Pair::va + long_read - 1;
	std::vector<std::uint8_t> packet = craft_request(server(), behind, request, 4);
	packet[1] |= 3 << 4; /* three bytes of pad */
	packet[packet.size() - 4] = 0x22;
	pair->deliver(pair->server_node, packet);
	EXPECT_EQ(pair->memory[long_read - 1], 0x11);
	expect_good(1);
	EXPECT_EQ(pair->local[long_read - 1], 0x11);
	EXPECT_EQ(pair->memory[long_read - 1], 0x22);
}

TEST_F(Line, TakesEachPacketOnce)
{
	deliver(behind, cas());
	deliver(behind, cas());
	EXPECT_EQ(server().resp.held.size(), 1u);
	deliver(behind + 1, cas());
	EXPECT_EQ(server().resp.held.size(), 2u);
}

TEST_F(Line, TakesNothingBehindALoss)
{
	deliver(behind + 1, cas());
	EXPECT_TRUE(server().resp.held.empty());
	EXPECT_EQ(counters().rx_out_of_sequence, 1u);
	EXPECT_EQ(answers().size(), 0u);
	deliver(behind, cas());
	EXPECT_EQ(server().resp.held.size(), 1u);
}

/** Requests beyond its capacity are dropped, and reported as a loss behind the READ's answer. */
TEST_F(Line, IsNotEndless)
{
	std::uint32_t next = behind;
	while (!counters().rx_held_overflow && next < behind + 1000) {
		const std::size_t headers = soft::bth_size + soft::reth_size;
		std::vector<std::uint8_t> packet = craft(server(), soft::rc_write_only, next++, headers + 1024);
		put_unaligned_be64(Pair::va, &packet[soft::bth_size]);
		put_unaligned_be32(pair->key, &packet[soft::bth_size + 8]);
		put_unaligned_be32(1024, &packet[soft::bth_size + 12]);
		pair->deliver(pair->server_node, packet);
	}
	EXPECT_EQ(counters().rx_held_overflow, 1u);
	EXPECT_EQ(counters().tx_nak, 0u);
	finish_read();
	EXPECT_EQ(counters().tx_nak, 1u);
	EXPECT_EQ(server().resp.expected_psn, next - 1);
}

/** The answers of READs are replayed when it is their turn. */
TEST_F(Line, EarlierAnswersAreReplayedAtOnce)
{
	pair.emplace(without_timer());
	pair->post_cas(0, 1);
	pair->post_read(128, 64);
	expect_good(2);
	pair->post_read(0, long_read);
	while (pair->client.qp.sq.at(2).acked < 128)
		pair->step();
	deliver(0, cas());
	ASSERT_EQ(answers().size(), 1u);
	EXPECT_EQ(answers().at(0).bytes[0], PRISM_OP_RESPONSE);
	prism_request read = write(64);
	read.op = PRISM_READ;
	deliver(1, read);
	EXPECT_EQ(answers().size(), 1u);
	next_train();
	ASSERT_EQ(answers().size(), 2u);
	EXPECT_EQ(answers().at(1).bytes[0], PRISM_OP_READ_RESPONSE_ONLY);
	EXPECT_TRUE(server().resp.stream.active);
	expect_good(1);
}

TEST_F(Line, TheAnswerGoesOnWhereItIsAskedFor)
{
	ask_again(40);
	ask_again(30);
	EXPECT_EQ(answers().size(), 0u);
	next_train();
	ASSERT_GE(answers().size(), 1u);
	prism_bth bth;
	prism_bth_decode(answers().at(0).bytes.data(), &bth);
	EXPECT_EQ(bth.psn, 30u);
	EXPECT_EQ(bth.opcode, PRISM_OP_READ_RESPONSE_MIDDLE);
}

/** The requester has gone back and will repeat both. */
TEST_F(Line, IsDroppedForALongReadBefore)
{
	expect_good(1);
	pair->post_read(0, long_read);
	while (pair->client.qp.sq.at(1).acked < 128)
		pair->step();
	deliver(2 * behind, cas());
	ASSERT_EQ(server().resp.held.size(), 1u);
	ask_again(0);
	next_train();
	EXPECT_TRUE(server().resp.stream.active);
	EXPECT_EQ(server().resp.stream.first_psn, 0u);
	EXPECT_TRUE(server().resp.held.empty());
}

/** Two packets change places: the later one is dropped, which must be reported (W.8.1). */
TEST_F(Line, WhatCameTooEarlyIsToldAsLostThoughTheOneBeforeItCame)
{
	deliver(behind + 1, cas());
	deliver(behind, cas());
	ASSERT_EQ(server().resp.held.size(), 1u);
	finish_read();
	EXPECT_EQ(server().resp.expected_psn, behind + 1);
	EXPECT_EQ(counters().tx_nak, 1u);
}

/** A packet that has arrived again since is no loss. */
TEST_F(Line, WhatCameTooEarlyAndThenInOrderIsNoLoss)
{
	deliver(behind + 1, cas());
	deliver(behind, cas());
	deliver(behind + 1, cas());
	ASSERT_EQ(server().resp.held.size(), 2u);
	finish_read();
	EXPECT_EQ(server().resp.expected_psn, behind + 2);
	EXPECT_EQ(counters().tx_nak, 0u);
}

/** The requester may have had their answers, and have sent other requests in their place. */
TEST_F(Line, DuplicatesDoNotCount)
{
	limit_server(3);
	deliver(behind, cas());
	deliver(behind + 1, cas());
	finish_read();
	answers().clear();
	ask_again(1);
	ASSERT_TRUE(server().resp.stream.active);
	for (std::uint32_t i = 0; i < 5; i++)
		deliver(behind + i, cas());
	finish_read();
	EXPECT_EQ(counters().rx_excess_request, 0u);
	EXPECT_EQ(server().resp.expected_psn, behind + 5);
	EXPECT_EQ(server().state, IBV_QPS_RTS);
}

TEST_F(Line, OneMoreIsOneTooManyBehindADuplicateToo)
{
	limit_server(3);
	finish_read();
	ask_again(1);
	ASSERT_TRUE(server().resp.stream.active);
	for (std::uint32_t i = 0; i < 4; i++)
		deliver(behind + i, cas());
	finish_read();
	EXPECT_EQ(counters().rx_excess_request, 1u);
	EXPECT_EQ(counters().prism_cas, 3u);
	EXPECT_EQ(server().state, IBV_QPS_ERR);
}

/** Standard requests count with the others. */
TEST_F(Line, AStandardReadOrAtomicIsOneTooMany)
{
	for (const std::uint8_t opcode : {soft::rc_read_request, soft::rc_fetch_add, soft::rc_atomic_write}) {
		begin(without_timer());
		limit_server(1);
		const std::size_t size = opcode == soft::rc_fetch_add      ? soft::atomic_eth_size
					 : opcode == soft::rc_read_request ? soft::reth_size
									   : soft::reth_size + 8;
		std::vector<std::uint8_t> packet = craft(server(), opcode, behind, soft::bth_size + size);
		put_unaligned_be64(Pair::va, &packet[soft::bth_size]);
		put_unaligned_be32(pair->key, &packet[soft::bth_size + 8]);
		put_unaligned_be32(8, &packet[soft::bth_size + 12]);
		pair->deliver(pair->server_node, packet);
		finish_read();
		EXPECT_EQ(counters().rx_excess_request, 1u) << "opcode " << unsigned{opcode};
		EXPECT_EQ(server().state, IBV_QPS_ERR);
	}
}

/** A SEND that came behind the READ must still be acknowledged. */
TEST_F(Line, AReadThatIsAnsweredAgainAcknowledgesNothingBehindIt)
{
	const soft::Sge receive{Pair::va + 4096, 64, pair->key};
	pair->server.post_receive(1, {&receive, 1});
	expect_good(1);
	pair->post_send(64);
	pair->step();
	pair->deliver(pair->server_node, pair->take_flying());
	ASSERT_TRUE(server().resp.ack_pending);
	prism_request request = write(64);
	request.op = PRISM_READ;
	request.length = long_read;
	deliver(behind - 1, request);
	EXPECT_FALSE(server().resp.stream.active);
	expect_good(1);
}

/** The memory that it reads may rightly have gone since. */
TEST_F(Line, AReadThatIsAnsweredAgainMayFault)
{
	expect_good(1);
	ask_again(1);
	ASSERT_TRUE(server().resp.stream.active);
	pair->server_node.engine.memory.remove(pair->key);
	finish_read();
	EXPECT_EQ(counters().rx_access_error, 1u);
	EXPECT_EQ(counters().tx_nak, 1u);
	EXPECT_EQ(server().state, IBV_QPS_RTS);
}

/** So that a default socket buffer can hold it (W.8.4). */
TEST_F(Line, ALongAnswerLeavesInBursts)
{
	expect_good(1);
	pair->post_read(0, 1 << 20);
	std::map<soft::Time, std::uint32_t> bursts;
	pair->loses = [&](bool to_client, const prism_bth &) {
		bursts[pair->now] += to_client;
		return false;
	};
	expect_good(1);
	EXPECT_GE(bursts.size(), 10u);
	const auto larger = [&bursts](std::uint32_t than) {
		return std::ranges::count_if(bursts, [than](const auto &burst) { return burst.second > than; });
	};
	EXPECT_EQ(larger(128), 0);
	EXPECT_EQ(larger(64), 1) << "the first";
}

} // namespace
