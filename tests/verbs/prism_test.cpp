/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* READ, WRITE, CAS and ALLOCATE with each of their modifiers (S.2, S.3, S.6, S.8.3). */
#include "harness.hpp"

#include <array>

namespace verbs_test
{
namespace
{

class PrismOps : public EachVariant
{
protected:
	PrismOps() { connect(); }
};

/* READ ---------------------------------------------------------------------------------------------------------- */

TEST_P(PrismOps, ReadReturnsTheBytesAndTheirNumber)
{
	server.memory.put(32, "some bytes");
	const ibv_wc wc = run(prism_read({client.memory.sge(0, 4), client.memory.sge(100, 6)}, server.memory, 32));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_RDMA_READ);
	EXPECT_EQ(wc.vendor_err, std::uint32_t{PRISMDV_STATUS_OK});
	EXPECT_EQ(wc.byte_len, 10u);
	EXPECT_EQ(client.memory.text(0, 4) + client.memory.text(100, 6), "some bytes");
}

TEST_P(PrismOps, ReadOfNoBytesIsOk)
{
	std::uint32_t length = 1;
	Op op = prism_read({}, server.memory);
	op.rkey = 0;
	EXPECT_EQ(status(op, &length), std::uint32_t{PRISMDV_STATUS_OK});
	EXPECT_EQ(length, 0u);
}

TEST_P(PrismOps, IndirectReadFollowsThePointer)
{
	server.memory.put(8, server.memory.at(1001));
	server.memory.put(1001, "unaligned target");
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 16)}, server.memory, 8).indirect(), &length), 0u);
	EXPECT_EQ(length, 16u);
	EXPECT_EQ(client.memory.text(0, 16), "unaligned target");
}

TEST_P(PrismOps, BoundedReadIsCutAtTheBound)
{
	server.memory.put(16, prismdv_bounded_ptr{server.memory.at(1000), 5, 99});
	server.memory.put(1000, "12345678");
	client.memory.put(0, "........");
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory, 16).bounded(), &length), 0u);
	EXPECT_EQ(length, 5u);
	EXPECT_EQ(client.memory.text(0, 8), "12345...");
}

TEST_P(PrismOps, BoundOfZeroReadsNothingWithSuccess)
{
	server.memory.put(16, prismdv_bounded_ptr{8, 0, 0});
	std::uint32_t length = 1;
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory, 16).bounded(), &length), 0u);
	EXPECT_EQ(length, 0u);
}

TEST_P(PrismOps, BoundBeyondTheLengthHasNoEffect)
{
	server.memory.put(16, prismdv_bounded_ptr{server.memory.at(1000), ~0u, 0});
	server.memory.put(1000, "1234");
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 4)}, server.memory, 16).bounded(), &length), 0u);
	EXPECT_EQ(length, 4u);
}

TEST_P(PrismOps, NullPointerIsAStatusAndTouchesNothing)
{
	client.memory.put(0, "untouched");
	std::uint32_t length = 1;
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 9)}, server.memory).indirect(), &length),
		std::uint32_t{PRISMDV_STATUS_NULL_POINTER});
	EXPECT_EQ(length, 0u);
	EXPECT_EQ(client.memory.text(0, 9), "untouched");
	EXPECT_EQ(server.counter("prism_null_pointers"), 1u);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_RTS);
}

TEST_P(PrismOps, NullPointerIsLookedAtBeforeTheBoundAndTheAux)
{
	server.memory.put(0, prismdv_bounded_ptr{0, 0, 1});
	EXPECT_EQ(status(prism_read({}, server.memory).bounded().redirect(1, 2, 8)),
		std::uint32_t{PRISMDV_STATUS_NULL_POINTER});
}

TEST_P(PrismOps, RedirectedReadStoresAtTheServer)
{
	server.memory.put(0, "move me");
	std::uint32_t length = 0;
	EXPECT_EQ(
		status(prism_read({}, server.memory).redirect(server.memory.at(500), server.memory.key(), 7), &length),
		0u);
	EXPECT_EQ(length, 7u);
	EXPECT_EQ(server.memory.text(500, 7), "move me");
}

TEST_P(PrismOps, RedirectedBoundedReadStoresTheEffectiveLength)
{
	server.memory.put(16, prismdv_bounded_ptr{server.memory.at(100), 3, 0});
	server.memory.put(100, "abcdef");
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_read({}, server.memory, 16)
				  .bounded()
				  .redirect(server.memory.at(500), server.memory.key(), 6),
			  &length),
		0u);
	EXPECT_EQ(length, 3u);
	EXPECT_EQ(server.memory.text(500, 4), std::string("abc\0", 4));
}

TEST_P(PrismOps, ReadsOfAMegabyteDirectIndirectAndRedirected)
{
	constexpr std::uint32_t size = 1 << 20;
	const Region from = server.region(size + 16), to = client.region(size), aux = server.region(size);
	from.fill(16, size, 3);
	from.put(0, prismdv_bounded_ptr{from.at(16), size, 0});
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_read({to.sge(0, size)}, from, 16), &length), 0u);
	EXPECT_EQ(length, size);
	EXPECT_EQ(std::memcmp(from.bytes(16), to.bytes(), size), 0);
	to.fill(0, size, 4);
	EXPECT_EQ(status(prism_read({to.sge(0, size)}, from).bounded(), &length), 0u);
	EXPECT_EQ(length, size);
	EXPECT_EQ(std::memcmp(from.bytes(16), to.bytes(), size), 0);
	EXPECT_EQ(status(prism_read({}, from).indirect().redirect(aux.at(), aux.key(), size), &length), 0u);
	EXPECT_EQ(length, size);
	EXPECT_EQ(std::memcmp(from.bytes(16), aux.bytes(), size), 0);
}

/* WRITE --------------------------------------------------------------------------------------------------------- */

TEST_P(PrismOps, WriteReportsTheBytesWritten)
{
	client.memory.put(0, "payload");
	const ibv_wc wc = run(prism_write({client.memory.sge(0, 3), client.memory.sge(3, 4)}, server.memory, 77));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
	EXPECT_EQ(wc.byte_len, 7u);
	EXPECT_EQ(server.memory.text(77, 7), "payload");
}

TEST_P(PrismOps, InlineWriteCopiesAtOnce)
{
	client.memory.put(0, "first");
	ASSERT_EQ(post({prism_write({client.memory.sge(0, 5)}, server.memory).with(IBV_SEND_INLINE)}), 0);
	client.memory.put(0, "later");
	ASSERT_TRUE(next(client.cq.get()));
	EXPECT_EQ(server.memory.text(0, 5), "first");
}

TEST_P(PrismOps, WriteOfNoBytesIsOk)
{
	std::uint32_t length = 1;
	EXPECT_EQ(status(prism_write({}, server.memory), &length), 0u);
	EXPECT_EQ(length, 0u);
}

TEST_P(PrismOps, IndirectWriteFollowsThePointer)
{
	server.memory.put(0, server.memory.at(333));
	client.memory.put(0, "there");
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_write({client.memory.sge(0, 5)}, server.memory).indirect(), &length), 0u);
	EXPECT_EQ(length, 5u);
	EXPECT_EQ(server.memory.text(333, 5), "there");
}

TEST_P(PrismOps, IndirectWriteTakesOnePathMtu)
{
	server.memory.put(0, server.memory.at(4096));
	client.memory.fill(0, 1024, 5);
	EXPECT_EQ(status(prism_write({client.memory.sge(0, 1024)}, server.memory).indirect()), 0u);
	EXPECT_EQ(server.memory.text(4096, 1024), client.memory.text(0, 1024));
	EXPECT_EQ(post({prism_write({client.memory.sge(0, 1025)}, server.memory).indirect()}), EINVAL);
}

TEST_P(PrismOps, BoundedWriteIsCutAtTheBound)
{
	server.memory.put(0, prismdv_bounded_ptr{server.memory.at(100), 2, 0});
	server.memory.put(100, "....");
	client.memory.put(0, "abcd");
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_write({client.memory.sge(0, 4)}, server.memory).bounded(), &length), 0u);
	EXPECT_EQ(length, 2u);
	EXPECT_EQ(server.memory.text(100, 4), "ab..");
}

TEST_P(PrismOps, WriteOfIndirectDataLoadsFromAux)
{
	server.memory.put(64, "from aux");
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_write({}, server.memory, 200).data_from(server.memory.at(64), server.memory.key(), 8),
			  &length),
		0u);
	EXPECT_EQ(length, 8u);
	EXPECT_EQ(server.memory.text(200, 8), "from aux");
}

TEST_P(PrismOps, BothTargetAndDataOfAWriteMayBeIndirect)
{
	server.memory.put(0, prismdv_bounded_ptr{server.memory.at(300), 4, 0});
	server.memory.put(64, "twofold");
	std::uint32_t length = 0;
	EXPECT_EQ(
		status(prism_write({}, server.memory).bounded().data_from(server.memory.at(64), server.memory.key(), 7),
			&length),
		0u);
	EXPECT_EQ(length, 4u);
	EXPECT_EQ(server.memory.text(300, 5), std::string("twof\0", 5));
}

TEST_P(PrismOps, WriteThroughANullPointerWritesNothing)
{
	EXPECT_EQ(status(prism_write({client.memory.sge(0, 8)}, server.memory).indirect()),
		std::uint32_t{PRISMDV_STATUS_NULL_POINTER});
}

/* CAS ----------------------------------------------------------------------------------------------------------- */

TEST_P(PrismOps, CasSwapsIfEqualAndReturnsTheOldBytes)
{
	server.memory.put(8, std::uint64_t{10});
	const Cas8 cas{10, 11};
	const ibv_wc wc = run(prism_cas({client.memory.sge(0, 8)}, server.memory, 8, cas.operands()));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_COMP_SWAP);
	EXPECT_EQ(wc.vendor_err, 0u);
	EXPECT_EQ(wc.byte_len, 8u);
	EXPECT_EQ(client.memory.word(0), 10u);
	EXPECT_EQ(server.memory.word(8), 11u);
}

TEST_P(PrismOps, MissedCasReturnsTheOldBytesAndChangesNothing)
{
	server.memory.put(0, std::uint64_t{10});
	std::uint32_t length = 0;
	EXPECT_EQ(status(prism_cas({client.memory.sge(0, 8)}, server.memory, 0, Cas8{9, 11}.operands()), &length),
		std::uint32_t{PRISMDV_STATUS_CAS_MISS});
	EXPECT_EQ(length, 8u);
	EXPECT_EQ(client.memory.word(0), 10u);
	EXPECT_EQ(server.memory.word(0), 10u);
	EXPECT_EQ(server.counter("prism_cas_misses"), 1u);
}

TEST_P(PrismOps, CasNeedsNoSge)
{
	EXPECT_EQ(status(prism_cas({}, server.memory, 0, Cas8{0, 5}.operands())), 0u);
	EXPECT_EQ(server.memory.word(0), 5u);
}

TEST_P(PrismOps, CasModesCompareTheOperandWithTheTarget)
{
	const auto outcome = [this](prismdv_cas_mode mode, std::uint64_t target, std::uint64_t operand) {
		server.memory.put(0, target);
		return status(prism_cas({}, server.memory, 0, Cas8{operand, 77, mode}.operands()));
	};
	EXPECT_EQ(outcome(PRISMDV_CAS_GT, 5, 6), 0u);
	EXPECT_EQ(outcome(PRISMDV_CAS_GT, 5, 5), std::uint32_t{PRISMDV_STATUS_CAS_MISS});
	EXPECT_EQ(outcome(PRISMDV_CAS_LT, 5, 4), 0u);
	EXPECT_EQ(outcome(PRISMDV_CAS_LT, 5, 5), std::uint32_t{PRISMDV_STATUS_CAS_MISS});
	EXPECT_EQ(outcome(PRISMDV_CAS_GT, 1, std::uint64_t{1} << 63), 0u) << "unsigned";
}

TEST_P(PrismOps, CasOfEachLengthComparesTheLastByteFirst)
{
	for (const std::uint16_t n : {8, 16, 32}) {
		std::array<std::uint8_t, 32> target{}, compare{}, swap{};
		target[0] = 0xff;
		compare[n - 1u] = 1; /* greater although its first byte is smaller */
		swap.fill(0x5a);
		std::memcpy(server.memory.bytes(64), target.data(), 32);
		const prismdv_cas cas{PRISMDV_CAS_GT, 0, n, 0, compare.data(), swap.data(), nullptr, nullptr};
		std::uint32_t length = 0;
		EXPECT_EQ(status(prism_cas({client.memory.sge(0, n)}, server.memory, 64, cas), &length), 0u) << n;
		EXPECT_EQ(length, n);
		EXPECT_EQ(std::memcmp(client.memory.bytes(), target.data(), n), 0);
		EXPECT_EQ(std::memcmp(server.memory.bytes(64), swap.data(), n), 0);
		EXPECT_EQ(std::memcmp(server.memory.bytes(64u + n), target.data() + n, 32u - n), 0) << "bytes behind";
	}
}

TEST_P(PrismOps, CasMasksSelectBits)
{
	const std::uint64_t compare = 0x1122, swap = ~std::uint64_t{0}, compare_mask = 0xffff, swap_mask = 0xff00;
	server.memory.put(0, std::uint64_t{0xaaaa1122});
	const prismdv_cas cas{PRISMDV_CAS_EQ, 0, 8, 0, &compare, &swap, &compare_mask, &swap_mask};
	EXPECT_EQ(status(prism_cas({}, server.memory, 0, cas)), 0u);
	EXPECT_EQ(server.memory.word(0), 0xaaaaff22u);
}

TEST_P(PrismOps, CasScattersTheOldBytes)
{
	server.memory.put(0, "12345678");
	EXPECT_EQ(status(prism_cas({client.memory.sge(0, 3), client.memory.sge(10, 5)}, server.memory, 0,
			  Cas8{0, 0}.operands())),
		std::uint32_t{PRISMDV_STATUS_CAS_MISS});
	EXPECT_EQ(client.memory.text(0, 3) + client.memory.text(10, 5), "12345678");
}

TEST_P(PrismOps, IndirectCasFollowsThePointer)
{
	server.memory.put(8, server.memory.at(256));
	EXPECT_EQ(status(prism_cas({}, server.memory, 8, Cas8{0, 3}.operands()).indirect()), 0u);
	EXPECT_EQ(server.memory.word(256), 3u);
	EXPECT_EQ(server.memory.word(8), server.memory.at(256));
}

TEST_P(PrismOps, CasLoadsItsSwapOperandFromAux)
{
	server.memory.put(64, std::uint64_t{4711});
	const std::uint64_t compare = 0;
	const prismdv_cas cas{PRISMDV_CAS_EQ, 0, 8, 0, &compare, nullptr, nullptr, nullptr};
	EXPECT_EQ(
		status(prism_cas({}, server.memory, 0, cas).data_from(server.memory.at(64), server.memory.key())), 0u);
	EXPECT_EQ(server.memory.word(0), 4711u);
}

TEST_P(PrismOps, CasMayCompareTheDataFromAux)
{
	server.memory.put(0, std::uint64_t{6});
	server.memory.put(64, std::uint64_t{7});
	const prismdv_cas cas{PRISMDV_CAS_GT, PRISMDV_CAS_COMPARE_DATA, 8, 0, nullptr, nullptr, nullptr, nullptr};
	EXPECT_EQ(
		status(prism_cas({}, server.memory, 0, cas).data_from(server.memory.at(64), server.memory.key())), 0u);
	EXPECT_EQ(server.memory.word(0), 7u);
	EXPECT_EQ(status(prism_cas({}, server.memory, 0, cas).data_from(server.memory.at(64), server.memory.key())),
		std::uint32_t{PRISMDV_STATUS_CAS_MISS});
}

TEST_P(PrismOps, CasAndStandardAtomicsShareTheWord)
{
	EXPECT_EQ(status(prism_cas({}, server.memory, 0, Cas8{0, 41}.operands())), 0u);
	Op add = standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {client.memory.sge(0, 8)}, &server.memory);
	add.compare_add = 1;
	EXPECT_EQ(run(add).status, IBV_WC_SUCCESS);
	EXPECT_EQ(status(prism_cas({}, server.memory, 0, Cas8{42, 0}.operands())), 0u);
}

/* The operations together ------------------------------------------------------------------------------------------ */

bool legal(unsigned opcode, std::uint32_t flags)
{
	const bool t = flags & PRISMDV_WR_INDIRECT, b = flags & PRISMDV_WR_BOUNDED, r = flags & PRISMDV_WR_REDIRECT,
		   d = flags & PRISMDV_WR_DATA_INDIRECT;
	switch (opcode) {
	case PRISMDV_WR_READ:
		return !d && (!b || t);
	case PRISMDV_WR_WRITE:
		return !r && (!b || t);
	case PRISMDV_WR_CAS:
		return !b && !r;
	default:
		return !t && !d && (!b || r);
	}
}

TEST_P(PrismOps, ExactlyTheLegalModifiersCanBePosted)
{
	FreeList list(server, 4);
	const Cas8 cas{};
	for (unsigned opcode = PRISMDV_WR_READ; opcode <= PRISMDV_WR_ALLOCATE; opcode++) {
		for (std::uint32_t flags = 0; flags < 32; flags++) {
			Op op = opcode == PRISMDV_WR_ALLOCATE ? prism_allocate({}, list.get())
							      : prism_cas({}, server.memory, 0, cas.operands());
			op.opcode = opcode;
			op.flags = flags;
			op.aux = {server.memory.at(64), server.memory.key(), 0};
			if (legal(opcode, flags)) {
				const ibv_wc wc = run(op);
				EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << opcode << " " << flags;
			} else {
				EXPECT_EQ(post({op}), EINVAL) << opcode << " " << flags;
			}
		}
	}
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_RTS);
}

TEST_P(PrismOps, UnsignalledRequestsStillDeliverResults)
{
	server.memory.put(0, "result");
	server.memory.put(8, std::uint64_t{123});
	FreeList list(server, 4);
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	ASSERT_EQ(post({prism_read({client.memory.sge(0, 6)}, server.memory).unsignaled(),
			  prism_cas({client.memory.sge(16, 8)}, server.memory, 8, Cas8{0, 0}.operands()).unsignaled(),
			  prism_allocate({}, list.get()).result(client.memory.sge(32, 8)).unsignaled(),
			  prism_read({}, server.memory).id(9)}),
		0);
	const auto wc = next(client.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->wr_id, 9u);
	EXPECT_EQ(client.memory.text(0, 6), "result");
	EXPECT_EQ(client.memory.word(16), 123u);
	EXPECT_EQ(client.memory.word(32), server.memory.at(1024));
	EXPECT_FALSE(next(client.cq.get(), 2)) << "a missed CAS that is not signalled is silent";
}

TEST_P(PrismOps, StandardAndPrismRequestsMixAndKeepTheirOrder)
{
	client.memory.put(0, "A");
	ASSERT_EQ(post({standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 1)}, &server.memory).id(1),
			  prism_read({client.memory.sge(8, 1)}, server.memory).id(2),
			  standard(IBV_WR_RDMA_READ, {client.memory.sge(9, 1)}, &server.memory).id(3),
			  prism_write({client.memory.sge(0, 1)}, server.memory, 1).id(4)}),
		0);
	for (std::uint64_t i = 1; i <= 4; i++) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, i);
		EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
	}
	EXPECT_EQ(client.memory.text(8, 2), "AA");
}

TEST_P(PrismOps, MoreRequestsThanSlotsWaitInTheSendQueue)
{
	const Cas8 same{};
	std::vector<Op> ops;
	for (std::uint64_t i = 0; i < 60; i++)
		ops.push_back(prism_cas({}, server.memory, 0, same.operands()).id(i));
	ASSERT_EQ(post(ops), 0);
	for (std::uint64_t i = 0; i < 60; i++) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, i);
		EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
	}
	EXPECT_EQ(server.counter("rx_excess_request"), 0u);
	EXPECT_EQ(server.counter("prism_cas"), 60u);
}

INSTANTIATE_TEST_SUITE_P(Each, PrismOps, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
