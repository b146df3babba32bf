/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Regions, windows and device memory, also while they are used; the order of destruction. */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

class Memory : public EachVariant
{
protected:
	Memory() { connect(); }
};

TEST_P(Memory, DeviceMemoryIsScratchForRedirects)
{
	if (devices.kernel)
		GTEST_SKIP() << "device memory is a matter of the userspace device";
	ibv_alloc_dm_attr attr{};
	attr.length = 256;
	const Owned<ibv_dm> dm(ibv_alloc_dm(server.context.get(), &attr));
	ASSERT_NE(dm, nullptr);
	const Owned<ibv_mr> mr(ibv_reg_dm_mr(server.pd.get(), dm.get(), 0, 256, all_access | IBV_ACCESS_ZERO_BASED));
	ASSERT_NE(mr, nullptr);
	EXPECT_EQ(ibv_free_dm(dm.get()), EBUSY);
	server.memory.put(0, "to scratch");
	EXPECT_EQ(status(prism_read({}, server.memory).redirect(16, mr->rkey, 10)), 0u);
	char copy[12]; /* whole words */
	ASSERT_EQ(ibv_memcpy_from_dm(copy, dm.get(), 16, sizeof(copy)), 0);
	EXPECT_EQ(std::string(copy, 10), "to scratch");
	EXPECT_EQ(status(prism_write({}, server.memory, 100).data_from(16, mr->rkey, 10)), 0u);
	EXPECT_EQ(server.memory.text(100, 10), "to scratch");
	EXPECT_EQ(ibv_memcpy_from_dm(copy, dm.get(), 252, sizeof(copy)), EINVAL);
	EXPECT_EQ(ibv_memcpy_from_dm(copy, dm.get(), 18, sizeof(copy)), EINVAL);
	EXPECT_EQ(ibv_memcpy_from_dm(copy, dm.get(), 16, 10), EINVAL);
}

TEST_P(Memory, WindowOfTypeTwoIsBoundUsedAndInvalidatedRemotely)
{
	const Owned<ibv_mw> window(ibv_alloc_mw(server.pd.get(), IBV_MW_TYPE_2));
	ASSERT_NE(window, nullptr);
	Op bind = standard(IBV_WR_BIND_MW, {});
	bind.window = window.get();
	bind.value = ibv_inc_rkey(window->rkey);
	bind.bind = {server.memory.mr(), server.memory.at(64), 64, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
	ASSERT_EQ(post_to(peer.get(), {bind}), 0);
	const auto bound = next(server.cq.get());
	ASSERT_TRUE(bound);
	EXPECT_EQ(bound->status, IBV_WC_SUCCESS);
	EXPECT_EQ(bound->opcode, IBV_WC_BIND_MW);
	Op read = prism_read({client.memory.sge(0, 8)}, server.memory, 64);
	read.rkey = bind.value;
	EXPECT_EQ(status(read), 0u);
	Op send = standard(IBV_WR_SEND_WITH_INV, {});
	send.value = bind.value;
	post_recv(peer.get(), {});
	EXPECT_EQ(run(send).status, IBV_WC_SUCCESS);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_TRUE(wc->wc_flags & IBV_WC_WITH_INV);
	EXPECT_EQ(wc->invalidated_rkey, bind.value);
	expect_fault(read, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "rx_access_error");
}

TEST_P(Memory, RegionWithABoundWindowIsBusy)
{
	Region region = server.region(64);
	Owned<ibv_mw> window(ibv_alloc_mw(server.pd.get(), IBV_MW_TYPE_2));
	Op bind = standard(IBV_WR_BIND_MW, {});
	bind.window = window.get();
	bind.value = ibv_inc_rkey(window->rkey);
	bind.bind = {region.mr(), region.at(), 64, IBV_ACCESS_REMOTE_READ};
	ASSERT_EQ(post_to(peer.get(), {bind}), 0);
	ASSERT_TRUE(next(server.cq.get()));
	EXPECT_EQ(ibv_dereg_mr(region.mr()), rxe_says(EINVAL, EBUSY));
	window.reset();
}

TEST_P(Memory, DeregistrationEndsAReadUnderWay)
{
	PathOptions options;
	options.mtu = IBV_MTU_256;
	disconnect();
	connect(options);
	Region big = server.region(1 << 20);
	const Region to = client.region(1 << 20);
	ASSERT_EQ(post({prism_read({to.sge(0, 1 << 20)}, big)}), 0);
	big.deregister();
	const auto wc = next(client.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_TRUE(wc->status == IBV_WC_REM_ACCESS_ERR || wc->status == IBV_WC_SUCCESS);
}

TEST_P(Memory, ObjectsInUseAreBusy)
{
	EXPECT_EQ(ibv_dealloc_pd(server.pd.get()), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(server.cq.get()), EBUSY);
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory)), 0u) << "nothing is lost";
}

TEST_P(Memory, RightsThatContradictAreRefused)
{
	errno = 0;
	EXPECT_EQ(ibv_reg_mr_iova2(
			  server.pd.get(), server.memory.bytes(), 64, server.memory.at(), IBV_ACCESS_REMOTE_WRITE),
		nullptr);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(ibv_reg_mr_iova2(server.pd.get(), reinterpret_cast<void *>(4096), 64, 4096, IBV_ACCESS_LOCAL_WRITE),
		nullptr);
	EXPECT_EQ(errno, EFAULT);
}

INSTANTIATE_TEST_SUITE_P(Each, Memory, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
