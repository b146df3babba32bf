/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The operations of the InfiniBand architecture (IBTA 9.4, 9.5), which PRISM must not break. */
#include "harness.hpp"

#include <algorithm>

namespace verbs_test
{
namespace
{

class StandardOps : public EachVariant
{
protected:
	StandardOps() { connect(); }

	std::optional<ibv_wc> received() { return next(server.cq.get()); }
};

TEST_P(StandardOps, SendArrivesInThePostedReceive)
{
	client.memory.put(0, "hello");
	post_recv(peer.get(), server.memory.sge(100, 64), 7);
	EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, 5)})).status, IBV_WC_SUCCESS);
	const auto wc = received();
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc->opcode, IBV_WC_RECV);
	EXPECT_EQ(wc->wr_id, 7u);
	EXPECT_EQ(wc->byte_len, 5u);
	EXPECT_EQ(wc->wc_flags & IBV_WC_WITH_IMM, 0u);
	EXPECT_EQ(server.memory.text(100, 5), "hello");
}

TEST_P(StandardOps, SendWithImmediateDeliversIt)
{
	post_recv(peer.get(), server.memory.sge(0, 64));
	Op op = standard(IBV_WR_SEND_WITH_IMM, {client.memory.sge(0, 4)});
	op.value = htobe32(0x12345678);
	EXPECT_EQ(run(op).opcode, IBV_WC_SEND);
	const auto wc = received();
	ASSERT_TRUE(wc);
	EXPECT_TRUE(wc->wc_flags & IBV_WC_WITH_IMM);
	EXPECT_EQ(wc->imm_data, htobe32(0x12345678));
}

TEST_P(StandardOps, SendScattersOverTheReceivesSges)
{
	client.memory.put(0, "abcdefgh");
	ibv_sge sges[] = {server.memory.sge(0, 3), server.memory.sge(64, 5)};
	ibv_recv_wr wr{1, nullptr, sges, 2}, *bad;
	ASSERT_EQ(ibv_post_recv(peer.get(), &wr, &bad), 0);
	EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, 8)})).status, IBV_WC_SUCCESS);
	EXPECT_EQ(server.memory.text(0, 3) + server.memory.text(64, 5), "abcdefgh");
}

TEST_P(StandardOps, SendOfNoBytesConsumesAReceive)
{
	post_recv(peer.get(), server.memory.sge(0, 4));
	EXPECT_EQ(run(standard(IBV_WR_SEND, {})).status, IBV_WC_SUCCESS);
	const auto wc = received();
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->byte_len, 0u);
}

TEST_P(StandardOps, InlineDataMayBeReusedAtOnce)
{
	client.memory.put(0, "inline data");
	ASSERT_EQ(post({standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 6), client.memory.sge(6, 5)}, &server.memory)
				  .with(IBV_SEND_INLINE)}),
		0);
	client.memory.put(0, "overwritten");
	ASSERT_TRUE(next(client.cq.get()));
	EXPECT_EQ(server.memory.text(0, 11), "inline data");
}

TEST_P(StandardOps, WriteGathersItsSges)
{
	client.memory.put(0, "one");
	client.memory.put(100, "two");
	client.memory.put(200, "three");
	const ibv_wc wc = run(standard(IBV_WR_RDMA_WRITE,
		{client.memory.sge(0, 3), client.memory.sge(100, 3), client.memory.sge(200, 5)}, &server.memory, 8));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
	EXPECT_EQ(wc.vendor_err, 0u);
	EXPECT_EQ(server.memory.text(8, 11), "onetwothree");
}

TEST_P(StandardOps, WriteWithImmediateConsumesAReceiveAndReportsTheLength)
{
	post_recv(peer.get(), {}, 9);
	Op op = standard(IBV_WR_RDMA_WRITE_WITH_IMM, {client.memory.sge(0, 3000)}, &server.memory);
	op.value = htobe32(42);
	EXPECT_EQ(run(op).status, IBV_WC_SUCCESS);
	const auto wc = received();
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	EXPECT_EQ(wc->wr_id, 9u);
	EXPECT_EQ(wc->byte_len, 3000u);
	EXPECT_EQ(wc->imm_data, htobe32(42));
}

TEST_P(StandardOps, ReadScattersOverItsSges)
{
	server.memory.put(16, "abcdef");
	const ibv_wc wc = run(
		standard(IBV_WR_RDMA_READ, {client.memory.sge(0, 2), client.memory.sge(50, 4)}, &server.memory, 16));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_RDMA_READ);
	EXPECT_EQ(wc.byte_len, 6u);
	EXPECT_EQ(client.memory.text(0, 2) + client.memory.text(50, 4), "abcdef");
}

TEST_P(StandardOps, WriteAndReadOfNoBytesNeedNoKey)
{
	Op write = standard(IBV_WR_RDMA_WRITE, {}), read = standard(IBV_WR_RDMA_READ, {});
	EXPECT_EQ(run(write).status, IBV_WC_SUCCESS);
	EXPECT_EQ(run(read).status, IBV_WC_SUCCESS);
}

TEST_P(StandardOps, CompareAndSwapSwapsOnlyIfEqual)
{
	server.memory.put(8, std::uint64_t{5});
	Op op = standard(IBV_WR_ATOMIC_CMP_AND_SWP, {client.memory.sge(0, 8)}, &server.memory, 8);
	op.compare_add = 5;
	op.swap = 6;
	const ibv_wc wc = run(op);
	EXPECT_EQ(wc.opcode, IBV_WC_COMP_SWAP);
	EXPECT_EQ(wc.byte_len, 8u);
	EXPECT_EQ(client.memory.word(0), 5u);
	EXPECT_EQ(server.memory.word(8), 6u);
	EXPECT_EQ(run(op).status, IBV_WC_SUCCESS);
	EXPECT_EQ(client.memory.word(0), 6u);
	EXPECT_EQ(server.memory.word(8), 6u);
}

TEST_P(StandardOps, FetchAndAddReturnsTheOldValue)
{
	server.memory.put(0, ~std::uint64_t{0});
	Op op = standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {client.memory.sge(0, 8)}, &server.memory);
	op.compare_add = 3;
	EXPECT_EQ(run(op).opcode, IBV_WC_FETCH_ADD);
	EXPECT_EQ(client.memory.word(0), ~std::uint64_t{0});
	EXPECT_EQ(server.memory.word(0), 2u);
}

TEST_P(StandardOps, MisalignedAtomicIsAnInvalidRequest)
{
	expect_fault(standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {client.memory.sge(0, 8)}, &server.memory, 4),
		IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR, "rx_bad_alignment");
}

TEST_P(StandardOps, RequestsCompleteInTheOrderOfPosting)
{
	std::vector<Op> ops;
	for (std::uint64_t i = 0; i < 48; i++)
		ops.push_back(standard(i % 3 == 0 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
			{client.memory.sge(i * 64, 64)}, &server.memory, i * 64)
				      .id(i));
	ASSERT_EQ(post(ops), 0);
	for (std::uint64_t i = 0; i < 48; i++) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, i);
		EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
	}
}

TEST_P(StandardOps, UnsignalledRequestsCompleteInSilence)
{
	ASSERT_EQ(post({standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory).unsignaled().id(1),
			  standard(IBV_WR_RDMA_READ, {client.memory.sge(0, 8)}, &server.memory).id(2)}),
		0);
	const auto wc = next(client.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->wr_id, 2u);
	EXPECT_FALSE(next(client.cq.get(), 2));
}

TEST_P(StandardOps, FencedWriteSeesWhatTheReadBeforeItFetched)
{
	server.memory.put(0, "fetched!");
	ASSERT_EQ(post({standard(IBV_WR_RDMA_READ, {client.memory.sge(0, 8)}, &server.memory).unsignaled(),
			  standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory, 64)
				  .with(IBV_SEND_FENCE)}),
		0);
	ASSERT_TRUE(next(client.cq.get()));
	EXPECT_EQ(server.memory.text(64, 8), "fetched!");
}

TEST_P(StandardOps, ReadOfAMegabyte)
{
	constexpr std::uint32_t size = 1 << 20;
	const Region from = server.region(size), to = client.region(size);
	from.fill(0, size, 1);
	EXPECT_EQ(run(standard(IBV_WR_RDMA_READ, {to.sge(0, size)}, &from)).status, IBV_WC_SUCCESS);
	EXPECT_EQ(std::memcmp(from.bytes(), to.bytes(), size), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, StandardOps, testing::ValuesIn(all_variants()), variant_name);

/* Messages around multiples of each path MTU. */
class StandardMtu : public Fabric, public testing::WithParamInterface<ibv_mtu>
{
protected:
	StandardMtu()
	{
		PathOptions options;
		options.mtu = GetParam();
		connect(options);
	}
	[[nodiscard]] std::vector<std::uint32_t> sizes() const
	{
		const std::uint32_t mtu = 128u << GetParam();
		return {1, 3, mtu - 1, mtu, mtu + 1, 2 * mtu, 5 * mtu + 2};
	}
};

TEST_P(StandardMtu, SendWriteAndReadOfManySizes)
{
	for (const std::uint32_t size : sizes()) {
		client.memory.fill(0, size, size);
		post_recv(peer.get(), server.memory.sge(0, 32768));
		EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, size)})).status, IBV_WC_SUCCESS);
		const auto wc = next(server.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->byte_len, size);
		EXPECT_EQ(server.memory.text(0, size), client.memory.text(0, size));
		EXPECT_EQ(run(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, size)}, &server.memory, 32768)).status,
			IBV_WC_SUCCESS);
		EXPECT_EQ(server.memory.text(32768, size), client.memory.text(0, size));
		EXPECT_EQ(run(standard(IBV_WR_RDMA_READ, {client.memory.sge(32768, size)}, &server.memory)).status,
			IBV_WC_SUCCESS);
		EXPECT_EQ(client.memory.text(32768, size), server.memory.text(0, size));
	}
}

TEST_P(StandardMtu, PrismWriteReadAndAllocateOfManySizes)
{
	FreeList list(server, 16);
	for (const std::uint32_t size : sizes()) {
		client.memory.fill(0, size, size + 1);
		std::uint32_t length = 0;
		EXPECT_EQ(status(prism_write({client.memory.sge(0, size)}, server.memory), &length), 0u);
		EXPECT_EQ(length, size);
		EXPECT_EQ(server.memory.text(0, size), client.memory.text(0, size));
		EXPECT_EQ(status(prism_read({client.memory.sge(32768, size)}, server.memory), &length), 0u);
		EXPECT_EQ(length, size);
		EXPECT_EQ(client.memory.text(32768, size), server.memory.text(0, size));
		ASSERT_EQ(list.post(server.memory.sge(32768, 32768)), 0);
		EXPECT_EQ(status(prism_allocate({client.memory.sge(0, size)}, list.get()), &length), 0u);
		EXPECT_EQ(length, 8u);
		EXPECT_EQ(server.memory.text(32768, size), client.memory.text(0, size));
	}
}

INSTANTIATE_TEST_SUITE_P(
	Path, StandardMtu, testing::Values(IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096));

} // namespace
} // namespace verbs_test
