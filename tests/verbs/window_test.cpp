/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory windows of both types (IBTA 10.6.7): permitted bindings, and their keys. */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

class Windows : public EachVariant
{
protected:
	Windows() { connect(); }

	[[nodiscard]] Owned<ibv_mw> window(ibv_mw_type type = IBV_MW_TYPE_2, ibv_pd *pd = nullptr) const
	{
		return Owned<ibv_mw>(ibv_alloc_mw(pd ? pd : server.pd.get(), type));
	}
	[[nodiscard]] Op bind(ibv_mw *mw, std::uint32_t key) const
	{
		Op op = standard(IBV_WR_BIND_MW, {});
		op.window = mw;
		op.value = key;
		op.bind = {server.memory.mr(), server.memory.at(64), 64, IBV_ACCESS_REMOTE_READ};
		return op;
	}
	/** Posts a request on the server; returns its status. */
	ibv_wc_status serve(const Op &op)
	{
		EXPECT_EQ(post_to(peer.get(), {op}), 0);
		const auto wc = next(server.cq.get());
		return wc ? wc->status : IBV_WC_GENERAL_ERR;
	}
	ibv_wc_status read_with(std::uint32_t key)
	{
		Op read = standard(IBV_WR_RDMA_READ, {client.memory.sge(0, 8)}, &server.memory, 64);
		read.rkey = key;
		return run(read).status;
	}
	static ibv_mw_bind type_1_bind(const Region &region)
	{
		ibv_mw_bind bind{};
		bind.send_flags = IBV_SEND_SIGNALED;
		bind.bind_info = {region.mr(), region.at(64), 64, IBV_ACCESS_REMOTE_READ};
		return bind;
	}
	static std::uint32_t key_of(const ibv_mw &mw, std::uint8_t low) { return (mw.rkey & ~0xffu) | low; }
};

TEST_P(Windows, LowByteOfTheNewKeyCounts)
{
	for (const std::uint32_t chosen : {0x5au, 0xabcdef5au}) {
		const Owned<ibv_mw> mw = window();
		EXPECT_EQ(serve(bind(mw.get(), chosen)), IBV_WC_SUCCESS);
		EXPECT_EQ(read_with(key_of(*mw, 0x5a)), IBV_WC_SUCCESS);
	}
}

TEST_P(Windows, BoundWindowOfTypeTwoIsBoundAgainOnceInvalidated)
{
	const Owned<ibv_mw> mw = window();
	ASSERT_EQ(serve(bind(mw.get(), key_of(*mw, 1))), IBV_WC_SUCCESS);
	mw->rkey = key_of(*mw, 1);
	Op invalidate = standard(IBV_WR_LOCAL_INV, {});
	invalidate.value = mw->rkey;
	ASSERT_EQ(serve(invalidate), IBV_WC_SUCCESS);
	ASSERT_EQ(serve(bind(mw.get(), 2)), IBV_WC_SUCCESS);
	mw->rkey = key_of(*mw, 2);
	EXPECT_EQ(read_with(mw->rkey), IBV_WC_SUCCESS);
	EXPECT_EQ(serve(bind(mw.get(), 3)), IBV_WC_MW_BIND_ERR) << "bound, not free";
}

TEST_P(Windows, TypeTwoIsFreeOnceItsQueuePairIsGone)
{
	const Owned<ibv_mw> mw = window();
	ASSERT_EQ(serve(bind(mw.get(), 1)), IBV_WC_SUCCESS);
	mw->rkey = key_of(*mw, 1);
	ASSERT_EQ(ibv_destroy_qp(peer.release()), 0);
	peer = create_qp(server);
	disconnect();
	connect();
	EXPECT_EQ(read_with(mw->rkey), IBV_WC_REM_ACCESS_ERR);
	disconnect();
	connect();
	EXPECT_EQ(serve(bind(mw.get(), 2)), IBV_WC_SUCCESS);
	EXPECT_EQ(read_with(key_of(*mw, 2)), IBV_WC_SUCCESS);
}

TEST_P(Windows, ADestroyedQueuePairKeepsNoRegion)
{
	const Owned<ibv_mw> mw = window();
	/* An integer: ibv_reg_mr(), a macro, combines it with a value of another enumeration. */
	ibv_mr *mr = ibv_reg_mr(server.pd.get(), server.memory.bytes(), 64, int{IBV_ACCESS_MW_BIND});
	ASSERT_TRUE(mr);
	Op op = bind(mw.get(), 1);
	op.bind = {mr, server.memory.at(), 64, IBV_ACCESS_REMOTE_READ};
	ASSERT_EQ(serve(op), IBV_WC_SUCCESS);
	ASSERT_EQ(ibv_destroy_qp(peer.release()), 0);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_P(Windows, TypeTwoIsNotUnboundByLengthZero)
{
	const Owned<ibv_mw> mw = window();
	Op none = bind(mw.get(), key_of(*mw, 1));
	none.bind.length = 0;
	EXPECT_EQ(serve(none), IBV_WC_MW_BIND_ERR);
}

TEST_P(Windows, QueuePairOfAnotherDomainBindsNothing)
{
	const Owned<ibv_pd> pd(ibv_alloc_pd(server.context.get()));
	const Region region(pd.get(), 4096);
	const Owned<ibv_mw> mw = window(IBV_MW_TYPE_2, pd.get());
	Op op = bind(mw.get(), key_of(*mw, 1));
	op.bind = {region.mr(), region.at(), 64, IBV_ACCESS_REMOTE_READ};
	EXPECT_EQ(serve(op), IBV_WC_MW_BIND_ERR);
}

TEST_P(Windows, RegionMustAllowBindingAndItsRights)
{
	const Region closed = server.region(64, IBV_ACCESS_LOCAL_WRITE);
	const Region read_only = server.region(64, IBV_ACCESS_MW_BIND);
	const Owned<ibv_mw> mw = window();
	Op op = bind(mw.get(), key_of(*mw, 1));
	op.bind = {closed.mr(), closed.at(), 64, IBV_ACCESS_REMOTE_READ};
	EXPECT_EQ(serve(op), IBV_WC_MW_BIND_ERR);
	disconnect();
	connect();
	op.bind = {read_only.mr(), read_only.at(), 64, IBV_ACCESS_REMOTE_WRITE};
	EXPECT_EQ(serve(op), IBV_WC_MW_BIND_ERR);
	disconnect();
	connect();
	op.bind = {read_only.mr(), read_only.at(), 65, IBV_ACCESS_REMOTE_READ};
	EXPECT_EQ(serve(op), IBV_WC_MW_BIND_ERR) << "longer than the region";
}

TEST_P(Windows, TypeOneServesEachQueuePairOfItsDomainUntilItIsUnbound)
{
	const Owned<ibv_mw> mw = window(IBV_MW_TYPE_1);
	ibv_mw_bind bind = type_1_bind(server.memory);
	const std::uint32_t unbound = mw->rkey;
	ASSERT_EQ(ibv_bind_mw(peer.get(), mw.get(), &bind), 0);
	const auto bound = next(server.cq.get());
	ASSERT_TRUE(bound);
	EXPECT_EQ(bound->status, IBV_WC_SUCCESS);
	EXPECT_NE(mw->rkey, unbound);
	EXPECT_EQ(mw->rkey >> 8, unbound >> 8);
	disconnect();
	peer = create_qp(server);
	connect();
	EXPECT_EQ(read_with(mw->rkey), IBV_WC_SUCCESS);
	const std::uint32_t key = mw->rkey;
	bind.bind_info = {};
	ASSERT_EQ(ibv_bind_mw(peer.get(), mw.get(), &bind), 0);
	ASSERT_TRUE(next(server.cq.get()));
	EXPECT_EQ(read_with(key), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Windows, BindingRefusesAtOnceWhatCannotBe)
{
	const Owned<ibv_pd> pd(ibv_alloc_pd(server.context.get()));
	const Owned<ibv_mw> mw = window(IBV_MW_TYPE_1), of_type_2 = window(), foreign = window(IBV_MW_TYPE_1, pd.get());
	const std::uint32_t key = mw->rkey;
	ibv_mw_bind bind = type_1_bind(server.memory);
	EXPECT_EQ(ibv_bind_mw(peer.get(), of_type_2.get(), &bind), EINVAL);
	EXPECT_EQ(ibv_bind_mw(peer.get(), foreign.get(), &bind), EPERM);
	bind.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED;
	EXPECT_EQ(ibv_bind_mw(peer.get(), mw.get(), &bind), EINVAL);
	bind.bind_info = {nullptr, server.memory.at(), 64, 0};
	EXPECT_EQ(ibv_bind_mw(peer.get(), mw.get(), &bind), EINVAL);
	EXPECT_EQ(mw->rkey, key);
	EXPECT_EQ(state_of(peer.get()), IBV_QPS_RTS);
}

INSTANTIATE_TEST_SUITE_P(Each, Windows, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
