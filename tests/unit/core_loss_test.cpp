/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Lost packets are sent again, once, at the first sign of the loss (W.8.1, W.8.3); slots, fences and the timer (S.9.2).
 */
#include <gtest/gtest.h>

#include <malloc.h>

#include <utility>

#include "pair.hpp"

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

/** Without a timer: a loss that no packet reveals is never repaired. */
class LossWithoutTimer : public testing::Test
{
protected:
	/** Loses the next packet to one side that has this opcode or, if it is 0, this PSN. */
	void lose(bool answers, std::uint8_t opcode, std::uint32_t psn = 0)
	{
		pair.loses = [=, lost = false](bool to_client, const prism_bth &bth) mutable {
			if (to_client != answers || (opcode ? bth.opcode != opcode : bth.psn != psn))
				return false;
			return !std::exchange(lost, true);
		};
	}

	void post_receive()
	{
		const soft::Sge receive{Pair::va + 4096, 64, pair.key};
		pair.server.post_receive(1, {&receive, 1});
	}

	void expect_good(std::size_t count)
	{
		const std::vector<ibv_wc> completed = pair.run(count, 100'000'000);
		ASSERT_EQ(completed.size(), count);
		for (const ibv_wc &wc : completed)
			EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	}

	Pair pair{without_timer()};
	soft::ProtocolCounters &server = pair.server_node.engine.counters;
	soft::ProtocolCounters &client = pair.client_node.engine.counters;
};

TEST_F(LossWithoutTimer, IsToldOnceEachTime)
{
	for (std::uint64_t round = 1; round <= 3; round++) {
		lose(false, PRISM_OP_CAS);
		for (std::uint64_t i = 0; i < 4; i++)
			pair.post_cas(0, i);
		expect_good(4);
		EXPECT_EQ(server.tx_nak, round);
		EXPECT_EQ(server.rx_out_of_sequence, 3 * round);
		EXPECT_EQ(client.retransmits, round);
	}
	EXPECT_EQ(server.rx_duplicate, 0u);
}

TEST_F(LossWithoutTimer, IsImpliedByALaterResponse)
{
	lose(true, PRISM_OP_RESPONSE);
	for (std::uint64_t i = 0; i < 4; i++)
		pair.post_cas(0, i);
	expect_good(4);
	EXPECT_EQ(client.retransmits, 1u);
	EXPECT_EQ(server.prism_cas, 4u);
}

TEST_F(LossWithoutTimer, IsImpliedByALaterAcknowledge)
{
	post_receive();
	lose(true, PRISM_OP_RESPONSE);
	pair.post_cas(0, 1);
	pair.post_send(64);
	expect_good(2);
	EXPECT_EQ(server.prism_cas, 1u);
}

TEST_F(LossWithoutTimer, IsImpliedByALaterRnrNak)
{
	lose(true, PRISM_OP_RESPONSE);
	pair.post_cas(0, 1);
	pair.post_send(64);
	pair.pass(2);
	ASSERT_EQ(server.tx_rnr_nak, 1u);
	post_receive();
	expect_good(2);
}

TEST_F(LossWithoutTimer, IsImpliedByAGapInAReadsAnswer)
{
	lose(true, 0, 3);
	pair.post_read(0, 64 << 10);
	expect_good(1);
	EXPECT_EQ(client.retransmits, 1u);
}

/** Another loss in the same READ, after progress. */
TEST_F(LossWithoutTimer, AfterProgressIsOneOfItsOwn)
{
	std::uint64_t losses = 0;
	pair.loses = [&](bool to_client, const prism_bth &bth) {
		const bool gone_back = client.retransmits == losses;
		return to_client && gone_back && losses < 3 && bth.psn == 10 * (losses + 1) && ++losses;
	};
	pair.post_read(0, 64 << 10);
	expect_good(1);
	EXPECT_EQ(losses, 3u);
	EXPECT_EQ(client.retransmits, 3u);
}

TEST_F(LossWithoutTimer, OfAReadIsRepeatedWholeForAPeerThatDoesNotResume)
{
	pair.client.qp.peer_features &= ~std::uint64_t{PRISMDV_FEATURE_RESUME};
	std::vector<std::uint32_t> asked;
	pair.lose_answer_once(30, asked);
	pair.post_read(0, 64 << 10);
	expect_good(1);
	EXPECT_EQ(asked, (std::vector<std::uint32_t>{0, 0}));
}

/* Slots and fences: which requests leave at once */

class Slots : public testing::Test
{
protected:
	static ConnectOptions slots(std::uint32_t count)
	{
		ConnectOptions options;
		options.max_rd_atomic = count;
		return options;
	}

	static std::size_t sent_at_once(Pair &pair)
	{
		pair.client_node.engine.progress(pair.now);
		return pair.client_node.outbox.size();
	}
};

TEST_F(Slots, HoldBackPrismRequests)
{
	Pair pair(slots(2));
	for (std::uint64_t i = 0; i < 5; i++)
		pair.post_cas(0, i);
	EXPECT_EQ(sent_at_once(pair), 2u);
	EXPECT_EQ(pair.run(5).size(), 5u);
	EXPECT_EQ(pair.client.qp.req.outstanding, 0u);
}

/** Each request counts once, however often it is sent. */
TEST_F(Slots, AreTakenOnceByWhatIsSentAgain)
{
	Pair pair(slots(2));
	unsigned lost = 0;
	pair.loses = [&lost](bool, const prism_bth &bth) { return bth.opcode == PRISM_OP_CAS && lost++ < 3; };
	for (std::uint64_t i = 0; i < 5; i++)
		pair.post_cas(0, i);
	const std::vector<ibv_wc> wc = pair.run(5);
	ASSERT_EQ(wc.size(), 5u);
	EXPECT_EQ(wc[4].status, IBV_WC_SUCCESS);
	EXPECT_EQ(pair.client.qp.req.outstanding, 0u);
}

TEST_F(Slots, FenceWaitsForPrismRequests)
{
	Pair pair(slots(16));
	pair.post_cas(0, 1);
	pair.post_send(64);
	pair.client.qp.sq.at(1).fence = true;
	const soft::Sge receive{Pair::va + 4096, 64, pair.key};
	pair.server.post_receive(1, {&receive, 1});
	EXPECT_EQ(sent_at_once(pair), 1u);
	EXPECT_EQ(pair.run(2).size(), 2u);
}

/* Time */

TEST(Timer, RunsFromTheLastPacketOfALongAnswer)
{
	ConnectOptions options;
	options.ack_timeout = 100'000;
	Pair pair(options);
	pair.post_read(0, 1 << 20);
	ASSERT_EQ(pair.run(1).size(), 1u);
	EXPECT_GT(pair.now, 200'000u) << "else this says nothing";
	EXPECT_EQ(pair.client_node.engine.counters.timeouts, 0u);
}

/** Each of these must be sent again, which only the timer reveals. */
TEST(Timer, CountsAnewAfterProgress)
{
	ConnectOptions options;
	options.retry_count = 1;
	Pair pair(options);
	std::uint64_t sent = 0;
	pair.loses = [&sent](bool to_client, const prism_bth &) { return !to_client && sent++ % 2 == 0; };
	for (std::uint64_t i = 0; i < 4; i++) {
		pair.post_cas(0, i);
		const std::vector<ibv_wc> wc = pair.run(1);
		ASSERT_EQ(wc.size(), 1u);
		EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
	}
	EXPECT_EQ(pair.client_node.engine.counters.timeouts, 4u);
}

TEST(Timer, TellsSoonThatThePeerIsGone)
{
	ConnectOptions options;
	Pair pair(options);
	pair.loses = [](bool, const prism_bth &) { return true; };
	pair.post_cas(0, 1);
	const std::vector<ibv_wc> wc = pair.run(1);
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].status, IBV_WC_RETRY_EXC_ERR);
	EXPECT_EQ(pair.client_node.engine.counters.timeouts, options.retry_count + 1u);
	EXPECT_LT(pair.now, (1 + 2 * options.retry_count) * options.ack_timeout + 100'000);
}

/** A requester that tolerates seconds of silence waits less for a packet that is lost behind all others. */
TEST(Timer, IsShortTheFirstTimeAndThatDoesNotCount)
{
	constexpr soft::Time second = 1'000'000'000;
	ConnectOptions options;
	options.ack_timeout = second;
	options.retry_count = 1;
	Pair pair(options);
	bool is_there = true;
	std::uint64_t sent = 0;
	pair.loses = [&](bool to_client, const prism_bth &) { return !is_there || (!to_client && sent++ % 2 == 0); };
	for (std::uint64_t i = 0; i < 2; i++) {
		pair.post_cas(0, i);
		const std::vector<ibv_wc> wc = pair.run(1);
		ASSERT_EQ(wc.size(), 1u);
		EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
		EXPECT_LT(pair.now, (i + 1) * second / 10);
	}
	is_there = false;
	const soft::Time gone = pair.now;
	pair.post_cas(0, 2);
	const std::vector<ibv_wc> wc = pair.run(1);
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].status, IBV_WC_RETRY_EXC_ERR);
	EXPECT_GT(pair.now - gone, (1 + options.retry_count) * second);
}

/** Each wait is shorter than the timer that it replaces, whose entry would be kept until that runs out. */
TEST(Timers, AReceiverThatIsNeverReadyTakesNoMemory)
{
	ConnectOptions options;
	options.ack_timeout = soft::Time{4096} << 31;
	Pair pair(options);
	pair.post_send(8);
	pair.pass(1000);
	const soft::Counter &waits = pair.client_node.engine.counters.rx_rnr_nak;
	const std::uint64_t begun = waits;
	const std::size_t before = mallinfo2().uordblks;
	pair.pass(100'000);
	EXPECT_GT(waits - begun, 8000u);
	EXPECT_LT(mallinfo2().uordblks, before + (1 << 10)) << "room for timers was reserved";
}

} // namespace
