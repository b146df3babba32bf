/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Local objects that a request names must be of its queue pair's protection domain (IBTA 10.2.3, 10.6). */
#include "harness.hpp"

namespace verbs_test
{
namespace
{

class Domains : public EachVariant
{
protected:
	/** Sends a datagram with an address handle of @p pd; returns its status. */
	ibv_wc_status send_with_handle_of(ibv_pd *pd)
	{
		const Owned<ibv_qp> sender = datagram_qp();
		int source = 0;
		ibv_ah_attr path{};
		path.is_global = path.port_num = 1;
		path.grh.dgid = client.gid(variant_.ipv6, source);
		path.grh.sgid_index = static_cast<std::uint8_t>(source);
		ibv_ah *ah = ibv_create_ah(pd, &path);
		EXPECT_NE(ah, nullptr);
		post_datagram(sender.get(), ah);
		const auto wc = next(client.cq.get());
		EXPECT_EQ(ibv_destroy_ah(ah), 0);
		return wc ? wc->status : IBV_WC_GENERAL_ERR;
	}

	void post_datagram(ibv_qp *sender, ibv_ah *ah) const
	{
		if (variant_.style == Style::builder) {
			ibv_qp_ex *ex = ibv_qp_to_qp_ex(sender);
			ibv_wr_start(ex);
			ex->wr_flags = IBV_SEND_SIGNALED;
			ibv_wr_send(ex);
			ibv_wr_set_ud_addr(ex, ah, sender->qp_num, 0);
			EXPECT_EQ(ibv_wr_complete(ex), 0);
			return;
		}
		ibv_send_wr wr{}, *bad;
		wr.opcode = IBV_WR_SEND;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr.ud = {ah, sender->qp_num, 0};
		EXPECT_EQ(ibv_post_send(sender, &wr, &bad), 0);
	}

private:
	[[nodiscard]] Owned<ibv_qp> datagram_qp() const
	{
		ibv_qp_init_attr_ex init{};
		init.send_cq = init.recv_cq = client.cq.get();
		init.cap = {4, 4, 1, 1, 0};
		init.qp_type = IBV_QPT_UD;
		init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.pd = client.pd.get();
		init.send_ops_flags = IBV_QP_EX_WITH_SEND;
		Owned<ibv_qp> made(ibv_create_qp_ex(client.context.get(), &init));
		ready_for_datagrams(made.get());
		return made;
	}
};

TEST_P(Domains, AddressHandle)
{
	if (devices.kernel)
		GTEST_SKIP() << "rxe says so in its own way";
	const Owned<ibv_pd> pd(ibv_alloc_pd(client.context.get()));
	EXPECT_EQ(send_with_handle_of(client.pd.get()), IBV_WC_SUCCESS);
	EXPECT_EQ(send_with_handle_of(pd.get()), IBV_WC_LOC_QP_OP_ERR);
}

TEST_P(Domains, LocalMemory)
{
	connect();
	const Owned<ibv_pd> pd(ibv_alloc_pd(client.context.get()));
	const Region foreign(pd.get(), 64);
	EXPECT_EQ(run(standard(IBV_WR_RDMA_WRITE, {foreign.sge(0, 8)}, &server.memory)).status, IBV_WC_LOC_PROT_ERR);
}

INSTANTIATE_TEST_SUITE_P(Each, Domains, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
