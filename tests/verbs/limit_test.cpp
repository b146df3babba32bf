/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A device's announced limits hold, and one more is refused (IBTA 11.2.1.2). */
#include "harness.hpp"

#include <array>
#include <cerrno>
#include <cstdint>

namespace verbs_test
{
namespace
{

class Limits : public Fabric
{
protected:
	Limits()
	{
		if (devices.kernel)
			skip("the limits of rxe are those of all its users");
		EXPECT_EQ(ibv_query_device_ex(client.context.get(), nullptr, &all_), 0);
	}

	/** Expects that as many as announced can be created, of which @p used exist already, and no more. */
	template <typename Create>
	static void expect_limit(int announced, int used, Create create)
	{
		std::vector<decltype(create())> objects;
		for (int i = used; i < announced; i++) {
			objects.push_back(create());
			ASSERT_NE(objects.back(), nullptr) << i << " of " << announced;
		}
		errno = 0;
		EXPECT_EQ(create(), nullptr);
		EXPECT_EQ(errno, ENOMEM);
		objects.pop_back();
		EXPECT_NE(create(), nullptr) << "one was given back";
	}
	[[nodiscard]] Owned<ibv_cq> queue(int cqe = 1) const
	{
		return Owned<ibv_cq>(ibv_create_cq(client.context.get(), cqe, nullptr, nullptr, 0));
	}
	[[nodiscard]] Owned<ibv_srq> shared_queue(std::uint32_t max_wr = 1, std::uint32_t max_sge = 1) const
	{
		ibv_srq_init_attr attr{nullptr, {max_wr, max_sge, 0}};
		return Owned<ibv_srq>(ibv_create_srq(client.pd.get(), &attr));
	}
	[[nodiscard]] Owned<ibv_qp> queue_pair(const ibv_qp_cap &cap, ibv_srq *srq = nullptr) const
	{
		ibv_qp_init_attr attr{};
		attr.send_cq = attr.recv_cq = client.cq.get();
		attr.srq = srq;
		attr.cap = cap;
		attr.qp_type = IBV_QPT_RC;
		return Owned<ibv_qp>(ibv_create_qp(client.pd.get(), &attr));
	}
	/** Expects that @p announced is granted, and one more is refused. */
	void expect_capacity(std::uint32_t ibv_qp_cap::*member, std::uint32_t announced) const
	{
		ibv_qp_cap cap{1, 1, 1, 1, 0};
		cap.*member = announced;
		const Owned<ibv_qp> made = queue_pair(cap);
		ASSERT_NE(made, nullptr);
		ibv_qp_attr attr;
		ibv_qp_init_attr init;
		ASSERT_EQ(ibv_query_qp(made.get(), &attr, IBV_QP_CAP, &init), 0);
		EXPECT_GE(init.cap.*member, announced);
		cap.*member = announced + 1;
		errno = 0;
		EXPECT_EQ(queue_pair(cap), nullptr);
		EXPECT_EQ(errno, EINVAL);
	}

	ibv_device_attr_ex all_{};
	const ibv_device_attr &attr_ = all_.orig_attr;
};

/** Later headers have members that this library does not know: a program finds all of them zero. */
TEST_F(Limits, OfLaterHeadersAreZero)
{
	struct {
		ibv_device_attr_ex known;
		std::array<std::uint8_t, 64> later;
	} attr{};
	attr.later.fill(0xff);
	const verbs_context *verbs = verbs_get_ctx(client.context.get());
	ASSERT_EQ(verbs->query_device_ex(client.context.get(), nullptr, &attr.known, sizeof(attr)), 0);
	EXPECT_EQ(attr.later, decltype(attr.later){});
}

TEST_F(Limits, ProtectionDomains)
{
	expect_limit(attr_.max_pd, 1, [this] { return Owned<ibv_pd>(ibv_alloc_pd(client.context.get())); });
}

TEST_F(Limits, CompletionQueues)
{
	expect_limit(attr_.max_cq, 1, [this] { return queue(); });
}

TEST_F(Limits, SharedReceiveQueues)
{
	expect_limit(attr_.max_srq, 0, [this] { return shared_queue(); });
}

TEST_F(Limits, QueuePairs)
{
	expect_limit(attr_.max_qp, 0, [this] { return queue_pair({1, 1, 1, 1, 0}); });
}

TEST_F(Limits, RegionsAndWindowsBesideEachOther)
{
	const auto window = [this] { return Owned<ibv_mw>(ibv_alloc_mw(client.pd.get(), IBV_MW_TYPE_1)); };
	std::vector<Owned<ibv_mw>> windows;
	for (int i = 0; i < attr_.max_mw; i++)
		windows.push_back(window());
	EXPECT_NE(windows.back(), nullptr);
	EXPECT_EQ(window(), nullptr);
	expect_limit(attr_.max_mr, 1, [this] {
		const ibv_mr *memory = client.memory.mr();
		return Owned<ibv_mr>(ibv_reg_mr_iova2(client.pd.get(), memory->addr, 8, 0, IBV_ACCESS_LOCAL_WRITE));
	});
}

TEST_F(Limits, AddressHandles)
{
	struct DestroyHandle {
		void operator()(ibv_ah *ah) const { EXPECT_EQ(ibv_destroy_ah(ah), 0); }
	};
	ibv_ah_attr path{};
	int source = 0;
	path.is_global = path.port_num = 1;
	path.grh.dgid = client.gid(false, source);
	path.grh.sgid_index = static_cast<std::uint8_t>(source);
	expect_limit(attr_.max_ah, 0,
		[&] { return std::unique_ptr<ibv_ah, DestroyHandle>(ibv_create_ah(client.pd.get(), &path)); });
}

TEST_F(Limits, CapacitiesOfQueuePairs)
{
	expect_capacity(&ibv_qp_cap::max_send_wr, static_cast<std::uint32_t>(attr_.max_qp_wr));
	expect_capacity(&ibv_qp_cap::max_recv_wr, static_cast<std::uint32_t>(attr_.max_qp_wr));
	expect_capacity(&ibv_qp_cap::max_send_sge, static_cast<std::uint32_t>(attr_.max_sge));
	expect_capacity(&ibv_qp_cap::max_recv_sge, static_cast<std::uint32_t>(attr_.max_sge));
	expect_capacity(&ibv_qp_cap::max_inline_data, 1024);
}

TEST_F(Limits, ReceiveCapacitiesDoNotMatterWithASharedQueue)
{
	const Owned<ibv_srq> srq = shared_queue();
	qp = queue_pair({1, ~0u, 1, ~0u, 0}, srq.get());
	ASSERT_NE(qp, nullptr);
	ibv_qp_attr attr;
	ibv_qp_init_attr init;
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_CAP, &init), 0);
	EXPECT_EQ(init.cap.max_recv_wr, 0u);
	EXPECT_EQ(attr.cap.max_recv_sge, 0u);
	qp.reset();
}

TEST_F(Limits, CapacitiesOfOtherQueues)
{
	EXPECT_NE(queue(attr_.max_cqe), nullptr);
	EXPECT_EQ(queue(attr_.max_cqe + 1), nullptr);
	EXPECT_EQ(queue(0), nullptr);
	EXPECT_EQ(ibv_resize_cq(client.cq.get(), attr_.max_cqe + 1), EINVAL);
	EXPECT_NE(shared_queue(1, static_cast<std::uint32_t>(attr_.max_srq_sge)), nullptr);
	EXPECT_EQ(shared_queue(1, static_cast<std::uint32_t>(attr_.max_srq_sge) + 1), nullptr);
	EXPECT_EQ(shared_queue(static_cast<std::uint32_t>(attr_.max_srq_wr) + 1), nullptr);
	EXPECT_EQ(shared_queue(0), nullptr);
}

TEST_F(Limits, DeviceMemory)
{
	ibv_alloc_dm_attr attr{};
	attr.length = all_.max_dm_size;
	EXPECT_NE(Owned<ibv_dm>(ibv_alloc_dm(client.context.get(), &attr)), nullptr);
	attr.length++;
	EXPECT_EQ(ibv_alloc_dm(client.context.get(), &attr), nullptr);
	EXPECT_EQ(errno, ENOMEM);
}

TEST_F(Limits, LongestMessage)
{
	ibv_port_attr port{};
	ASSERT_EQ(ibv_query_port(client.context.get(), 1, &port), 0);
	constexpr std::uint32_t quarter_of_psns = 1 << 22, smallest_mtu = 256;
	EXPECT_LE(port.max_msg_sz / smallest_mtu, quarter_of_psns);
	connect();
	ASSERT_EQ(move_to(qp.get(), IBV_QPS_ERR), 0); /* posted requests are checked, and flushed */
	EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, port.max_msg_sz)})).status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(post({standard(IBV_WR_SEND, {client.memory.sge(0, port.max_msg_sz), client.memory.sge(0, 1)})}),
		EINVAL);
}

TEST_F(Limits, WideFlagsHoldTheOldOnesAndTheAtomicWrite)
{
	constexpr std::uint64_t atomic_write = std::uint64_t{1} << 40; /* IB_UVERBS_DEVICE_ATOMIC_WRITE */
	EXPECT_EQ(static_cast<std::uint32_t>(all_.device_cap_flags_ex), attr_.device_cap_flags);
	EXPECT_TRUE(all_.device_cap_flags_ex & atomic_write);
	connect();
	client.memory.put(0, std::uint64_t{7});
	ibv_sge sge = client.memory.sge(0, 8);
	ibv_send_wr wr{}, *bad = nullptr;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_ATOMIC_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma = {server.memory.at(), server.memory.key()};
	EXPECT_EQ(ibv_post_send(qp.get(), &wr, &bad), 0) << "it is there";
	EXPECT_TRUE(next(client.cq.get()));
}

TEST_F(Limits, PathsNeedAGlobalRouteAsThePortSays)
{
	ibv_port_attr port{};
	ASSERT_EQ(ibv_query_port(client.context.get(), 1, &port), 0);
	EXPECT_TRUE(port.flags & IBV_QPF_GRH_REQUIRED);
	ibv_ah_attr local{};
	local.port_num = 1;
	local.dlid = 1;
	errno = 0;
	EXPECT_EQ(ibv_create_ah(client.pd.get(), &local), nullptr);
	EXPECT_EQ(errno, EINVAL);
}

TEST_F(Limits, OutstandingReadsAndAtomics)
{
	PathOptions options;
	options.rd_atomic = static_cast<std::uint8_t>(attr_.max_qp_init_rd_atom);
	options.dest_rd_atomic = static_cast<std::uint8_t>(attr_.max_qp_rd_atom);
	connect(options);
	ASSERT_EQ(move_to(qp.get(), IBV_QPS_SQD), 0);
	ibv_qp_attr attr{};
	attr.max_rd_atomic = options.rd_atomic + 1;
	attr.max_dest_rd_atomic = options.dest_rd_atomic + 1;
	EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_MAX_QP_RD_ATOMIC), EINVAL);
	EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_MAX_DEST_RD_ATOMIC), EINVAL);
}

/**
 * Longer packets would be lost. tests/integration/ethernet.sh runs it on an interface that does not allow every MTU.
 */
TEST_F(Limits, PathMtuIsThatOfTheInterface)
{
	connect();
	ibv_port_attr port{};
	ASSERT_EQ(ibv_query_port(client.context.get(), 1, &port), 0);
	ibv_qp_attr attr{};
	ibv_qp_init_attr init{};
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, ~0, &init), 0);
	for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096}) {
		ASSERT_EQ(move_to(qp.get(), IBV_QPS_RESET), 0);
		attr.qp_state = IBV_QPS_INIT;
		ASSERT_EQ(ibv_modify_qp(qp.get(), &attr,
				  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
			0);
		attr.qp_state = IBV_QPS_RTR;
		attr.path_mtu = mtu;
		EXPECT_EQ(ibv_modify_qp(qp.get(), &attr,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			mtu <= port.active_mtu ? 0 : EINVAL)
			<< "code " << mtu << ", and the interface takes " << port.active_mtu;
	}
}

TEST_F(Limits, ScatterAndInlineAtTheirLimit)
{
	qp = create_qp(client);
	connect();
	ibv_qp_attr attr;
	ibv_qp_init_attr init;
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_CAP, &init), 0);
	const std::uint32_t most = init.cap.max_inline_data;
	EXPECT_EQ(run(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, most)}, &server.memory).with(IBV_SEND_INLINE))
			  .status,
		IBV_WC_SUCCESS);
	EXPECT_EQ(post({standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, most + 1)}, &server.memory)
				  .with(IBV_SEND_INLINE)}),
		EINVAL);
	std::vector<ibv_sge> sges(init.cap.max_send_sge, client.memory.sge(0, 1));
	EXPECT_EQ(run(standard(IBV_WR_RDMA_WRITE, sges, &server.memory)).status, IBV_WC_SUCCESS);
	sges.push_back(sges[0]);
	EXPECT_EQ(post({standard(IBV_WR_RDMA_WRITE, sges, &server.memory)}), EINVAL);
}

TEST_F(Limits, MulticastGroups)
{
	ibv_qp_init_attr attr{};
	attr.send_cq = attr.recv_cq = client.cq.get();
	attr.cap = {1, 1, 1, 1, 0};
	attr.qp_type = IBV_QPT_UD;
	const Owned<ibv_qp> datagrams(ibv_create_qp(client.pd.get(), &attr));
	union ibv_gid group {
		{
			0xff, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x77, 0, 0, 0
		}
	};
	int joined = 0;
	while (joined <= attr_.max_mcast_grp && ibv_attach_mcast(datagrams.get(), &group, 0) == 0) {
		joined++;
		group.raw[15]++;
	}
	EXPECT_EQ(joined, attr_.max_mcast_grp);
	while (joined-- > 0) {
		group.raw[15]--;
		EXPECT_EQ(ibv_detach_mcast(datagrams.get(), &group, 0), 0);
	}
}

} // namespace
} // namespace verbs_test
