/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Refused requests: which completion tells of it, and which rule is the one that is counted (S.11.1, W.5). */
#include <gtest/gtest.h>

#include <utility>

#include "pair.hpp"

namespace
{

using namespace prism::test;

class Refused : public testing::Test
{
protected:
	/** A CAS with a key that names nothing. */
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

	/** The @p number-th packet to the client gets lost. */
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

/** What became of the one before it nobody knows any more. */
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

/** A READ that is refused in its midst is the refused one, whatever was lost of it. */
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

} // namespace
