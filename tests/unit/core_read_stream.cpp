/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Long READs that lose packets: they go on in their resolution (W.8), and end in any case. */
#include <gtest/gtest.h>

#include <utility>

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

/** A network that loses so much is bad, but neither the work nor the time may grow out of proportion. */
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

/** To a peer that does not resume READs too: what was read before is not progress. */
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
	bool lost = false;
	pair.loses = [&](bool to_client, const prism_bth &bth) {
		if (!to_client)
			asked.push_back(bth.psn);
		return to_client && bth.psn == 30 && !std::exchange(lost, true);
	};
	pair.post_read(0, 64 << 10);
	ASSERT_EQ(pair.run(1).size(), 1u);
	EXPECT_EQ(asked, (std::vector<std::uint32_t>{0, 30}));
	EXPECT_EQ(pair.server.qp.resp.resolution, 1u);
}

/** A pointer, and behind it a buffer that is on a free list as well. */
class Resolution : public testing::Test
{
protected:
	static constexpr std::uint64_t pointer = 64, old_buffer = 0x10000, new_buffer = 0x20000;
	static constexpr std::uint32_t length = 8192;

	Resolution()
	{
		pair.server_node.engine.add_srq(list);
		std::fill_n(&pair.memory[old_buffer], length, 0xaa);
		std::fill_n(&pair.memory[new_buffer], length, 0xbb);
		point_at(Pair::va + old_buffer);
	}

	~Resolution() override { pair.server_node.engine.remove_srq(list); }

	void point_at(std::uint64_t address) { put_unaligned_le64(address, &pair.memory[pointer]); }

	/** As the owner does, once no pointer leads to the old buffer any more. */
	void recycle()
	{
		other.connect(other_server, {});
		other_server.connect(other, {});
		pair.server_node.engine.post_free_list(list, 1, {Pair::va + old_buffer, length, pair.key});
		prism_request request{};
		request.op = PRISM_ALLOCATE;
		request.first = request.last = true;
		request.free_list = list.number;
		std::vector<std::uint8_t> packet(prism_request_header_size(&request));
		prism_bth bth{};
		bth.opcode = PRISM_OP_ALLOCATE_ONLY;
		bth.qpn = other_server.qp.qpn;
		prism_bth_encode(packet.data(), &bth);
		prism_request_encode(packet.data(), &request);
		pair.deliver(pair.server_node, packet);
		ASSERT_EQ(list.popped, 1u);
		std::fill_n(&pair.memory[old_buffer], length, 0xcc);
	}

	/** The next response packet at @p psn gets lost. */
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

/** Both are repeated, as the answer to the first gets lost; between the two times the pointer changes, then a word. */
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

/** The status that decided is the one that is told. */
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

} // namespace
