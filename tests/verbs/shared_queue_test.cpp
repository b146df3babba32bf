/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues and their limit (IBTA 10.2.9, 11.2.8). */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

class SharedQueues : public EachVariant
{
protected:
	[[nodiscard]] static Owned<ibv_srq> create(ibv_pd *pd, const ibv_srq_attr &wanted = {8, 2, 0})
	{
		ibv_srq_init_attr attr{nullptr, wanted};
		return Owned<ibv_srq>(ibv_create_srq(pd, &attr));
	}
	static int post(const Owned<ibv_srq> &srq, ibv_sge sge)
	{
		ibv_recv_wr wr{1, nullptr, &sge, 1}, *bad;
		return ibv_post_srq_recv(srq.get(), &wr, &bad);
	}
	void connect_to(const Owned<ibv_srq> &srq)
	{
		QpOptions options;
		options.srq = srq.get();
		peer = create_qp(server, options);
		connect();
	}
};

TEST_P(SharedQueues, BuffersAreOfTheQueuesDomain)
{
	if (devices.kernel)
		GTEST_SKIP() << "rxe looks at the queue pair's domain";
	const Owned<ibv_pd> pd(ibv_alloc_pd(server.context.get()));
	const Region region(pd.get(), 64);
	const Owned<ibv_srq> srq = create(pd.get());
	connect_to(srq);
	client.memory.put(0, "shared");
	ASSERT_EQ(post(srq, region.sge(0, 64)), 0);
	EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, 6)})).status, IBV_WC_SUCCESS);
	EXPECT_EQ(region.text(0, 6), "shared");
	ASSERT_TRUE(next(server.cq.get()));
	ASSERT_EQ(post(srq, server.memory.sge(0, 64)), 0);
	EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, 6)})).status, IBV_WC_REM_OP_ERR);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_LOC_PROT_ERR);
	peer.reset();
}

TEST_P(SharedQueues, LimitIsArmedByModifyAlone)
{
	if (devices.kernel)
		GTEST_SKIP() << "rxe arms the limit when the queue is created, and looks at it when a receive is taken";
	const Owned<ibv_srq> srq = create(server.pd.get(), {8, 1, 4});
	ibv_srq_attr attr{};
	ASSERT_EQ(ibv_query_srq(srq.get(), &attr), 0);
	EXPECT_EQ(attr.max_wr, 8u);
	EXPECT_EQ(attr.srq_limit, 0u);
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(post(srq, server.memory.sge(0, 8)), 0);
	attr.srq_limit = 9;
	EXPECT_EQ(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT), EINVAL) << "more than it holds";
	attr.srq_limit = 4;
	ASSERT_EQ(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT), 0);
	EXPECT_FALSE(async_event(server, 2)) << "four are in it";
	connect_to(srq);
	EXPECT_EQ(run(standard(IBV_WR_SEND, {})).status, IBV_WC_SUCCESS);
	EXPECT_EQ(async_event(server), IBV_EVENT_SRQ_LIMIT_REACHED);
	ASSERT_EQ(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT), 0);
	EXPECT_EQ(async_event(server), IBV_EVENT_SRQ_LIMIT_REACHED) << "it is below already";
	EXPECT_EQ(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_MAX_WR), EOPNOTSUPP) << "as the device's flags say";
	peer.reset();
}

INSTANTIATE_TEST_SUITE_P(Each, SharedQueues, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
