/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Chain states beside standard requests (S.8.2), and contents of completions (S.8.3). */
#include <gtest/gtest.h>

#include <functional>

#include "craft.hpp"
#include "pair.hpp"

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

class Chain : public testing::Test
{
protected:
	Chain() { pair.server_node.engine.add_srq(list); }
	~Chain() override { pair.server_node.engine.remove_srq(list); }

	/** Runs the request; returns its status, if it has completed well. */
	unsigned finish()
	{
		const std::vector<ibv_wc> wc = pair.run(1);
		EXPECT_EQ(wc.size(), 1u);
		completion = wc.empty() ? ibv_wc{} : wc[0];
		EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
		return completion.vendor_err;
	}

	/** Runs a comparison that does not hold. */
	void miss(std::uint32_t local = 0)
	{
		pair.post_miss(local);
		ASSERT_EQ(finish(), unsigned{PRISM_STATUS_CAS_MISS});
	}

	void post_standard(soft::SendKind kind)
	{
		soft::SendRequest &wr = *pair.client.next();
		wr.kind = kind;
		wr.wc_opcode = IBV_WC_SEND;
		wr.remote_addr = Pair::va + 128;
		wr.rkey = pair.key;
		const soft::Sge sge{Pair::va, 8, pair.local_key};
		pair.client.post(wr, {&sge, 1});
	}

	void allocate(std::uint32_t length, std::uint8_t flags = 0)
	{
		prism_request request{};
		request.op = PRISM_ALLOCATE;
		request.free_list = list.number;
		request.length = length;
		request.flags = flags;
		soft::SendRequest &wr = *pair.client.next();
		wr.result = {Pair::va + 1024, 8, pair.local_key};
		set_prism(pair.client, wr, request, {});
		const soft::Sge sge{Pair::va, length, pair.local_key};
		pair.client.post(wr, {&sge, 1});
	}

	Pair pair;
	ibv_wc completion{};
	soft::SharedReceiveQueue list{pair.server_node.engine.take_srqn(), 1, 4, 1, true};
};

TEST_F(Chain, BeginsAnewWithAStandardRequest)
{
	using soft::SendKind;
	const soft::Sge receive{Pair::va + 4096, 64, pair.key};
	pair.server.post_receive(1, {&receive, 1});
	for (const SendKind kind :
		{SendKind::send, SendKind::write, SendKind::read, SendKind::atomic, SendKind::atomic_write}) {
		miss();
		post_standard(kind);
		finish();
		pair.post_cas(0, 1, PRISM_FLAG_C);
		EXPECT_EQ(finish(), unsigned{PRISM_STATUS_OK}) << "after kind " << static_cast<int>(kind);
	}
}

TEST_F(Chain, DoesNotBeginAnewWithARepeatedOne)
{
	using soft::SendKind;
	const soft::Sge receive{Pair::va + 4096, 64, pair.key};
	pair.server.post_receive(1, {&receive, 1});
	for (const SendKind kind :
		{SendKind::send, SendKind::write, SendKind::read, SendKind::atomic, SendKind::atomic_write}) {
		post_standard(kind);
		pair.step();
		const std::vector<std::uint8_t> packet = pair.take_flying();
		pair.deliver(pair.server_node, packet);
		finish();
		miss();
		pair.deliver(pair.server_node, packet);
		EXPECT_FALSE(pair.server.qp.resp.chain_ok) << "after kind " << static_cast<int>(kind);
	}
}

TEST_F(Chain, StopsAtAFailureUntilARequestWithoutACondition)
{
	miss();
	for (int i = 0; i < 2; i++) {
		pair.post_cas(0, 7, PRISM_FLAG_C);
		EXPECT_EQ(finish(), unsigned{PRISM_STATUS_SKIPPED});
	}
	EXPECT_EQ(pair.memory[0], 0);
	pair.post_cas(0, 7);
	EXPECT_EQ(finish(), unsigned{PRISM_STATUS_OK});
	pair.post_cas(0, 8, PRISM_FLAG_C);
	EXPECT_EQ(finish(), unsigned{PRISM_STATUS_OK});
}

/* Completions */

TEST_F(Chain, AMissBringsTheOldBytes)
{
	pair.memory[64] = 0x55;
	std::fill_n(pair.local.begin(), 16, 0xee);
	miss(8);
	EXPECT_EQ(completion.byte_len, 8u);
	EXPECT_EQ(pair.local[0], 0x55);
	EXPECT_EQ(pair.local[8], 0xee);
}

TEST_F(Chain, ASkippedCasBringsNothing)
{
	miss();
	std::fill_n(pair.local.begin(), 16, 0xee);
	prism_request request{};
	request.op = PRISM_CAS;
	request.flags = PRISM_FLAG_C;
	request.cas_size = 8;
	request.va = Pair::va;
	const std::uint8_t operands[32] = {};
	pair.post(request, 8, operands);
	EXPECT_EQ(finish(), unsigned{PRISM_STATUS_SKIPPED});
	EXPECT_EQ(completion.byte_len, 0u);
	EXPECT_EQ(pair.local[0], 0xee);
}

TEST_F(Chain, AnAllocateBringsTheAddressOrNone)
{
	pair.server_node.engine.post_free_list(list, 1, {Pair::va + 8192, 256, pair.key});
	allocate(64);
	EXPECT_EQ(finish(), unsigned{PRISM_STATUS_OK});
	EXPECT_EQ(completion.byte_len, 8u);
	EXPECT_EQ(get_unaligned_le64(&pair.local[1024]), Pair::va + 8192);
	allocate(64);
	EXPECT_EQ(finish(), unsigned{PRISM_STATUS_NO_BUFFER});
	EXPECT_EQ(completion.byte_len, 0u);
	EXPECT_EQ(get_unaligned_le64(&pair.local[1024]), 0u);
	std::fill_n(&pair.local[1024], 8, 0xee);
	allocate(64, PRISM_FLAG_C);
	EXPECT_EQ(finish(), unsigned{PRISM_STATUS_SKIPPED});
	EXPECT_EQ(get_unaligned_le64(&pair.local[1024]), 0u);
}

/** A chain's last request reports for all of them. */
TEST_F(Chain, UnsignalledRequestsCompleteInSilence)
{
	pair.post_cas(0, 1);
	pair.client.qp.sq.at(0).signaled = false;
	pair.post_cas(0, 2, PRISM_FLAG_C);
	pair.client.qp.sq.at(1).wr_id = 2;
	finish();
	EXPECT_EQ(completion.wr_id, 2u);
	EXPECT_TRUE(pair.client.send_cq.empty());
}

} // namespace
