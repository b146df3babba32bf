/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ibv_modify_qp, transition by transition: required and optional attributes, their values, and what ibv_query_qp
 * returns of them (IBTA 10.3, 11.2.5.2).
 */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

constexpr int any_path = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
/** Attributes that some transition takes; the others never change. */
constexpr int all_attributes = IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
			       IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT |
			       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
			       any_path | IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			       IBV_QP_CAP | IBV_QP_DEST_QPN;

struct Step {
	ibv_qp_state to;
	int required;
	int optional;
};

/** Returns the steps from RESET through all states, and the attributes of each; IBTA tables 91 to 97. */
std::vector<Step> steps_of(ibv_qp_type type)
{
	const bool rc = type == IBV_QPT_RC;
	if (type == IBV_QPT_UD)
		return {{IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
			{IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
			{IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
			{IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
			{IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY}, {IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
			{IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
			{IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY}};
	const int running = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | any_path | (rc ? IBV_QP_MIN_RNR_TIMER : 0);
	return {{IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
		{IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
		{IBV_QPS_RTR,
			IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				(rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0),
			IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
		{IBV_QPS_RTS,
			IBV_QP_SQ_PSN |
				(rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
				    : 0),
			running},
		{IBV_QPS_RTS, 0, running}, {IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
		{IBV_QPS_SQD, 0,
			IBV_QP_PKEY_INDEX | IBV_QP_AV | any_path | IBV_QP_ACCESS_FLAGS |
				(rc ? IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
							IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
							IBV_QP_MIN_RNR_TIMER
				    : 0)},
		{IBV_QPS_RTS, 0, running}};
}

class Transitions : public Fabric
{
protected:
	Transitions()
	{
		if (devices.kernel)
			skip("the kernel has a table of its own");
	}

	[[nodiscard]] Owned<ibv_qp> create(ibv_qp_type type) const
	{
		ibv_qp_init_attr attr{};
		attr.send_cq = attr.recv_cq = client.cq.get();
		attr.cap = {4, 4, 1, 1, 0};
		attr.qp_type = type;
		return Owned<ibv_qp>(ibv_create_qp(client.pd.get(), &attr));
	}
	/** Returns values that every attribute may have. */
	[[nodiscard]] ibv_qp_attr good_values(ibv_qp_state to, ibv_qp_state now) const
	{
		int source = 0;
		ibv_qp_attr attr{};
		attr.qp_state = to;
		attr.cur_qp_state = now;
		attr.port_num = 1;
		attr.path_mtu = IBV_MTU_1024;
		attr.ah_attr.is_global = attr.ah_attr.port_num = 1;
		attr.ah_attr.grh.dgid = client.gid(false, source);
		attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(source);
		attr.path_mig_state = IBV_MIG_MIGRATED;
		return attr;
	}
	void walk(ibv_qp_type type) const
	{
		const Owned<ibv_qp> walker = create(type);
		ibv_qp_state now = IBV_QPS_RESET;
		for (const Step &step : steps_of(type)) {
			SCOPED_TRACE("from " + std::to_string(now) + " to " + std::to_string(step.to));
			ibv_qp_attr attr = good_values(step.to, now);
			const int taken = step.required | step.optional;
			for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
				if (step.required & bit) {
					EXPECT_EQ(ibv_modify_qp(
							  walker.get(), &attr, IBV_QP_STATE | (step.required & ~bit)),
						EINVAL)
						<< "without " << bit;
				}
				if (all_attributes & bit & ~taken) {
					EXPECT_EQ(
						ibv_modify_qp(walker.get(), &attr, IBV_QP_STATE | step.required | bit),
						EINVAL)
						<< "with " << bit;
				}
			}
			EXPECT_EQ(ibv_modify_qp(walker.get(), &attr, IBV_QP_STATE | (taken & ~IBV_QP_ALT_PATH)), 0);
			now = step.to;
			EXPECT_EQ(state_of(walker.get()), now);
		}
		EXPECT_EQ(move_to(walker.get(), IBV_QPS_ERR), 0);
		EXPECT_EQ(move_to(walker.get(), IBV_QPS_ERR), 0);
		EXPECT_EQ(move_to(walker.get(), IBV_QPS_RESET), 0);
		EXPECT_EQ(move_to(walker.get(), IBV_QPS_RESET), 0);
		EXPECT_EQ(move_to(walker.get(), IBV_QPS_ERR), EINVAL) << "not from RESET";
	}
	void expect_bad(int mask, const ibv_qp_attr &values) const
	{
		ibv_qp_attr attr = values;
		EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, mask), EINVAL) << mask;
	}
};

TEST_F(Transitions, OfReliableConnections)
{
	walk(IBV_QPT_RC);
}

TEST_F(Transitions, OfUnreliableConnections)
{
	walk(IBV_QPT_UC);
}

TEST_F(Transitions, OfDatagrams)
{
	walk(IBV_QPT_UD);
}

TEST_F(Transitions, ValuesThatNoFieldHoldsAreRefused)
{
	connect();
	ASSERT_EQ(move_to(qp.get(), IBV_QPS_SQD), 0);
	ibv_qp_attr good = good_values(IBV_QPS_SQD, IBV_QPS_SQD), bad = good;
	bad.timeout = bad.min_rnr_timer = 32;
	bad.retry_cnt = bad.rnr_retry = 8;
	for (const int bit : {IBV_QP_TIMEOUT, IBV_QP_MIN_RNR_TIMER, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY})
		expect_bad(bit, bad);
	good.timeout = good.min_rnr_timer = 31;
	good.retry_cnt = good.rnr_retry = 7;
	EXPECT_EQ(ibv_modify_qp(
			  qp.get(), &good, IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
		0);
	bad = good;
	bad.pkey_index = 1;
	expect_bad(IBV_QP_PKEY_INDEX, bad);
	bad.ah_attr.port_num = 2;
	expect_bad(IBV_QP_AV, bad);
	bad = good;
	bad.ah_attr.is_global = 0;
	expect_bad(IBV_QP_AV, bad);
	bad = good;
	bad.ah_attr.grh.sgid_index = 255;
	expect_bad(IBV_QP_AV, bad);
}

TEST_F(Transitions, ThereIsOnePath)
{
	connect();
	ibv_qp_attr attr = good_values(IBV_QPS_RTS, IBV_QPS_RTS);
	EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_ALT_PATH), EOPNOTSUPP);
	attr.path_mig_state = IBV_MIG_REARM;
	EXPECT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_PATH_MIG_STATE), EOPNOTSUPP);
	ibv_qp_init_attr init;
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_PATH_MIG_STATE, &init), 0);
	EXPECT_EQ(attr.path_mig_state, IBV_MIG_MIGRATED);
}

TEST_F(Transitions, QueryGivesFieldsAsTheyTravel)
{
	qp = create(IBV_QPT_RC);
	ibv_qp_attr attr = good_values(IBV_QPS_INIT, IBV_QPS_RESET);
	attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	ASSERT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE | steps_of(IBV_QPT_RC)[0].required), 0);
	attr.qp_state = IBV_QPS_RTR;
	attr.rq_psn = 0xff000001;
	attr.dest_qp_num = 0xff000002;
	ASSERT_EQ(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE | steps_of(IBV_QPT_RC)[2].required), 0);
	ibv_qp_init_attr init;
	ASSERT_EQ(ibv_query_qp(qp.get(), &attr, ~0, &init), 0);
	EXPECT_EQ(attr.qp_access_flags, unsigned{IBV_ACCESS_REMOTE_READ});
	EXPECT_EQ(attr.port_num, 1);
	EXPECT_EQ(attr.rq_psn, 1u);
	EXPECT_EQ(attr.dest_qp_num, 2u);
	EXPECT_EQ(attr.cur_qp_state, IBV_QPS_RTR);
}

/** In SQD, requests under way continue, and newly posted ones wait. */
class Draining : public EachVariant
{
protected:
	Draining()
	{
		if (devices.kernel)
			skip("the states of rxe are its own");
		connect();
	}
	[[nodiscard]] int drain(bool notify) const
	{
		ibv_qp_attr attr{};
		attr.qp_state = IBV_QPS_SQD;
		attr.en_sqd_async_notify = notify;
		return ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
	}
	[[nodiscard]] bool is_draining() const
	{
		ibv_qp_attr attr;
		ibv_qp_init_attr init;
		EXPECT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init), 0);
		return attr.sq_draining;
	}
};

TEST_P(Draining, IdleQueueIsDrainedAtOnce)
{
	ASSERT_EQ(drain(false), 0);
	EXPECT_FALSE(async_event(client, 2)) << "not asked for";
	ASSERT_EQ(move_to(qp.get(), IBV_QPS_RTS), 0);
	ASSERT_EQ(drain(true), 0);
	EXPECT_EQ(async_event(client), IBV_EVENT_SQ_DRAINED);
	EXPECT_FALSE(is_draining());
}

TEST_P(Draining, EventComesWithTheLastThatHadBegun)
{
	ASSERT_EQ(post({standard(IBV_WR_SEND, {client.memory.sge(0, 8)})}), 0); /* no receive is posted yet */
	ASSERT_TRUE(pump_until([this] { return server.counter("tx_rnr_nak") > 0; }));
	ASSERT_EQ(drain(true), 0);
	EXPECT_TRUE(is_draining());
	ASSERT_EQ(post({standard(IBV_WR_SEND, {}).id(2)}), 0);
	EXPECT_FALSE(async_event(client, 2));
	post_recv(peer.get(), server.memory.sge(0, 8));
	post_recv(peer.get(), server.memory.sge(0, 8));
	const auto first = next(client.cq.get());
	ASSERT_TRUE(first);
	EXPECT_EQ(first->wr_id, 1u);
	EXPECT_EQ(async_event(client), IBV_EVENT_SQ_DRAINED);
	EXPECT_FALSE(is_draining());
	EXPECT_FALSE(next(client.cq.get(), 2)) << "what was posted in SQD waits";
	ASSERT_EQ(move_to(qp.get(), IBV_QPS_RTS), 0);
	const auto second = next(client.cq.get());
	ASSERT_TRUE(second);
	EXPECT_EQ(second->wr_id, 2u);
	EXPECT_FALSE(async_event(client, 2)) << "one event";
}

INSTANTIATE_TEST_SUITE_P(Each, Draining, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
