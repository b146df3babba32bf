/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Each function of the device that a C program can reach is called while there is no memory: those in the table of
 * ops.cpp, and those that libprism.map exports. */
#include "exhaustion.hpp"

#include <sstream>

namespace verbs_test
{
namespace
{

/** Tests each name. A name without a row fails. */
class EntryPoint : public Exhaustion, public testing::WithParamInterface<std::string>
{
protected:
	EntryPoint()
	{
		add_queues();
		add_queue_pairs();
		add_shared_queues();
		add_memory();
		add_addresses();
		add_completions();
		add_devices();
		add_device_lists();
		add_capabilities();
	}

	/* Objects that the rows need, made before memory is short. */

	template <typename Object>
	static void starve_end(Owned<Object> object, int (*destroy)(Object *))
	{
		Object *const bare = object.release();
		starve([&] { return destroy(bare); });
	}

	/** As starve(), for a function that returns a count, or the negative of an errno. */
	static void starve_count(const std::function<ssize_t()> &function)
	{
		starve([&] {
			const ssize_t count = function();
			return count < 0 ? static_cast<int>(-count) : 0;
		});
	}

	ibv_qp_init_attr_ex qp_attr(ibv_qp_type type = IBV_QPT_RC) const
	{
		ibv_qp_init_attr_ex attr{};
		attr.send_cq = attr.recv_cq = client.cq.get();
		attr.cap = {16, 16, 4, 4, 64};
		attr.qp_type = type;
		attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.pd = pd;
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
		return attr;
	}

	ibv_srq_init_attr_ex srq_attr() const
	{
		ibv_srq_init_attr_ex attr{};
		attr.attr = {16, 1, 0};
		attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
		attr.srq_type = IBV_SRQT_BASIC;
		attr.pd = pd;
		return attr;
	}

	Owned<ibv_srq> make_srq() const
	{
		ibv_srq_init_attr_ex attr = srq_attr();
		return Owned<ibv_srq>(ibv_create_srq_ex(context, &attr));
	}

	Owned<ibv_dm> make_dm() const
	{
		ibv_alloc_dm_attr attr{};
		attr.length = 64;
		return Owned<ibv_dm>(ibv_alloc_dm(context, &attr));
	}

	Owned<ibv_mr> make_mr() const { return Owned<ibv_mr>(ibv_reg_mr(pd, client.memory.bytes(), 64, 0)); }

	Owned<ibv_qp> make_datagrams() const
	{
		ibv_qp_init_attr_ex attr = qp_attr(IBV_QPT_UD);
		return Owned<ibv_qp>(ibv_create_qp_ex(context, &attr));
	}

	ibv_ah_attr path_to_itself() const
	{
		int index = 0;
		ibv_ah_attr attr{};
		attr.grh.dgid = client.gid(false, index);
		attr.grh.sgid_index = static_cast<std::uint8_t>(index);
		attr.is_global = attr.port_num = 1;
		return attr;
	}

	static void starve_transitions(ibv_qp *of, const ibv_ah_attr &path)
	{
		ibv_qp_attr attr = init_attr(IBV_ACCESS_REMOTE_READ);
		attr.path_mtu = IBV_MTU_1024;
		attr.dest_qp_num = of->qp_num;
		attr.max_dest_rd_atomic = attr.max_rd_atomic = 16;
		attr.ah_attr = path;
		const std::pair<ibv_qp_state, int> steps[] = {
			{IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
			{IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER},
			{IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC},
			{IBV_QPS_ERR, 0}, {IBV_QPS_RESET, 0}};
		for (const auto &[state, more] : steps) {
			attr.qp_state = state;
			starve([&, mask = IBV_QP_STATE | more] { return ibv_modify_qp(of, &attr, mask); });
		}
	}

	/** Raises a completion, and with it an event on the channel of @p cq. */
	void raise_event(ibv_cq *cq)
	{
		QpOptions options;
		options.recv_cq = cq;
		qp = create_qp(client, options);
		ibv_qp_attr attr = init_attr(0);
		const int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
		ASSERT_EQ(ibv_modify_qp(qp.get(), &attr, to_init), 0);
		ASSERT_EQ(move_to(qp.get(), IBV_QPS_ERR), 0);
		ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
		post_recv(qp.get(), client.memory.sge(0, 64));
	}

	/* The rows. */

	void add_queues()
	{
		const auto create = [this] { return ibv_create_cq(context, 16, nullptr, nullptr, 0); };
		rows["create_cq"] = [create] { starve_object(create); };
		rows["destroy_cq"] = [create] { starve_end(Owned<ibv_cq>(create()), ibv_destroy_cq); };
		rows["create_cq_ex"] = [this] {
			ibv_cq_init_attr_ex attr{};
			attr.cqe = 16;
			starve_object([&] {
				ibv_cq_ex *const made = ibv_create_cq_ex(context, &attr);
				return made ? ibv_cq_ex_to_cq(made) : nullptr;
			});
		};
		rows["resize_cq"] = [this] { starve([this] { return ibv_resize_cq(client.cq.get(), 2000); }); };
		rows["prismdv_create_comp_channel"] = [this] {
			starve_object([this] { return prismdv_create_comp_channel(context); });
		};
	}

	void add_queue_pairs()
	{
		rows["create_qp"] = [this] {
			ibv_qp_init_attr attr{};
			attr.send_cq = attr.recv_cq = client.cq.get();
			attr.qp_type = IBV_QPT_RC;
			attr.cap = {16, 16, 4, 4, 64};
			starve_object([&] { return ibv_create_qp(pd, &attr); });
		};
		rows["create_qp_ex"] = [this] {
			ibv_qp_init_attr_ex attr = qp_attr();
			starve_object([&] { return ibv_create_qp_ex(context, &attr); });
		};
		rows["prismdv_create_qp"] = [this] {
			ibv_qp_init_attr_ex attr = qp_attr();
			starve_object([&] { return prismdv_create_qp(context, &attr, nullptr); });
		};
		rows["destroy_qp"] = [this] { starve_end(create_qp(client), ibv_destroy_qp); };
		rows["modify_qp"] = [this] { starve_transitions(create_qp(client).get(), path_to_itself()); };
		rows["query_qp"] = [this] {
			const auto made = create_qp(client);
			ibv_qp_attr attr;
			ibv_qp_init_attr init;
			starve([&] { return ibv_query_qp(made.get(), &attr, IBV_QP_STATE, &init); });
		};
		rows["post_send"] = [this] {
			connect();
			ibv_send_wr wr{}, *bad;
			wr.opcode = IBV_WR_SEND;
			starve([&] { return ibv_post_send(qp.get(), &wr, &bad); });
		};
		rows["post_recv"] = [this] {
			connect();
			ibv_sge sge = client.memory.sge(0, 64);
			ibv_recv_wr wr{1, nullptr, &sge, 1}, *bad;
			starve([&] { return ibv_post_recv(qp.get(), &wr, &bad); });
		};
		rows["prismdv_qp_ex_from_ibv_qp_ex"] = [this] {
			const auto made = create_qp(client);
			ibv_qp_ex *const extended = ibv_qp_to_qp_ex(made.get());
			starve([&] { return prismdv_qp_ex_from_ibv_qp_ex(extended) ? 0 : errno; });
		};
	}

	void add_shared_queues()
	{
		rows["create_srq"] = [this] {
			ibv_srq_init_attr attr{nullptr, {16, 4, 0}};
			starve_object([&] { return ibv_create_srq(pd, &attr); });
		};
		rows["create_srq_ex"] = [this] {
			ibv_srq_init_attr_ex attr = srq_attr();
			starve_object([&] { return ibv_create_srq_ex(context, &attr); });
		};
		rows["prismdv_create_srq"] = [this] {
			ibv_srq_init_attr_ex attr = srq_attr();
			prismdv_srq_init_attr as_list{};
			as_list.flags = PRISMDV_SRQ_FREE_LIST;
			starve_object([&] { return prismdv_create_srq(context, &attr, &as_list); });
		};
		rows["destroy_srq"] = [this] { starve_end(make_srq(), ibv_destroy_srq); };
		rows["modify_srq"] = [this] {
			ibv_srq_attr attr{16, 1, 1};
			const auto srq = make_srq();
			starve([&] { return ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT); });
		};
		rows["query_srq"] = [this] {
			ibv_srq_attr attr;
			const auto srq = make_srq();
			starve([&] { return ibv_query_srq(srq.get(), &attr); });
		};
		rows["get_srq_num"] = [this] {
			std::uint32_t number;
			const auto srq = make_srq();
			starve([&] { return ibv_get_srq_num(srq.get(), &number); });
		};
		rows["post_srq_recv"] = [this] {
			const auto srq = make_srq();
			const FreeList list(client, 16);
			ibv_sge sge = client.memory.sge(0, 64);
			ibv_recv_wr wr{1, nullptr, &sge, 1}, *bad;
			for (ibv_srq *each : {srq.get(), list.get()})
				starve([&] { return ibv_post_srq_recv(each, &wr, &bad); });
		};
		rows["prismdv_query_free_list"] = [this] {
			const FreeList list(client, 16);
			prismdv_free_list_attr attr;
			starve([&] { return prismdv_query_free_list(list.get(), &attr); });
		};
		rows["prismdv_poll_rejected"] = [this] {
			const FreeList list(client, 16);
			prismdv_rejected_entry entry;
			starve_count([&] { return prismdv_poll_rejected(list.get(), &entry, 1); });
		};
	}

	void add_memory()
	{
		rows["alloc_pd"] = [this] { starve_object([this] { return ibv_alloc_pd(context); }); };
		rows["dealloc_pd"] = [this] { starve_end(Owned<ibv_pd>(ibv_alloc_pd(context)), ibv_dealloc_pd); };
		rows["reg_mr"] = [this] {
			std::vector<Owned<ibv_mr>> regions;
			const auto create = [this] { return ibv_reg_mr_iova(pd, client.memory.bytes(), 64, 0, 0); };
			for (int i = 0; i < 40; i++) /* more than the table of keys has room for at first */
				regions.push_back(starve_object(create));
		};
		rows["rereg_mr"] = [this] {
			const auto mr = make_mr();
			void *const place = client.memory.bytes(64);
			const int what = IBV_REREG_MR_CHANGE_TRANSLATION;
			starve([&] { return ibv_rereg_mr(mr.get(), what, nullptr, place, 64, 0) ? errno : 0; });
		};
		rows["dereg_mr"] = [this] { starve_end(make_mr(), ibv_dereg_mr); };
		rows["alloc_mw"] = [this] { starve_object([this] { return ibv_alloc_mw(pd, IBV_MW_TYPE_2); }); };
		rows["dealloc_mw"] = [this] {
			starve_end(Owned<ibv_mw>(ibv_alloc_mw(pd, IBV_MW_TYPE_1)), ibv_dealloc_mw);
		};
		rows["bind_mw"] = [this] {
			connect();
			const Owned<ibv_mw> window(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
			ibv_mw_bind bind{};
			bind.bind_info = {client.memory.mr(), client.memory.at(), 64, IBV_ACCESS_REMOTE_READ};
			starve([&] { return ibv_bind_mw(qp.get(), window.get(), &bind); });
		};
		rows["alloc_dm"] = [this] {
			ibv_alloc_dm_attr attr{};
			attr.length = 64;
			starve_object([&] { return ibv_alloc_dm(context, &attr); });
		};
		rows["free_dm"] = [this] { starve_end(make_dm(), ibv_free_dm); };
		rows["reg_dm_mr"] = [this] {
			const auto dm = make_dm();
			starve_object([&] { return ibv_reg_dm_mr(pd, dm.get(), 0, 64, IBV_ACCESS_ZERO_BASED); });
		};
	}

	void add_addresses()
	{
		const auto create = [this] {
			ibv_ah *made = nullptr;
			ibv_ah_attr attr = path_to_itself();
			starve([&] { return (made = ibv_create_ah(pd, &attr)) ? 0 : errno; });
			return made;
		};
		rows["create_ah"] = [create] { EXPECT_EQ(ibv_destroy_ah(create()), 0); };
		rows["destroy_ah"] = [create] {
			ibv_ah *const ah = create();
			starve([&] { return ibv_destroy_ah(ah); });
		};
		for (const char *half : {"attach_mcast", "detach_mcast"})
			rows[half] = [this] {
				const auto member = make_datagrams();
				const ibv_gid group{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3}};
				starve([&] { return ibv_attach_mcast(member.get(), &group, 0); });
				starve([&] { return ibv_detach_mcast(member.get(), &group, 0); });
				EXPECT_EQ(ibv_detach_mcast(member.get(), &group, 0), EINVAL) << "it has left";
			};
	}

	void add_completions()
	{
		rows["poll_cq"] = [this] {
			ibv_wc wc;
			starve([&] { return ibv_poll_cq(client.cq.get(), 1, &wc); });
		};
		rows["req_notify_cq"] = [this] { starve([this] { return ibv_req_notify_cq(client.cq.get(), 0); }); };
		rows["cq_event"] = [this] {
			const Owned<ibv_comp_channel> channel(prismdv_create_comp_channel(context));
			const Owned<ibv_cq> cq(ibv_create_cq(context, 16, nullptr, channel.get(), 0));
			raise_event(cq.get());
			ibv_cq *of = nullptr;
			void *unused;
			starve([&] { return ibv_get_cq_event(channel.get(), &of, &unused); });
			ibv_ack_cq_events(of, 1);
			qp.reset();
		};
		rows["async_event"] = [this] {
			const auto srq = make_srq();
			ibv_srq_attr attr{16, 1, 1};
			ASSERT_EQ(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT), 0) << "it is empty already";
			ibv_async_event event;
			starve([&] { return ibv_get_async_event(context, &event); });
			ibv_ack_async_event(&event);
		};
	}

	void add_devices()
	{
		rows["query_device_ex"] = [this] {
			ibv_device_attr_ex attr;
			starve([&] { return ibv_query_device_ex(context, nullptr, &attr); });
		};
		rows["query_port"] = [this] {
			ibv_port_attr attr;
			starve([&] { return ibv_query_port(context, 1, &attr); });
		};
		rows["prismdv_query_device"] = [this] {
			prismdv_device_attr attr;
			starve([&] { return prismdv_query_device(context, &attr); });
		};
		rows["prismdv_query_gid"] = [this] {
			ibv_gid gid;
			starve([&] { return prismdv_query_gid(context, 1, 0, &gid); });
		};
		rows["prismdv_query_counters"] = [this] {
			starve_count([this] { return prismdv_query_counters(context, nullptr, 0); });
		};
		rows["prismdv_progress"] = [this] { starve([this] { return prismdv_progress(context); }); };
		rows["prismdv_is_supported"] = [this] {
			starve([this] { return prismdv_is_supported(context->device) ? 0 : EOPNOTSUPP; });
		};
	}

	void add_device_lists()
	{
		const auto list_devices = [] {
			ibv_device **list = nullptr;
			starve([&] { return (list = prismdv_get_device_list(nullptr)) ? 0 : errno; });
			return list;
		};
		const auto open = [this] {
			ibv_context *opened = nullptr;
			const prismdv_context_attr attr{0, PRISMDV_PROGRESS_THREAD, 0};
			starve([&] { return (opened = prismdv_open_device(context->device, &attr)) ? 0 : errno; });
			return opened;
		};
		rows["prismdv_get_device_list"] = [list_devices] { prismdv_free_device_list(list_devices()); };
		rows["prismdv_free_device_list"] = [list_devices] {
			ibv_device **const list = list_devices();
			starve([&] { return prismdv_free_device_list(list), 0; });
		};
		rows["prismdv_open_device"] = [open] { EXPECT_EQ(ibv_close_device(open()), 0); };
		rows["free_context"] = [open] {
			ibv_context *const opened = open();
			starve([&] { return ibv_close_device(opened); });
		};
	}

	void add_capabilities()
	{
		const auto query = [this] {
			prismdv_capability capability{};
			starve([&] { return prismdv_query_capability(context, &capability); });
			return capability;
		};
		rows["prismdv_query_capability"] = query;
		rows["prismdv_set_peer_capability"] = [this, query] {
			const auto made = create_qp(client);
			const prismdv_capability capability = query();
			starve([&] { return prismdv_set_peer_capability(made.get(), &capability); });
		};
		rows["prismdv_status_str"] = [] { starve([] { return prismdv_status_str(0) ? 0 : ENOMEM; }); };
	}

	ibv_context *const context = client.context.get();
	ibv_pd *const pd = client.pd.get();
	std::map<std::string, std::function<void()>> rows;
};

TEST_P(EntryPoint, WorksOrSaysThatThereIsNoMemory)
{
	const auto row = rows.find(GetParam());
	ASSERT_NE(row, rows.end()) << "no row for " << GetParam();
	row->second();
}

std::vector<std::string> entry_points()
{
	std::istringstream words(PRISM_ENTRY_POINTS);
	return {std::istream_iterator<std::string>(words), {}};
}

std::string name_of(const testing::TestParamInfo<std::string> &info)
{
	return info.param;
}

INSTANTIATE_TEST_SUITE_P(Each, EntryPoint, testing::ValuesIn(entry_points()), name_of);

} // namespace
} // namespace verbs_test
