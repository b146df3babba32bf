/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Objects that are invalid: with a garbled handle, or of another context. */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

/** Gives the object a handle, while it lives, that no create call has returned. */
class Garbled
{
public:
	explicit Garbled(std::uint32_t &handle) : handle_(handle), good_(handle) { handle = good_ ^ 0x40000000; }
	~Garbled() { handle_ = good_; }
	Garbled(const Garbled &) = delete;
	Garbled &operator=(const Garbled &) = delete;

private:
	std::uint32_t &handle_;
	const std::uint32_t good_;
};

/** The kernel returns one or the other, depending on the verb. */
void expect_refused(int error)
{
	EXPECT_TRUE(error == EINVAL || error == ENOENT) << error;
}

template <typename T>
void expect_refused(T *object)
{
	EXPECT_EQ(object, nullptr);
	expect_refused(errno);
}

class Handles : public Fabric
{
protected:
	Handles() { connect(); }

	static ibv_qp *create(ibv_pd *pd, ibv_cq *send_cq, ibv_cq *recv_cq, ibv_srq *srq = nullptr)
	{
		ibv_qp_init_attr attr{};
		attr.send_cq = send_cq;
		attr.recv_cq = recv_cq;
		attr.srq = srq;
		attr.cap = {1, 1, 1, 1, 0};
		attr.qp_type = IBV_QPT_RC;
		return ibv_create_qp(pd, &attr);
	}
	static Owned<ibv_srq> shared_queue(ibv_pd *pd)
	{
		ibv_srq_init_attr attr{nullptr, {8, 1, 0}};
		return Owned<ibv_srq>(ibv_create_srq(pd, &attr));
	}
};

TEST_F(Handles, QueuePair)
{
	ibv_qp_attr attr;
	ibv_qp_init_attr init;
	const Garbled garbled(qp->handle);
	expect_refused(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init));
	expect_refused(move_to(qp.get(), IBV_QPS_ERR));
	expect_refused(ibv_destroy_qp(qp.get()));
}

TEST_F(Handles, CompletionQueue)
{
	const Owned<ibv_cq> cq(ibv_create_cq(client.context.get(), 4, nullptr, nullptr, 0));
	const Garbled garbled(cq->handle);
	expect_refused(create(client.pd.get(), cq.get(), client.cq.get()));
	expect_refused(create(client.pd.get(), client.cq.get(), cq.get()));
	expect_refused(ibv_resize_cq(cq.get(), 8));
	expect_refused(ibv_destroy_cq(cq.get()));
}

TEST_F(Handles, SharedReceiveQueue)
{
	const Owned<ibv_srq> srq = shared_queue(client.pd.get());
	ibv_srq_attr attr{};
	const Garbled garbled(srq->handle);
	expect_refused(ibv_query_srq(srq.get(), &attr));
	expect_refused(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT));
	expect_refused(create(client.pd.get(), client.cq.get(), client.cq.get(), srq.get()));
	expect_refused(ibv_destroy_srq(srq.get()));
}

TEST_F(Handles, ProtectionDomain)
{
	ibv_srq_init_attr srq{nullptr, {8, 1, 0}};
	const Garbled garbled(client.pd->handle);
	expect_refused(create(client.pd.get(), client.cq.get(), client.cq.get()));
	expect_refused(ibv_create_srq(client.pd.get(), &srq));
	expect_refused(ibv_alloc_mw(client.pd.get(), IBV_MW_TYPE_1));
	expect_refused(ibv_reg_mr_iova2(client.pd.get(), client.memory.bytes(), 64, 0, IBV_ACCESS_LOCAL_WRITE));
	expect_refused(ibv_dealloc_pd(client.pd.get()));
}

TEST_F(Handles, RegionsAndWindows)
{
	const Region region = client.region(64);
	const Owned<ibv_mw> mw(ibv_alloc_mw(client.pd.get(), IBV_MW_TYPE_1));
	const Garbled garbled(region.mr()->handle), also(mw->handle);
	expect_refused(ibv_dereg_mr(region.mr()));
	expect_refused(ibv_dealloc_mw(mw.get()));
}

TEST_F(Handles, KeysThatAProgramOverwritesHarmNothing)
{
	const Region region = client.region(64);
	const Owned<ibv_mw> mw(ibv_alloc_mw(client.pd.get(), IBV_MW_TYPE_1));
	region.mr()->lkey = region.mr()->rkey = mw->rkey = 0xffffff00;
}

TEST_F(Handles, ObjectsOfAnotherContext)
{
	if (devices.kernel)
		GTEST_SKIP() << "a handle may name an object of the context that it is used in";
	const Owned<ibv_srq> srq = shared_queue(server.pd.get());
	expect_refused(create(client.pd.get(), server.cq.get(), client.cq.get()));
	expect_refused(create(client.pd.get(), client.cq.get(), server.cq.get()));
	expect_refused(create(client.pd.get(), client.cq.get(), client.cq.get(), srq.get()));
	ibv_qp_init_attr_ex attr{};
	attr.send_cq = attr.recv_cq = client.cq.get();
	attr.qp_type = IBV_QPT_RC;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.pd = server.pd.get();
	expect_refused(prismdv_create_qp(client.context.get(), &attr, nullptr));
	ibv_srq_init_attr_ex srq_attr{};
	srq_attr.attr = {8, 1, 0};
	srq_attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	srq_attr.srq_type = IBV_SRQT_BASIC;
	srq_attr.pd = server.pd.get();
	expect_refused(prismdv_create_srq(client.context.get(), &srq_attr, nullptr));
	const Owned<ibv_comp_channel> channel(prismdv_create_comp_channel(server.context.get()));
	expect_refused(ibv_create_cq(client.context.get(), 4, nullptr, channel.get(), 0));
	ibv_alloc_dm_attr dm_attr{};
	dm_attr.length = 64;
	const Owned<ibv_dm> dm(ibv_alloc_dm(server.context.get(), &dm_attr));
	expect_refused(ibv_reg_dm_mr(client.pd.get(), dm.get(), 0, 64, IBV_ACCESS_ZERO_BASED));
	const Region region = client.region(64);
	EXPECT_EQ(ibv_rereg_mr(region.mr(), IBV_REREG_MR_CHANGE_PD, server.pd.get(), nullptr, 0, 0),
		IBV_REREG_MR_ERR_CMD);
	expect_refused(errno);
}

TEST_F(Handles, WindowsAndRegionsOfAnotherContextAreNotBound)
{
	if (devices.kernel)
		GTEST_SKIP() << "a handle may name an object of the context that it is used in";
	std::uint8_t *bytes = server.memory.bytes();
	const auto both_register = [bytes](const Host &host) {
		const auto va = reinterpret_cast<std::uintptr_t>(bytes);
		return Owned<ibv_mr>(ibv_reg_mr_iova2(host.pd.get(), bytes, 64, va, all_access));
	};
	const Owned<ibv_mr> our_region = both_register(client), their_region = both_register(server);
	for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
		const Owned<ibv_mw> ours(ibv_alloc_mw(client.pd.get(), type));
		const Owned<ibv_mw> theirs(ibv_alloc_mw(server.pd.get(), type));
		ASSERT_TRUE(ours && theirs && our_region && their_region);
		ASSERT_EQ(ours->rkey, theirs->rkey) << "else nothing is shown";
		const std::uint32_t key = theirs->rkey;
		const ibv_mw_bind_info info{
			their_region.get(), reinterpret_cast<std::uintptr_t>(bytes), 64, IBV_ACCESS_REMOTE_READ};
		if (type == IBV_MW_TYPE_1) {
			ibv_mw_bind bind{};
			bind.send_flags = IBV_SEND_SIGNALED;
			bind.bind_info = info;
			EXPECT_EQ(ibv_bind_mw(qp.get(), theirs.get(), &bind), EINVAL);
		}
		for (ibv_mw *window : {theirs.get(), ours.get()}) { /* a foreign window, and a foreign region */
			Op op = standard(IBV_WR_BIND_MW, {});
			op.window = window;
			op.value = ibv_inc_rkey(window->rkey);
			op.bind = info;
			EXPECT_EQ(post({op}), EINVAL);
		}
		EXPECT_EQ(theirs->rkey, key);
		EXPECT_FALSE(next(client.cq.get(), 2));
	}
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_RTS);
}

} // namespace
} // namespace verbs_test
