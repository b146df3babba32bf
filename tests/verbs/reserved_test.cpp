/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reserved fields and unknown flags are refused, so that they can get a meaning. */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

constexpr std::uint32_t unknown_flag = 1u << 30;

class Reserved : public Fabric
{
protected:
	Reserved() : Fabric({"builder", false, false, PRISMDV_PROGRESS_INLINE, Style::builder}) {}

	static void expect_refused(const void *object, int error)
	{
		EXPECT_EQ(object, nullptr);
		EXPECT_EQ(errno, error);
	}
	/** Applies @p set to a batch of one PRISM READ; returns the result of ending the batch. */
	template <typename Set>
	int build(Set set)
	{
		ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp.get());
		prismdv_qp_ex *dv = prismdv_qp_ex_from_ibv_qp_ex(ex);
		ibv_wr_start(ex);
		ex->wr_flags = IBV_SEND_SIGNALED;
		prismdv_wr_read(dv, server.memory.key(), server.memory.at());
		set(dv);
		return ibv_wr_complete(ex);
	}
	[[nodiscard]] ibv_qp_init_attr_ex qp_attr() const
	{
		ibv_qp_init_attr_ex attr{};
		attr.send_cq = attr.recv_cq = client.cq.get();
		attr.qp_type = IBV_QPT_RC;
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		attr.pd = client.pd.get();
		return attr;
	}
	[[nodiscard]] ibv_srq_init_attr_ex srq_attr() const
	{
		ibv_srq_init_attr_ex attr{};
		attr.attr = {8, 1, 0};
		attr.comp_mask = IBV_SRQ_INIT_ATTR_PD;
		attr.pd = client.pd.get();
		return attr;
	}
};

TEST_F(Reserved, FlagsOfBuilders)
{
	connect();
	EXPECT_EQ(build([](prismdv_qp_ex *dv) { dv->wr_set_flags(dv, unknown_flag); }), EINVAL);
	EXPECT_EQ(build([this](prismdv_qp_ex *dv) {
		dv->wr_set_aux(dv, PRISMDV_WR_REDIRECT | unknown_flag, server.memory.key(), server.memory.at(), 0);
	}),
		EINVAL);
	EXPECT_EQ(build([](prismdv_qp_ex *) {}), 0);
	EXPECT_TRUE(next(client.cq.get()));
}

TEST_F(Reserved, AttributesOfQueuePairsAndFreeLists)
{
	ibv_qp_init_attr_ex attr = qp_attr();
	prismdv_qp_init_attr of_qp{};
	of_qp.reserved[3] = 1;
	expect_refused(prismdv_create_qp(client.context.get(), &attr, &of_qp), EINVAL);
	of_qp = {1, {}};
	expect_refused(prismdv_create_qp(client.context.get(), &attr, &of_qp), EINVAL);
	ibv_srq_init_attr_ex list = srq_attr();
	prismdv_srq_init_attr of_list{};
	of_list.reserved[6] = 1;
	expect_refused(prismdv_create_srq(client.context.get(), &list, &of_list), EINVAL);
	of_list = {0, PRISMDV_SRQ_FREE_LIST | unknown_flag, {}};
	expect_refused(prismdv_create_srq(client.context.get(), &list, &of_list), EINVAL);
}

TEST_F(Reserved, MasksOfStandardVerbs)
{
	ibv_qp_init_attr_ex attr = qp_attr();
	attr.comp_mask |= unknown_flag;
	expect_refused(prismdv_create_qp(client.context.get(), &attr, nullptr), EOPNOTSUPP);
	ibv_cq_init_attr_ex cq{};
	cq.cqe = 4;
	cq.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	cq.flags = unknown_flag;
	expect_refused(ibv_create_cq_ex(client.context.get(), &cq), EOPNOTSUPP);
	cq.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	const Owned<ibv_cq> created(ibv_cq_ex_to_cq(ibv_create_cq_ex(client.context.get(), &cq)));
	EXPECT_NE(created, nullptr);
	EXPECT_EQ(ibv_reg_mr_iova2(client.pd.get(), client.memory.bytes(), 64, client.memory.at(), 1u << 19), nullptr);
	if (devices.kernel)
		return; /* rxe does not check the rest */
	ibv_srq_init_attr_ex queue = srq_attr();
	const Owned<ibv_srq> srq(ibv_create_srq_ex(client.context.get(), &queue));
	ibv_srq_attr srq_values{};
	EXPECT_EQ(ibv_modify_srq(srq.get(), &srq_values, 1 << 30), EINVAL);
}

} // namespace
} // namespace verbs_test
