/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Long READs that lose packets: they resume their resolution (W.8), and end in any case. */
#include <gtest/gtest.h>

#include <utility>

#include "craft.hpp"
#include "pair.hpp"
#include "random.hpp"

namespace
{

using namespace prism::test;

constexpr std::uint32_t megabyte = 1 << 20;

std::size_t differences(const Pair &pair, std::uint32_t length)
{
	std::size_t count = 0;
	for (std::uint32_t i = 0; i < length; i++)
		count += pair.local[i] != pair.memory[i];
	return count;
}

class Loss : public testing::TestWithParam<int>
{
};

/** With such losses a READ is slow, but neither the work nor the time may grow out of proportion. */
TEST_P(Loss, MegabyteEnds)
{
	Random random(7);
	ConnectOptions options;
	options.mtu = 1024;
	Pair pair(options);
	for (std::size_t i = 0; i < pair.memory.size(); i++)
		pair.memory[i] = static_cast<std::uint8_t>(i * 31 >> 5);
	pair.loses = [&](bool, const prism_bth &) { return random.chance(GetParam()); };
	for (unsigned round = 1; round <= 10; round++) {
		std::fill(pair.local.begin(), pair.local.end(), 0);
		pair.post_read(0, megabyte);
		const std::vector<ibv_wc> wc = pair.run(1, 1'000'000'000);
		ASSERT_EQ(wc.size(), 1u) << "READ " << round << " goes on for ever";
		ASSERT_EQ(wc[0].status, IBV_WC_SUCCESS);
		ASSERT_EQ(wc[0].byte_len, megabyte);
		ASSERT_EQ(differences(pair, megabyte), 0u);
	}
	constexpr std::uint64_t once = 10 * megabyte / 1024;
	EXPECT_LT(pair.packets, once * 8);
}

INSTANTIATE_TEST_SUITE_P(Percent, Loss, testing::Values(0, 1, 2, 5));

/** Also with a peer that does not resume READs: reading the same bytes again is no progress. */
TEST(ReadStream, EndsWhenTheSamePacketIsAlwaysLost)
{
	for (const bool resumes : {false, true}) {
		ConnectOptions options;
		options.retry_count = 2;
		Pair pair(options);
		if (!resumes)
			pair.client.qp.peer_features &= ~std::uint64_t{PRISMDV_FEATURE_RESUME};
		pair.loses = [](bool to_client, const prism_bth &bth) { return to_client && bth.psn == 30; };
		pair.post_read(0, 64 << 10);
		const std::vector<ibv_wc> wc = pair.run(1, 1'000'000'000);
		ASSERT_EQ(wc.size(), 1u) << "resumes " << resumes;
		EXPECT_EQ(wc[0].status, IBV_WC_RETRY_EXC_ERR);
		EXPECT_LT(pair.client_node.engine.counters.retransmits, 6u);
	}
}

TEST(ReadStream, IsResumedAtTheFirstPacketMissing)
{
	Pair pair;
	std::vector<std::uint32_t> asked;
	pair.lose_answer_once(30, asked);
	pair.post_read(0, 64 << 10);
	ASSERT_EQ(pair.run(1).size(), 1u);
	EXPECT_EQ(asked, (std::vector<std::uint32_t>{0, 30}));
	EXPECT_EQ(pair.server.qp.resp.resolution, 1u);
}

/** A pointer to a buffer that is on a free list as well. */
class Resolution : public testing::Test
{
protected:
	static constexpr std::uint64_t pointer = 64, old_buffer = 0x10000, new_buffer = 0x20000;
	static constexpr std::uint32_t length = 64 << 10;

	Resolution()
	{
		pair.server_node.engine.add_srq(list);
		std::fill_n(&pair.memory[old_buffer], length, 0xaa);
		std::fill_n(&pair.memory[new_buffer], length, 0xbb);
		point_at(Pair::va + old_buffer);
	}

	~Resolution() override { pair.server_node.engine.remove_srq(list); }

	void point_at(std::uint64_t address) { put_unaligned_le64(address, &pair.memory[pointer]); }

	/** Releases the old buffer as the owner does, once no pointer leads to it any more. */
	void release() { pair.server_node.engine.post_free_list(list, 1, {Pair::va + old_buffer, length, pair.key}); }

	/** Allocates the old buffer for another client, which writes to it. */
	void allocate()
	{
		other.connect(other_server, {});
		other_server.connect(other, {});
		prism_request request{};
		request.op = PRISM_ALLOCATE;
		request.first = request.last = true;
		request.free_list = list.number;
		pair.deliver(pair.server_node, craft_request(other_server.qp, 0, request));
		ASSERT_EQ(list.popped, 1u);
		std::fill_n(&pair.memory[old_buffer], length, 0xcc);
	}

	void recycle()
	{
		release();
		allocate();
	}

	/** Loses the next response packet at @p psn. */
	void lose(std::uint32_t psn)
	{
		pair.loses = [this, psn](bool to_client, const prism_bth &bth) {
			return to_client && bth.psn == psn && !std::exchange(lost, true);
		};
	}

	/** Reads through the pointer; @p meanwhile runs when the response packet at @p psn gets lost. */
	ibv_wc read_and_lose(std::uint32_t psn, const std::function<void()> &meanwhile)
	{
		lose(psn);
		pair.post_read(pointer, length, PRISM_FLAG_T);
		pair.pass(2);
		EXPECT_TRUE(lost);
		meanwhile();
		const std::vector<ibv_wc> wc = pair.run(1);
		EXPECT_EQ(wc.size(), 1u);
		return wc.empty() ? ibv_wc{} : wc[0];
	}

	std::size_t count(std::uint8_t byte) const
	{
		return static_cast<std::size_t>(std::count(pair.local.begin(), pair.local.begin() + length, byte));
	}

	Pair pair;
	bool lost = false;
	prism::soft::SharedReceiveQueue list{pair.server_node.engine.take_srqn(), 1, 16, 1, true};
	Endpoint other_server{pair.server_node, {}}, other{pair.client_node, {}};
};

TEST_F(Resolution, OutlivesAChangeOfThePointer)
{
	const ibv_wc wc = read_and_lose(3, [this] { point_at(Pair::va + new_buffer); });
	EXPECT_EQ(wc.vendor_err, PRISM_STATUS_OK);
	EXPECT_EQ(count(0xaa), length);
}

/** Both are repeated, as the first one's answer is lost; meanwhile the pointer changes, and then a word. */
TEST_F(Resolution, IsNotOlderThanAReadBeforeIt)
{
	lose(0);
	pair.post_read(0, 8);
	prism_request request{};
	request.op = PRISM_READ;
	request.flags = PRISM_FLAG_T;
	request.va = Pair::va + pointer;
	request.length = 64;
	pair.post(request, 64, {}, 64);
	pair.pass(2);
	ASSERT_TRUE(lost);
	point_at(Pair::va + new_buffer);
	pair.memory[0] = 1;
	ASSERT_EQ(pair.run(2).size(), 2u);
	EXPECT_EQ(pair.local[0], 1);
	EXPECT_EQ(pair.local[64], 0xbb);
}

TEST_F(Resolution, EndsWhenItsBufferIsHandedOut)
{
	const ibv_wc wc = read_and_lose(3, [this] {
		point_at(Pair::va + new_buffer);
		recycle();
	});
	EXPECT_EQ(wc.vendor_err, PRISM_STATUS_OK);
	EXPECT_EQ(count(0xbb), length) << "not one byte of the next owner's";
	EXPECT_EQ(pair.server.qp.resp.resolution, 2u);
}

/** The READ resumes in bursts. Its buffer is free since before the first, and gets an owner between two of them. */
TEST_F(Resolution, EndsWhenItsBufferIsHandedOutBetweenTwoBursts)
{
	const prism::soft::ReadStream &stream = pair.server.qp.resp.stream;
	const ibv_wc wc = read_and_lose(3, [&] {
		point_at(Pair::va + new_buffer);
		release();
		ASSERT_EQ(pair.server_node.engine.allocatable(list), 1u);
		for (unsigned steps = 0; !stream.active && steps < 10'000; steps++)
			pair.step();
		ASSERT_TRUE(stream.active && stream.resumed && stream.offset > 4 * pair.server.qp.attr.mtu);
		allocate();
	});
	EXPECT_EQ(wc.vendor_err, PRISM_STATUS_OK);
	EXPECT_EQ(count(0xbb), length) << "not one byte of the next owner's";
	EXPECT_EQ(pair.server.qp.resp.resolution, 2u);
	EXPECT_EQ(pair.client_node.engine.counters.timeouts, 0u) << "the client is told that it has to ask again";
}

TEST_F(Resolution, MayEndOtherwiseWhenItIsTheLast)
{
	const ibv_wc wc = read_and_lose(0, [this] {
		point_at(0);
		recycle();
	});
	EXPECT_EQ(wc.vendor_err, PRISM_STATUS_NULL_POINTER);
	pair.post_cas(0, 1, PRISM_FLAG_C);
	const std::vector<ibv_wc> next = pair.run(1);
	ASSERT_EQ(next.size(), 1u);
	EXPECT_EQ(next[0].vendor_err, PRISM_STATUS_SKIPPED) << "the chain follows what the client was told";
}

/** The status that decided the chain is the one that is reported. */
TEST_F(Resolution, StaysSuccessfulForItsChain)
{
	lose(0);
	pair.post_read(pointer, 64, PRISM_FLAG_T);
	pair.post_cas(0, 7, PRISM_FLAG_C);
	pair.pass(2);
	ASSERT_TRUE(lost);
	point_at(0);
	const std::vector<ibv_wc> wc = pair.run(2);
	ASSERT_EQ(wc.size(), 2u);
	EXPECT_EQ(wc[0].vendor_err, PRISM_STATUS_OK);
	EXPECT_EQ(wc[1].vendor_err, PRISM_STATUS_OK);
	EXPECT_EQ(pair.memory[0], 7);
	EXPECT_EQ(pair.local[0], 0xaa);
}

TEST_F(Resolution, IsAFaultWhenItsChainHasRunAndItsBufferIsGone)
{
	lose(0);
	pair.post_read(pointer, 64, PRISM_FLAG_T);
	pair.post_cas(0, 7, PRISM_FLAG_C);
	pair.pass(2);
	point_at(0);
	recycle();
	const std::vector<ibv_wc> wc = pair.run(2);
	ASSERT_EQ(wc.size(), 2u);
	EXPECT_EQ(wc[0].status, IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(pair.server.qp.state, IBV_QPS_RTS);
}

/** A READ of four packets whose answer the test makes. */
class Latch : public testing::Test
{
protected:
	static constexpr std::uint32_t length = 4096;

	void ask(std::uint8_t flags = 0)
	{
		pair.post_read(0, length, flags);
		pair.client_node.engine.progress(pair.now);
		pair.client_node.outbox.clear();
	}

	void answer(prism_opcode opcode, std::uint32_t psn, std::uint32_t resolution, std::uint8_t fill)
	{
		pair.deliver(pair.client_node, craft_data(pair.client.qp, opcode, psn, resolution, length, 1024, fill));
	}

	/** Returns the PSNs that it requests now. */
	std::vector<std::uint32_t> asked()
	{
		std::vector<std::uint32_t> psns;
		pair.client_node.engine.progress(pair.now);
		for (std::size_t i = 0; i < pair.client_node.outbox.size(); i++) {
			prism_bth bth;
			prism_bth_decode(pair.client_node.outbox.at(i).bytes.data(), &bth);
			psns.push_back(bth.psn);
		}
		pair.client_node.outbox.clear();
		return psns;
	}

	void expect_completed(std::uint8_t fill)
	{
		ibv_wc wc;
		ASSERT_EQ(pair.client.send_cq.poll(1, &wc), 1);
		EXPECT_EQ(wc.byte_len, length);
		EXPECT_EQ(std::count(pair.local.begin(), pair.local.begin() + length, fill), length);
	}

	Pair pair;
	prism::soft::SendRequest &wr = pair.client.qp.sq.at(0);
	prism::soft::ProtocolCounters &counters = pair.client_node.engine.counters;
	const std::vector<std::uint32_t> nothing{}, from_the_first{0};
};

TEST_F(Latch, BeginsAnewWithANewerResolution)
{
	ask();
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 9, 0xbb);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 9, 0xbb);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 2, 9, 0xbb);
	answer(PRISM_OP_READ_RESPONSE_LAST, 3, 9, 0xbb);
	EXPECT_EQ(counters.retransmits, 0u);
	expect_completed(0xbb);
}

/** Resolution numbers have 32 bits and wrap. */
TEST_F(Latch, KnowsTheNewerOneBehindTheWrap)
{
	ask();
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 0xffffffff, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 1, 0xbb);
	EXPECT_EQ(counters.rx_resolution_dropped, 0u);
	EXPECT_EQ(wr.resolution, 1u);
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 0xffffffff, 0xaa);
	EXPECT_EQ(counters.rx_resolution_dropped, 1u);
	EXPECT_EQ(wr.resolution, 1u);
}

TEST_F(Latch, DropsOlderResolutions)
{
	ask();
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 9, 0xbb);
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 0xaa);
	EXPECT_EQ(counters.rx_resolution_dropped, 2u);
	EXPECT_EQ(asked(), nothing) << "it is no loss";
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 9, 0xbb);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 2, 9, 0xbb);
	answer(PRISM_OP_READ_RESPONSE_LAST, 3, 9, 0xbb);
	expect_completed(0xbb);
}

/** The FIRST of the newer resolution was lost, and the latched resolution no longer holds. */
TEST_F(Latch, AsksForTheFirstPacketOfANewerResolution)
{
	ask();
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 9, 0xbb);
	EXPECT_EQ(counters.rx_resolution_dropped, 1u);
	EXPECT_FALSE(wr.latched);
	EXPECT_EQ(asked(), from_the_first);
}

TEST_F(Latch, DropsWhatItHas)
{
	ask();
	for (int i = 0; i < 2; i++)
		answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 0xaa);
	for (int i = 0; i < 2; i++)
		answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 0xbb);
	EXPECT_EQ(wr.acked, 2u);
	EXPECT_EQ(counters.rx_response_dropped, 3u);
	EXPECT_EQ(asked(), nothing);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 2, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_LAST, 3, 7, 0xaa);
	expect_completed(0xaa);
}

TEST_F(Latch, IsGivenUpForAStatus)
{
	ask(PRISM_FLAG_T);
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
	pair.deliver(pair.client_node, craft_response(pair.client.qp, 0, PRISM_STATUS_NULL_POINTER));
	ibv_wc wc;
	ASSERT_EQ(pair.client.send_cq.poll(1, &wc), 1);
	EXPECT_EQ(wc.vendor_err, PRISM_STATUS_NULL_POINTER);
}

/** A peer that does not resume resolves the READ anew, and of that nothing has been read yet. */
TEST_F(Latch, CountsProgressAnewWithAPeerThatResumes)
{
	for (const bool resumes : {true, false}) {
		pair.client.connect(pair.server, {});
		if (!resumes)
			pair.client.qp.peer_features &= ~std::uint64_t{PRISMDV_FEATURE_RESUME};
		pair.post_read(0, length);
		pair.client_node.engine.progress(pair.now);
		prism::soft::RequesterState &requester = pair.client.qp.req;
		answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
		answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 0xaa);
		requester.retries = 1;
		answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 8, 0xbb);
		EXPECT_EQ(requester.retries, resumes ? 7 : 1);
		answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 8, 0xbb);
		EXPECT_EQ(requester.retries, resumes ? 7 : 1);
		answer(PRISM_OP_READ_RESPONSE_MIDDLE, 2, 8, 0xbb);
		EXPECT_EQ(requester.retries, 7);
		pair.client_node.engine.reset_qp(pair.client.qp);
	}
}

/** The peer is alive. */
TEST_F(Latch, WhatIsReadAgainRestartsTheTimer)
{
	pair.client.qp.peer_features &= ~std::uint64_t{PRISMDV_FEATURE_RESUME};
	ask();
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 0xaa);
	const prism::soft::Time deadline = pair.client.qp.deadline;
	pair.now += 1000;
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 8, 0xbb);
	EXPECT_EQ(pair.client.qp.deadline, deadline + 1000);
}

TEST_F(Latch, KnowsPacketsByTheirPlace)
{
	ask();
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_FIRST, 1, 7, 0xbb);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 2, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_ONLY, 3, 7, 0xbb);
	EXPECT_EQ(counters.rx_response_dropped, 2u);
	answer(PRISM_OP_READ_RESPONSE_LAST, 3, 7, 0xaa);
	expect_completed(0xaa);
}

/** A packet of half the size is dropped, so it must not end the latched resolution either. */
TEST_F(Latch, DoesNotBeginAnewWithAPacketThatIsDropped)
{
	ask();
	answer(PRISM_OP_READ_RESPONSE_FIRST, 0, 7, 0xaa);
	pair.deliver(
		pair.client_node, craft_data(pair.client.qp, PRISM_OP_READ_RESPONSE_FIRST, 0, 9, length, 512, 0xbb));
	EXPECT_EQ(counters.rx_response_dropped, 1u);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 1, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_MIDDLE, 2, 7, 0xaa);
	answer(PRISM_OP_READ_RESPONSE_LAST, 3, 7, 0xaa);
	expect_completed(0xaa);
}

/**
 * READs of one packet, first resolved as 1, 2, 3, and all again since, as the first answer was lost. The first answers
 * to the others arrive late, behind the second answer to the first READ.
 */
class LateAnswer : public testing::Test
{
protected:
	void ask()
	{
		pair.client_node.engine.progress(pair.now);
		pair.client_node.outbox.clear();
	}

	void answer(std::uint32_t psn, std::uint32_t resolution)
	{
		pair.deliver(pair.client_node,
			craft_data(pair.client.qp, PRISM_OP_READ_RESPONSE_ONLY, psn, resolution, 64, 64));
	}

	int completed()
	{
		ibv_wc wc[4];
		return pair.client.send_cq.poll(4, wc);
	}

	Pair pair{without_timer()};
};

TEST_F(LateAnswer, IsRefusedAndAskedForAgain)
{
	for (int i = 0; i < 2; i++)
		pair.post_read(0, 64);
	ask();
	answer(0, 3);
	ASSERT_EQ(completed(), 1);
	answer(1, 2);
	EXPECT_EQ(completed(), 0) << "it is older than the READ before it";
	EXPECT_EQ(pair.client_node.engine.counters.rx_resolution_dropped, 1u);
	pair.client_node.engine.progress(pair.now);
	EXPECT_EQ(pair.client_node.outbox.size(), 1u) << "nothing else tells that another answer is needed";
	answer(1, 4);
	EXPECT_EQ(completed(), 1);
}

/** The READ keeps its resolution number for good once its chain has run. */
TEST_F(LateAnswer, IsTakenIfAChainGoesOnBehindIt)
{
	for (int i = 0; i < 2; i++)
		pair.post_read(0, 64);
	pair.post_cas(0, 1, PRISM_FLAG_C);
	ask();
	answer(0, 3);
	answer(1, 2);
	EXPECT_EQ(completed(), 2);
}

TEST_F(LateAnswer, IsRefusedIfTheNextRequestIsNotConditional)
{
	for (int i = 0; i < 2; i++)
		pair.post_read(0, 64);
	pair.post_cas(0, 1);
	ask();
	answer(0, 3);
	answer(1, 2);
	EXPECT_EQ(completed(), 1);
}

/** Nothing has been executed because of this READ's success. */
TEST_F(LateAnswer, IsRefusedIfItsChainHasNotBeenSent)
{
	for (int i = 0; i < 2; i++)
		pair.post_read(0, 64);
	ask();
	pair.post_cas(0, 1, PRISM_FLAG_C);
	answer(0, 3);
	answer(1, 2);
	EXPECT_EQ(completed(), 1);
}

TEST_F(LateAnswer, IsRefusedBehindOneThatHasBeenTakenForItsChain)
{
	for (int i = 0; i < 2; i++)
		pair.post_read(0, 64);
	pair.post_cas(0, 1, PRISM_FLAG_C);
	pair.post_read(0, 64);
	ask();
	answer(0, 4);
	answer(1, 2);
	pair.deliver(pair.client_node, craft_response(pair.client.qp, 2, PRISM_STATUS_OK));
	ASSERT_EQ(completed(), 3);
	answer(3, 3);
	EXPECT_EQ(completed(), 0);
	answer(3, 5);
	EXPECT_EQ(completed(), 1);
}

/** Resolution numbers have 32 bits and wrap. */
TEST_F(LateAnswer, IsKnownBehindTheWrap)
{
	for (int i = 0; i < 2; i++)
		pair.post_read(0, 64);
	ask();
	answer(0, 1);
	answer(1, 0xffffffff);
	EXPECT_EQ(completed(), 1);
	answer(1, 2);
	EXPECT_EQ(completed(), 1);
}

TEST_F(LateAnswer, IsNoneOnAConnectionOfItsOwn)
{
	pair.post_read(0, 64);
	ask();
	answer(0, 9);
	ASSERT_EQ(completed(), 1);
	pair.client_node.engine.reset_qp(pair.client.qp);
	pair.client.connect(pair.server, without_timer());
	pair.post_read(0, 64);
	ask();
	answer(0, 1);
	EXPECT_EQ(completed(), 1);
}

} // namespace
