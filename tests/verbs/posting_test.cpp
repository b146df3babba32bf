/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests that posting refuses, and the errno, in both styles (S.11.2, prismdv_send_wr(3), prismdv_wr_post(3)). */
#include "harness.hpp"

#include <array>
#include <cerrno>

namespace verbs_test
{
namespace
{

class Posting : public EachVariant
{
protected:
	Posting() { connect(); }

	void expect_refused(const Op &op, int error = EINVAL)
	{
		EXPECT_EQ(post({op}), error) << "opcode " << op.opcode << ", flags " << op.flags;
		EXPECT_EQ(state_of(qp.get()), IBV_QPS_RTS);
		EXPECT_FALSE(next(client.cq.get(), 0));
	}
	[[nodiscard]] ibv_sge data(std::uint32_t length = 8) const { return client.memory.sge(0, length); }

	Cas8 cas_{};
};

TEST_P(Posting, PointerLocationsMustBeAligned)
{
	for (const std::size_t offset : {1u, 4u, 12u}) {
		expect_refused(prism_read({data()}, server.memory, offset).indirect());
		expect_refused(prism_write({data()}, server.memory, offset).indirect());
		expect_refused(prism_cas({}, server.memory, offset, cas_.operands()).indirect());
	}
	expect_refused(prism_read({data()}, server.memory, 8).bounded());
	expect_refused(prism_write({data()}, server.memory, 8).bounded());
}

TEST_P(Posting, CasTargetMustBeAlignedToItsLength)
{
	for (const std::uint16_t n : {8, 16, 32}) {
		const std::array<std::uint8_t, 32> zeros{};
		const prismdv_cas cas{PRISMDV_CAS_EQ, 0, n, 0, zeros.data(), zeros.data(), nullptr, nullptr};
		expect_refused(prism_cas({}, server.memory, n / 2u, cas));
		EXPECT_EQ(status(prism_cas({}, server.memory, n, cas)), 0u);
	}
}

TEST_P(Posting, CasLengthsAreEightSixteenAndThirtyTwo)
{
	const std::array<std::uint8_t, 64> zeros{};
	for (const std::uint16_t n : {0, 1, 4, 7, 9, 24, 31, 33, 64}) {
		const prismdv_cas cas{PRISMDV_CAS_EQ, 0, n, 0, zeros.data(), zeros.data(), nullptr, nullptr};
		expect_refused(prism_cas({}, server.memory, 0, cas));
	}
}

TEST_P(Posting, CasOperandsMustBeValid)
{
	prismdv_cas cas = cas_.operands();
	cas.mode = PRISMDV_CAS_LT + 1;
	expect_refused(prism_cas({}, server.memory, 0, cas));
	cas = cas_.operands();
	cas.flags = PRISMDV_CAS_COMPARE_DATA;
	expect_refused(prism_cas({}, server.memory, 0, cas));
	cas.flags = PRISMDV_CAS_COMPARE_DATA << 1;
	expect_refused(prism_cas({}, server.memory, 0, cas));
	cas = cas_.operands();
	cas.reserved = 1;
	expect_refused(prism_cas({}, server.memory, 0, cas));
}

TEST_P(Posting, CasOperandsMustBeGiven)
{
	prismdv_cas cas = cas_.operands();
	cas.swap = nullptr;
	expect_refused(prism_cas({}, server.memory, 0, cas));
	cas = cas_.operands();
	cas.compare = nullptr;
	expect_refused(prism_cas({}, server.memory, 0, cas));
	expect_refused(prism_cas({}, server.memory, 0, cas).data_from(server.memory.at(8), server.memory.key()));
}

TEST_P(Posting, CasSgesHoldExactlyTheOperand)
{
	expect_refused(prism_cas({data(4)}, server.memory, 0, cas_.operands()));
	expect_refused(prism_cas({data(16)}, server.memory, 0, cas_.operands()));
}

TEST_P(Posting, RedirectAndIndirectDataLeaveNoRoomForSges)
{
	const std::uint64_t at = server.memory.at(64);
	const std::uint32_t key = server.memory.key();
	expect_refused(prism_read({data()}, server.memory).redirect(at, key, 8));
	expect_refused(prism_write({data()}, server.memory).data_from(at, key, 8));
}

TEST_P(Posting, AuxLengthOnlyWhereItMeansSomething)
{
	const FreeList list(server, 4);
	const std::uint64_t at = server.memory.at(64);
	const std::uint32_t key = server.memory.key();
	expect_refused(prism_allocate({}, list.get()).redirect(at, key, 8));
	expect_refused(prism_cas({}, server.memory, 0, cas_.operands()).data_from(at, key, 8));
}

TEST_P(Posting, AuxOfAllocateMustBeAligned)
{
	const FreeList list(server, 4);
	expect_refused(prism_allocate({}, list.get()).redirect(server.memory.at(4), server.memory.key()));
	expect_refused(prism_allocate({}, list.get()).redirect_bounded(server.memory.at(8), server.memory.key()));
}

TEST_P(Posting, ReadAndServerSideMovesAreLimited)
{
	/* Refused even if both devices take more: another peer might not. */
	const std::uint32_t too_long = (1 << 20) + 1;
	const std::uint64_t at = server.memory.at();
	const std::uint32_t key = server.memory.key();
	expect_refused(prism_read({{client.memory.at(), too_long, client.memory.key()}}, server.memory));
	expect_refused(prism_read({}, server.memory).redirect(at, key, too_long));
	expect_refused(prism_write({}, server.memory).data_from(at, key, too_long));
}

TEST_P(Posting, TooManySges)
{
	ibv_qp_attr attr;
	ibv_qp_init_attr init;
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_CAP, &init), 0);
	const std::vector<ibv_sge> many(init.cap.max_send_sge + 1, data(1));
	expect_refused(prism_read(many, server.memory));
	expect_refused(prism_write(many, server.memory));
	expect_refused(standard(IBV_WR_RDMA_WRITE, many, &server.memory));
}

TEST_P(Posting, InlineDataIsLimitedAndOnlyForWhatIsSent)
{
	const FreeList list(server, 4);
	expect_refused(prism_write({data(257)}, server.memory).with(IBV_SEND_INLINE));
	expect_refused(prism_allocate({data(257)}, list.get()).with(IBV_SEND_INLINE));
	expect_refused(standard(IBV_WR_SEND, {data(257)}).with(IBV_SEND_INLINE));
	expect_refused(prism_read({data(8)}, server.memory).with(IBV_SEND_INLINE));
	expect_refused(prism_cas({data(8)}, server.memory, 0, cas_.operands()).with(IBV_SEND_INLINE));
	expect_refused(standard(IBV_WR_RDMA_READ, {data(8)}, &server.memory).with(IBV_SEND_INLINE));
}

TEST_P(Posting, FullSendQueue)
{
	ibv_qp_attr attr;
	ibv_qp_init_attr init;
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_CAP, &init), 0);
	const std::size_t room = init.cap.max_send_wr; /* at least the 64 that were asked for */
	EXPECT_GE(room, 64u);
	std::vector<Op> ops(room, prism_write({data()}, server.memory).unsignaled());
	ops.push_back(prism_write({data()}, server.memory));
	/* Posting makes progress, so all are posted in one call, in which nothing can complete. */
	std::size_t posted = 0;
	EXPECT_EQ(post(ops, &posted), ENOMEM);
	EXPECT_EQ(posted, variant_.style == Style::list ? room : 0u);
}

TEST_P(Posting, FirstBadRequestIsNamedAndThoseBeforeItArePosted)
{
	std::size_t posted = 0;
	EXPECT_EQ(post({prism_write({data()}, server.memory).id(1), prism_read({data()}, server.memory, 4).indirect(),
			       prism_write({data()}, server.memory).id(3)},
			  &posted),
		EINVAL);
	if (variant_.style == Style::list) {
		EXPECT_EQ(posted, 1u);
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, 1u);
	}
	EXPECT_FALSE(next(client.cq.get(), 2)) << "a builder posts all or nothing";
	EXPECT_EQ(status(prism_read({data()}, server.memory)), 0u);
}

TEST_P(Posting, StandardAtomicNeedsEightLocalBytes)
{
	expect_refused(standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {data(4)}, &server.memory));
}

INSTANTIATE_TEST_SUITE_P(Each, Posting, testing::ValuesIn(all_variants()), variant_name);

/* Errors that are possible in one style only. */
class PostingStyle : public Fabric
{
protected:
	PostingStyle() { connect(); }
};

TEST_F(PostingStyle, ReservedBitsOfAListAreRefused)
{
	ibv_sge sge = client.memory.sge(0, 8);
	prismdv_send_wr wr{};
	const unsigned opcode = PRISMDV_WR_READ;
	std::memcpy(&wr.wr.opcode, &opcode, sizeof(opcode));
	wr.wr.sg_list = &sge;
	wr.wr.num_sge = 1;
	wr.wr.wr.rdma = {server.memory.at(), server.memory.key()};
	ibv_send_wr *bad = nullptr;
	wr.comp_mask = 1;
	EXPECT_EQ(ibv_post_send(qp.get(), &wr.wr, &bad), EINVAL);
	EXPECT_EQ(bad, &wr.wr);
	wr.comp_mask = 0;
	wr.flags = 1 << 5;
	EXPECT_EQ(ibv_post_send(qp.get(), &wr.wr, &bad), EINVAL);
	wr.flags = 0;
	EXPECT_EQ(ibv_post_send(qp.get(), &wr.wr, &bad), 0);
}

TEST_F(PostingStyle, AllocateResultHasEightBytes)
{
	const FreeList list(server, 4);
	for (const std::uint32_t length : {4u, 16u})
		EXPECT_EQ(post({prism_allocate({}, list.get()).result(client.memory.sge(0, length))}), EINVAL);
}

TEST_F(PostingStyle, UnknownOpcodeIsNotSupported)
{
	Op op = standard(IBV_WR_SEND, {});
	op.opcode = 0x77;
	EXPECT_EQ(post({op}), EOPNOTSUPP);
}

TEST_F(PostingStyle, AbortedBatchPostsNothing)
{
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	prismdv_wr_read(prismdv_qp_ex_from_ibv_qp_ex(ex), server.memory.key(), server.memory.at());
	ibv_wr_abort(ex);
	EXPECT_FALSE(next(client.cq.get(), 2));
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory)), 0u);
}

TEST_F(PostingStyle, SettersOfPrismNeedAPrismRequest)
{
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());
	ibv_wr_start(ex);
	ibv_wr_rdma_read(ex, server.memory.key(), server.memory.at());
	prismdv_wr_set_indirect(prismdv_qp_ex_from_ibv_qp_ex(ex));
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
}

TEST_F(PostingStyle, ResultIsOfAllocateOnly)
{
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());
	ibv_wr_start(ex);
	prismdv_wr_read(prismdv_qp_ex_from_ibv_qp_ex(ex), server.memory.key(), server.memory.at());
	prismdv_wr_set_result(prismdv_qp_ex_from_ibv_qp_ex(ex), client.memory.key(), client.memory.at());
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
}

} // namespace
} // namespace verbs_test
