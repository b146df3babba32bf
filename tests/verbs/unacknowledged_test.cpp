/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UD and UC (IBTA 9.8): unacknowledged messages arrive, or are dropped and counted. */
#include "harness.hpp"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

namespace verbs_test
{
namespace
{

constexpr std::uint32_t datagram_qkey = 0x11111111;
constexpr std::size_t grh = sizeof(ibv_grh);

Owned<ibv_qp> create(const Host &host, ibv_qp_type type, bool signal_all = true)
{
	ibv_qp_init_attr_ex attr{};
	attr.qp_type = type;
	attr.sq_sig_all = signal_all;
	attr.send_cq = attr.recv_cq = host.cq.get();
	attr.cap = {64, 64, 4, 4, 64};
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.pd = host.pd.get();
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	return Owned<ibv_qp>(ibv_create_qp_ex(host.context.get(), &attr));
}

class Unacknowledged : public EachVariant
{
protected:
	void SetUp() override
	{
		if (devices.kernel) /* also in derived classes, which check IsSkipped() */
			skip("UD and UC of a kernel device are rxe's own: pyverbs and perftest try them there");
	}

	void post_receive(ibv_qp *at, std::size_t offset, std::uint32_t length, std::uint64_t id = 7) const
	{
		post_recv_to(at, server.memory.sge(offset, length), id);
	}

	static void post_recv_to(ibv_qp *at, ibv_sge sge, std::uint64_t id)
	{
		ibv_recv_wr wr{id, nullptr, &sge, 1}, *bad;
		ASSERT_EQ(ibv_post_recv(at, &wr, &bad), 0);
	}

	/** Expects that the receive ends so, and that no event reports it again. */
	void expect_received(ibv_qp *at, ibv_wc_status status, ibv_qp_state state)
	{
		const auto wc = next(server.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, 7u);
		EXPECT_EQ(wc->status, status) << ibv_wc_status_str(wc->status);
		EXPECT_TRUE(pump_until([&] { return state_of(at) == state; }));
		EXPECT_FALSE(async_event(server, 2));
	}

	/** Expects that nothing arrives, and that the counter tells why. */
	void expect_dropped(const std::string &counter, std::uint64_t before)
	{
		EXPECT_TRUE(pump_until([&] { return server.counter(counter) > before; })) << counter;
		ibv_wc wc;
		EXPECT_EQ(ibv_poll_cq(server.cq.get(), 1, &wc), 0);
	}
};

/* UD ------------------------------------------------------------------------------------------------------------ */

struct DestroyAh {
	void operator()(ibv_ah *ah) const { EXPECT_EQ(ibv_destroy_ah(ah), 0); }
};
using Ah = std::unique_ptr<ibv_ah, DestroyAh>;

class Datagrams : public Unacknowledged
{
protected:
	void SetUp() override
	{
		Unacknowledged::SetUp();
		if (!IsSkipped())
			make();
	}

	void make()
	{
		from = ready(client);
		to = ready(server);
		ah = path(client, server);
		ASSERT_TRUE(from && to && ah);
	}

	static Owned<ibv_qp> ready(const Host &host)
	{
		Owned<ibv_qp> made = create(host, IBV_QPT_UD);
		ready_for_datagrams(made.get(), datagram_qkey);
		return made;
	}

	Ah path(const Host &near, const Host &far) const
	{
		int index = 0;
		return path(near, far.gid(variant_.ipv6, index));
	}

	Ah path(const Host &near, const ibv_gid &destination) const
	{
		ibv_ah_attr attr{};
		int index = 0;
		attr.grh.dgid = destination;
		near.gid(variant_.ipv6, index);
		attr.grh.sgid_index = static_cast<std::uint8_t>(index);
		attr.is_global = 1;
		attr.port_num = 1;
		return Ah(ibv_create_ah(near.pd.get(), &attr));
	}

	struct Message {
		std::uint32_t length = 0;
		std::optional<std::uint32_t> immediate = std::nullopt;
		std::uint32_t key = datagram_qkey;
		std::uint32_t offset = 0;
		bool to_group = false;
	};

	int send(const Message &message)
	{
		ibv_sge sge = client.memory.sge(message.offset, message.length);
		const std::uint32_t number = message.to_group ? 0xffffff : to->qp_num;
		if (variant_.style == Style::builder) {
			ibv_qp_ex *ex = ibv_qp_to_qp_ex(from.get());
			ibv_wr_start(ex);
			ex->wr_id = 1;
			ex->wr_flags = 0;
			if (message.immediate)
				ibv_wr_send_imm(ex, *message.immediate);
			else
				ibv_wr_send(ex);
			ibv_wr_set_ud_addr(ex, ah.get(), number, message.key);
			ibv_wr_set_sge(ex, sge.lkey, sge.addr, sge.length);
			return ibv_wr_complete(ex);
		}
		ibv_send_wr wr{}, *bad;
		wr.wr_id = 1;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = message.immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
		wr.imm_data = message.immediate.value_or(0);
		wr.wr.ud = {ah.get(), number, message.key};
		return ibv_post_send(from.get(), &wr, &bad);
	}

	/** Sends a message; returns its status. */
	ibv_wc_status sent(const Message &message)
	{
		EXPECT_EQ(send(message), 0);
		const auto wc = next(client.cq.get());
		EXPECT_TRUE(wc);
		return wc ? wc->status : IBV_WC_GENERAL_ERR;
	}

	Owned<ibv_qp> from, to;
	Ah ah;
};

TEST_P(Datagrams, ArriveBehindTheGrh)
{
	client.memory.put(0, "datagram");
	post_receive(to.get(), 0, 100);
	EXPECT_EQ(sent({8, htobe32(77)}), IBV_WC_SUCCESS);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc->opcode, IBV_WC_RECV);
	EXPECT_EQ(wc->byte_len, grh + 8);
	EXPECT_EQ(wc->wr_id, 7u);
	EXPECT_EQ(wc->src_qp, from->qp_num);
	EXPECT_EQ(wc->wc_flags, unsigned{IBV_WC_GRH | IBV_WC_WITH_IMM});
	EXPECT_EQ(wc->imm_data, htobe32(77));
	EXPECT_EQ(server.memory.text(grh, 8), "datagram");
}

/* libibverbs finds the address for the answer in the GRH. */
TEST_P(Datagrams, AreAnsweredByTheirGrh)
{
	post_receive(to.get(), 0, 100);
	EXPECT_EQ(sent({4}), IBV_WC_SUCCESS);
	auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	const std::uint8_t *header = server.memory.bytes();
	int index = 0;
	const ibv_gid theirs = client.gid(variant_.ipv6, index), ours = server.gid(variant_.ipv6, index);
	if (variant_.ipv6) {
		EXPECT_EQ(header[0] >> 4, 6);
		EXPECT_EQ(std::memcmp(header + 8, theirs.raw, 16), 0);
		EXPECT_EQ(std::memcmp(header + 24, ours.raw, 16), 0);
		return;
	}
	EXPECT_EQ(header[20], 0x45);
	EXPECT_EQ(std::memcmp(header + 32, theirs.raw + 12, 4), 0);
	EXPECT_EQ(std::memcmp(header + 36, ours.raw + 12, 4), 0);
	unsigned sum = 0;
	for (int i = 20; i < 40; i += 2)
		sum += static_cast<unsigned>(header[i] << 8 | header[i + 1]);
	EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffu);
}

TEST_P(Datagrams, OfAWrongKeyAreDropped)
{
	post_receive(to.get(), 0, 100);
	const std::uint64_t before = server.counter("rx_bad_qkey");
	EXPECT_EQ(sent({.length = 4, .key = datagram_qkey + 1}), IBV_WC_SUCCESS);
	expect_dropped("rx_bad_qkey", before);
}

/* IBTA 10.2.5 */
TEST_P(Datagrams, AKeyWithTheHighBitMeansTheSendersOwn)
{
	post_receive(to.get(), 0, 100);
	EXPECT_EQ(sent({.length = 4, .key = 0x80000000}), IBV_WC_SUCCESS);
	EXPECT_TRUE(next(server.cq.get()));
}

TEST_P(Datagrams, WithoutAReceiveAreDropped)
{
	const std::uint64_t before = server.counter("rx_no_receive");
	EXPECT_EQ(sent({4}), IBV_WC_SUCCESS);
	expect_dropped("rx_no_receive", before);
}

TEST_P(Datagrams, LongerThanTheReceiveAreDroppedAndItStays)
{
	const std::uint64_t before = server.counter("rx_message_dropped");
	post_receive(to.get(), 0, grh + 4);
	EXPECT_EQ(sent({5}), IBV_WC_SUCCESS);
	expect_dropped("rx_message_dropped", before);
	EXPECT_EQ(sent({4}), IBV_WC_SUCCESS);
	EXPECT_TRUE(next(server.cq.get()));
	EXPECT_EQ(state_of(to.get()), IBV_QPS_RTS);
}

TEST_P(Datagrams, OfOneMtuArriveAndLongerOnesAreAnError)
{
	ibv_port_attr port{};
	ASSERT_EQ(ibv_query_port(client.context.get(), 1, &port), 0);
	const std::uint32_t mtu = 128u << port.active_mtu;
	client.memory.fill(0, mtu, 3);
	post_receive(to.get(), 0, static_cast<std::uint32_t>(grh) + mtu);
	EXPECT_EQ(sent({mtu}), IBV_WC_SUCCESS);
	ASSERT_TRUE(next(server.cq.get()));
	EXPECT_EQ(server.memory.text(grh, mtu), client.memory.text(0, mtu));
	EXPECT_EQ(sent({mtu + 1}), IBV_WC_LOC_LEN_ERR);
}

/* More at once than a burst: they are not acknowledged, but on a quiet host they arrive. */
TEST_P(Datagrams, ManyAtOnceArriveInOrder)
{
	constexpr std::uint32_t count = 60;
	for (std::uint32_t i = 0; i < count; i++) {
		client.memory.put(8 * i, std::uint64_t{i});
		post_receive(to.get(), 64 * i, 64, i);
	}
	for (std::uint32_t i = 0; i < count; i++)
		ASSERT_EQ(send({.length = 8, .offset = 8 * i}), 0);
	for (std::uint32_t i = 0; i < count; i++) {
		const auto wc = next(server.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, i);
		EXPECT_EQ(server.memory.word(64 * i + grh), i);
	}
}

TEST_P(Datagrams, HaveNoOtherRequests)
{
	for (const ibv_wr_opcode opcode :
		{IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV}) {
		ibv_sge sge = client.memory.sge(0, 8);
		ibv_send_wr wr{}, *bad = nullptr;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = opcode;
		wr.wr.ud = {ah.get(), to->qp_num, datagram_qkey};
		EXPECT_EQ(ibv_post_send(from.get(), &wr, &bad), EINVAL) << opcode;
		EXPECT_EQ(bad, &wr);
	}
}

TEST_P(Datagrams, AnAddressHandleMayGoOnceItsDatagramIsPosted)
{
	post_receive(to.get(), 0, 100);
	ASSERT_EQ(send({4}), 0);
	ah.reset();
	EXPECT_TRUE(next(client.cq.get()));
	EXPECT_TRUE(next(server.cq.get()));
}

TEST_P(Datagrams, AnAddressHandleKeepsItsDomain)
{
	ibv_ah_attr attr{};
	attr.port_num = 1;
	EXPECT_EQ(ibv_create_ah(client.pd.get(), &attr), nullptr);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(ibv_dealloc_pd(client.pd.get()), EBUSY);
}

/* Other verbs work between the start of a batch and its end. */
TEST_P(Datagrams, ABatchKeepsNobodyOut)
{
	post_receive(to.get(), 0, 100);
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(from.get());
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	const Ah another = path(client, server);
	const Region region = client.region(64);
	ibv_wr_set_ud_addr(ex, another.get(), to->qp_num, datagram_qkey);
	ibv_wr_set_sge(ex, region.key(), region.at(), 8);
	ibv_wc wc;
	EXPECT_EQ(ibv_poll_cq(client.cq.get(), 1, &wc), 0);
	const Owned<ibv_qp> other = ready(client);
	ibv_wr_start(ibv_qp_to_qp_ex(other.get()));
	ibv_wr_abort(ibv_qp_to_qp_ex(other.get()));
	EXPECT_EQ(ibv_wr_complete(ex), 0);
	EXPECT_TRUE(next(client.cq.get()));
	EXPECT_TRUE(next(server.cq.get()));
}

INSTANTIATE_TEST_SUITE_P(Each, Datagrams, testing::ValuesIn(all_variants()), variant_name);

/** Also on a kernel device: there the error and the flush take the same path. */
class FailedDatagrams : public Datagrams
{
protected:
	void SetUp() override { make(); }
};

TEST_P(FailedDatagrams, CompleteOnceEach)
{
	ibv_sge unknown{client.memory.at(), 8, 0x1234500};
	ibv_send_wr wrs[3]{}, *bad;
	for (std::size_t i = 0; i < 3; i++) {
		wrs[i].wr_id = i + 1;
		wrs[i].next = i < 2 ? &wrs[i + 1] : nullptr;
		wrs[i].sg_list = &unknown;
		wrs[i].num_sge = 1;
		wrs[i].opcode = IBV_WR_SEND;
		wrs[i].wr.ud = {ah.get(), to->qp_num, datagram_qkey};
	}
	ASSERT_EQ(ibv_post_send(from.get(), wrs, &bad), 0);
	const ibv_wc_status expected[] = {IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR};
	for (std::size_t i = 0; i < 3; i++) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->wr_id, i + 1);
		EXPECT_EQ(wc->status, expected[i]);
	}
	EXPECT_EQ(state_of(from.get()), IBV_QPS_ERR);
	ibv_wc wc;
	EXPECT_EQ(ibv_poll_cq(client.cq.get(), 1, &wc), 0) << "one completed twice";
}

/** Such a message must not end the receiver's queue pair. */
TEST_P(FailedDatagrams, LongerThanTheReceiveLeaveItToTheNext)
{
	post_receive(to.get(), 0, grh + 4);
	EXPECT_EQ(sent({5}), IBV_WC_SUCCESS);
	client.memory.put(0, "next");
	EXPECT_EQ(sent({4}), IBV_WC_SUCCESS);
	expect_received(to.get(), IBV_WC_SUCCESS, IBV_QPS_RTS);
	EXPECT_EQ(server.memory.text(grh, 4), "next");
}

TEST_P(FailedDatagrams, ReceiveThatTheQueuePairMayNotWriteToFailsItself)
{
	post_recv_to(to.get(), {server.memory.at(), 100, 0x1234500}, 7);
	EXPECT_EQ(sent({8}), IBV_WC_SUCCESS);
	expect_received(to.get(), IBV_WC_LOC_PROT_ERR, IBV_QPS_ERR);
}

INSTANTIATE_TEST_SUITE_P(Each, FailedDatagrams, testing::ValuesIn(all_variants()), variant_name);

/* Multicast ----------------------------------------------------------------------------------------------------- */

/** A member detaches at the end: an attached queue pair cannot be destroyed. */
class Groups : public Datagrams
{
protected:
	void SetUp() override
	{
		Datagrams::SetUp();
		if (IsSkipped())
			return;
		if (variant_.ipv6 && devices.client == "prism_lo")
			skip("the kernel has no IPv6 multicast on the loopback interface");
		group = address(0);
		other = address(1);
		ah = path(client, group);
		ASSERT_TRUE(ah);
	}

	/** Returns an address that no other process uses. */
	[[nodiscard]] ibv_gid address(std::uint8_t number) const
	{
		const auto id = static_cast<unsigned>(getpid());
		ibv_gid gid{};
		if (variant_.ipv6) {
			gid.raw[0] = 0xff;
			gid.raw[1] = 0x02;
		} else {
			gid.raw[10] = gid.raw[11] = 0xff;
			gid.raw[12] = 239;
		}
		gid.raw[13] = static_cast<std::uint8_t>(64 + number);
		gid.raw[14] = static_cast<std::uint8_t>(id >> 8);
		gid.raw[15] = static_cast<std::uint8_t>(id);
		return gid;
	}

	/** Sends a datagram from @p offset of the client's memory to the group. */
	void send_to_group(std::uint32_t offset = 0)
	{
		EXPECT_EQ(sent({.length = 8, .offset = offset, .to_group = true}), IBV_WC_SUCCESS);
	}

	ibv_gid group{}, other{};
};

TEST_P(Groups, ReachEveryMemberAndNobodyElse)
{
	const Owned<ibv_qp> second = ready(server), none = ready(server), away = ready(server);
	ASSERT_EQ(ibv_attach_mcast(to.get(), &group, 0), 0);
	ASSERT_EQ(ibv_attach_mcast(second.get(), &group, 0), 0);
	ASSERT_EQ(ibv_attach_mcast(away.get(), &other, 0), 0);
	post_receive(to.get(), 0, 100, 1);
	post_receive(second.get(), 200, 100, 2);
	post_receive(none.get(), 400, 100, 3);
	post_receive(away.get(), 600, 100, 4);
	client.memory.put(0, "everyone");
	send_to_group();
	const auto one = next(server.cq.get()), two = next(server.cq.get());
	ASSERT_TRUE(one && two);
	EXPECT_EQ(one->wr_id + two->wr_id, 3u);
	EXPECT_EQ(one->src_qp, from->qp_num);
	EXPECT_EQ(server.memory.text(grh, 8), "everyone");
	EXPECT_EQ(server.memory.text(200 + grh, 8), "everyone");
	const std::uint8_t *destination = server.memory.bytes() + (variant_.ipv6 ? 24 : 36);
	EXPECT_EQ(std::memcmp(destination, group.raw + (variant_.ipv6 ? 0 : 12), variant_.ipv6 ? 16 : 4), 0);
	EXPECT_EQ(ibv_detach_mcast(to.get(), &group, 0), 0);
	EXPECT_EQ(ibv_detach_mcast(second.get(), &group, 0), 0);
	EXPECT_EQ(ibv_detach_mcast(away.get(), &other, 0), 0);
	ibv_wc wc;
	EXPECT_EQ(ibv_poll_cq(server.cq.get(), 1, &wc), 0);
}

TEST_P(Groups, AMemberMayBeAnywhere)
{
	const Owned<ibv_qp> beside = ready(client);
	ASSERT_EQ(ibv_attach_mcast(beside.get(), &group, 0), 0);
	ASSERT_EQ(ibv_attach_mcast(to.get(), &group, 0), 0);
	post_recv_to(beside.get(), client.memory.sge(100, 100), 5);
	post_receive(to.get(), 0, 100);
	ASSERT_EQ(send({.length = 8, .to_group = true}), 0);
	const auto first = next(client.cq.get()), second = next(client.cq.get());
	ASSERT_TRUE(first && second) << "it was sent, and came back";
	EXPECT_NE(first->opcode & IBV_WC_RECV, second->opcode & IBV_WC_RECV);
	EXPECT_TRUE(next(server.cq.get()));
	EXPECT_EQ(ibv_detach_mcast(beside.get(), &group, 0), 0);
	EXPECT_EQ(ibv_detach_mcast(to.get(), &group, 0), 0);
}

TEST_P(Groups, AreLeft)
{
	post_receive(to.get(), 0, 100);
	ASSERT_EQ(ibv_attach_mcast(to.get(), &group, 0), 0);
	ASSERT_EQ(ibv_attach_mcast(to.get(), &group, 0), 0) << "once more makes no difference";
	EXPECT_EQ(ibv_detach_mcast(to.get(), &group, 0), 0);
	EXPECT_EQ(ibv_detach_mcast(to.get(), &group, 0), EINVAL);
	send_to_group();
	ah = path(client, server);
	client.memory.put(0, "directly");
	EXPECT_EQ(sent({8}), IBV_WC_SUCCESS);
	ASSERT_TRUE(next(server.cq.get()));
	EXPECT_EQ(server.memory.text(grh, 8), "directly");
}

TEST_P(Groups, HaveRules)
{
	int index = 0;
	const ibv_gid unicast = server.gid(variant_.ipv6, index);
	EXPECT_EQ(ibv_attach_mcast(to.get(), &unicast, 0), EINVAL);
	const Owned<ibv_qp> connected = create(server, IBV_QPT_UC);
	EXPECT_EQ(ibv_attach_mcast(connected.get(), &group, 0), EINVAL);
	ASSERT_EQ(ibv_attach_mcast(to.get(), &group, 0), 0);
	EXPECT_EQ(ibv_destroy_qp(to.get()), EBUSY);
	EXPECT_EQ(ibv_detach_mcast(to.get(), &group, 0), 0);
	ibv_device_attr device;
	ASSERT_EQ(ibv_query_device(server.context.get(), &device), 0);
	std::vector<ibv_gid> joined;
	for (int i = 0; i <= device.max_mcast_grp; i++) {
		const ibv_gid another = address(static_cast<std::uint8_t>(i));
		const int error = ibv_attach_mcast(to.get(), &another, 0);
		EXPECT_EQ(error, i < device.max_mcast_grp ? 0 : ENOSPC) << i;
		if (!error)
			joined.push_back(another);
	}
	for (const ibv_gid &one : joined)
		EXPECT_EQ(ibv_detach_mcast(to.get(), &one, 0), 0);
}

/** At an address of one host, the number of all members names no queue pair, whichever context of the host gets it. */
TEST_P(Groups, TheirNumberIsNoAddress)
{
	post_receive(to.get(), 0, 100);
	ASSERT_EQ(ibv_attach_mcast(to.get(), &group, 0), 0);
	ah = path(client, server);
	const auto dropped = [this] { return server.counter("rx_unknown_qp") + client.counter("rx_unknown_qp"); };
	const std::uint64_t before = dropped();
	send_to_group();
	EXPECT_TRUE(pump_until([&] { return dropped() > before; }));
	EXPECT_EQ(ibv_detach_mcast(to.get(), &group, 0), 0);
	ibv_wc wc;
	EXPECT_EQ(ibv_poll_cq(server.cq.get(), 1, &wc), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, Groups, testing::ValuesIn(all_variants()), variant_name);

/* UC ------------------------------------------------------------------------------------------------------------ */

class UnreliableConnection : public Unacknowledged
{
protected:
	void SetUp() override
	{
		Unacknowledged::SetUp();
		if (!IsSkipped())
			make();
	}

	void make()
	{
		from = create(client, IBV_QPT_UC);
		to = create(server, IBV_QPT_UC);
		ASSERT_TRUE(from && to);
		bring_up(from.get(), client, to->qp_num, server);
		bring_up(to.get(), server, from->qp_num, client);
	}

	void bring_up(ibv_qp *made, const Host &near, std::uint32_t number, const Host &far) const
	{
		ibv_qp_attr attr = init_attr(all_access & ~unsigned{IBV_ACCESS_MW_BIND});
		ASSERT_EQ(ibv_modify_qp(
				  made, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
			0);
		int index = 0;
		attr.qp_state = IBV_QPS_RTR;
		attr.path_mtu = IBV_MTU_1024;
		attr.dest_qp_num = number;
		attr.ah_attr.grh.dgid = far.gid(variant_.ipv6, index);
		near.gid(variant_.ipv6, index);
		attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(index);
		attr.ah_attr.is_global = 1;
		attr.ah_attr.port_num = 1;
		ASSERT_EQ(ibv_modify_qp(made, &attr,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN),
			0);
		attr.qp_state = IBV_QPS_RTS;
		ASSERT_EQ(ibv_modify_qp(made, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	}

	ibv_wc_status sent(Op op)
	{
		EXPECT_EQ(post_to(from.get(), {std::move(op)}), 0);
		const auto wc = next(client.cq.get());
		EXPECT_TRUE(wc);
		return wc ? wc->status : IBV_WC_GENERAL_ERR;
	}

	Owned<ibv_qp> from, to;
};

TEST_P(UnreliableConnection, MessagesOfSeveralPacketsArrive)
{
	client.memory.fill(0, 5000, 1);
	post_receive(to.get(), 0, 6000);
	EXPECT_EQ(sent(standard(IBV_WR_SEND, {client.memory.sge(0, 5000)})), IBV_WC_SUCCESS);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->byte_len, 5000u);
	EXPECT_EQ(wc->src_qp, from->qp_num);
	EXPECT_EQ(wc->wc_flags, 0u);
	EXPECT_EQ(server.memory.text(0, 5000), client.memory.text(0, 5000));
}

TEST_P(UnreliableConnection, WritesArriveAndImmediateDataTellsOfThem)
{
	client.memory.fill(0, 3000, 2);
	post_receive(to.get(), 0, 0);
	Op op = standard(IBV_WR_RDMA_WRITE_WITH_IMM, {client.memory.sge(0, 3000)}, &server.memory, 64);
	op.value = htobe32(5);
	EXPECT_EQ(sent(op), IBV_WC_SUCCESS);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	EXPECT_EQ(wc->byte_len, 3000u);
	EXPECT_EQ(wc->imm_data, htobe32(5));
	EXPECT_EQ(server.memory.text(64, 3000), client.memory.text(0, 3000));
}

TEST_P(UnreliableConnection, WithoutAReceiveAMessageIsDroppedAndTheNextArrives)
{
	const std::uint64_t before = server.counter("rx_no_receive");
	EXPECT_EQ(sent(standard(IBV_WR_SEND, {client.memory.sge(0, 3000)})), IBV_WC_SUCCESS);
	expect_dropped("rx_no_receive", before);
	post_receive(to.get(), 0, 100);
	EXPECT_EQ(sent(standard(IBV_WR_SEND, {client.memory.sge(0, 10)})), IBV_WC_SUCCESS);
	EXPECT_TRUE(next(server.cq.get()));
}

TEST_P(UnreliableConnection, AWrongKeyIsDroppedAndTheConnectionLives)
{
	const std::uint64_t before = server.counter("rx_access_error");
	Op op = standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory, 0);
	op.rkey ^= 0x100;
	EXPECT_EQ(sent(op), IBV_WC_SUCCESS);
	expect_dropped("rx_access_error", before);
	EXPECT_EQ(state_of(to.get()), IBV_QPS_RTS);
	server.memory.put(8, std::uint64_t{0});
	client.memory.put(0, std::uint64_t{99});
	EXPECT_EQ(sent(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory, 8)), IBV_WC_SUCCESS);
	EXPECT_TRUE(pump_until([&] { return server.memory.word(8) == 99; }));
}

TEST_P(UnreliableConnection, AMessageTooLongLeavesTheReceiveToTheNext)
{
	const std::uint64_t before = server.counter("rx_message_dropped");
	post_receive(to.get(), 0, 2000);
	EXPECT_EQ(sent(standard(IBV_WR_SEND, {client.memory.sge(0, 3000)})), IBV_WC_SUCCESS);
	expect_dropped("rx_message_dropped", before);
	client.memory.put(0, "short");
	EXPECT_EQ(sent(standard(IBV_WR_SEND, {client.memory.sge(0, 5)})), IBV_WC_SUCCESS);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->byte_len, 5u);
	EXPECT_EQ(server.memory.text(0, 5), "short");
}

TEST_P(UnreliableConnection, HasNoRequestsThatAreAnswered)
{
	for (const ibv_wr_opcode opcode :
		{IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_WRITE, IBV_WR_SEND_WITH_INV}) {
		ibv_sge sge = client.memory.sge(0, 8);
		ibv_send_wr wr{}, *bad = nullptr;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = opcode;
		wr.wr.rdma = {server.memory.at(), server.memory.key()};
		EXPECT_EQ(ibv_post_send(from.get(), &wr, &bad), EINVAL) << opcode;
	}
}

TEST_P(UnreliableConnection, BuildersAreThoseOfItsRequests)
{
	ibv_qp_init_attr_ex attr{};
	attr.qp_type = IBV_QPT_UC;
	attr.send_cq = attr.recv_cq = client.cq.get();
	attr.cap = {4, 4, 1, 1, 0};
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.pd = client.pd.get();
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_INV;
	errno = 0;
	EXPECT_EQ(Owned<ibv_qp>(ibv_create_qp_ex(client.context.get(), &attr)), nullptr) << "posting it is EINVAL";
	EXPECT_EQ(errno, EOPNOTSUPP);

	attr.send_ops_flags = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	const Owned<ibv_qp> made(ibv_create_qp_ex(client.context.get(), &attr));
	ASSERT_NE(made, nullptr) << "both can be posted";
	bring_up(made.get(), client, to->qp_num, server);
	const Owned<ibv_mw> window(ibv_alloc_mw(client.pd.get(), IBV_MW_TYPE_2));
	ASSERT_NE(window, nullptr);
	const std::uint32_t key = ibv_inc_rkey(window->rkey);
	const ibv_mw_bind_info info{client.memory.mr(), client.memory.at(64), 64, IBV_ACCESS_REMOTE_READ};
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(made.get());
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(ex, window.get(), key, &info);
	ibv_wr_local_inv(ex, key);
	ASSERT_EQ(ibv_wr_complete(ex), 0);
	for (const ibv_wc_opcode opcode : {IBV_WC_BIND_MW, IBV_WC_LOCAL_INV}) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
		EXPECT_EQ(wc->opcode, opcode);
	}
}

TEST_P(UnreliableConnection, PostedWorkIsFlushedInError)
{
	post_receive(to.get(), 0, 100);
	ASSERT_EQ(move_to(to.get(), IBV_QPS_ERR), 0);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_WR_FLUSH_ERR);
}

INSTANTIATE_TEST_SUITE_P(Each, UnreliableConnection, testing::ValuesIn(all_variants()), variant_name);

/** Also on a kernel device */
class FailedMessages : public UnreliableConnection
{
protected:
	void SetUp() override { make(); }

	/** Expects that a lost message leaves the receive to the next one. */
	void expect_next()
	{
		client.memory.put(0, "next");
		EXPECT_EQ(sent(standard(IBV_WR_SEND, {client.memory.sge(0, 4)})), IBV_WC_SUCCESS);
		expect_received(to.get(), IBV_WC_SUCCESS, IBV_QPS_RTS);
		EXPECT_EQ(server.memory.text(0, 4), "next");
	}
};

TEST_P(FailedMessages, OfAWrongKeyAreDropped)
{
	Op op = standard(IBV_WR_RDMA_WRITE_WITH_IMM, {client.memory.sge(0, 8)}, &server.memory);
	op.rkey ^= 1;
	post_receive(to.get(), 0, 8);
	EXPECT_EQ(sent(op), IBV_WC_SUCCESS);
	expect_next();
}

TEST_P(FailedMessages, LongerThanTheReceiveAreDropped)
{
	post_receive(to.get(), 0, 8);
	EXPECT_EQ(sent(standard(IBV_WR_SEND, {client.memory.sge(0, 9)})), IBV_WC_SUCCESS);
	expect_next();
}

TEST_P(FailedMessages, WithoutTheRightAreDropped)
{
	ibv_qp_attr attr{};
	attr.qp_access_flags = 0;
	ASSERT_EQ(ibv_modify_qp(to.get(), &attr, IBV_QP_ACCESS_FLAGS), 0);
	post_receive(to.get(), 0, 8);
	EXPECT_EQ(sent(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory, 64)), IBV_WC_SUCCESS);
	expect_next();
	EXPECT_EQ(server.memory.word(64), 0u);
}

TEST_P(FailedMessages, ReceiveThatTheQueuePairMayNotWriteToFailsItself)
{
	post_recv_to(to.get(), {server.memory.at(), 8, 0x1234500}, 7);
	EXPECT_EQ(sent(standard(IBV_WR_SEND, {client.memory.sge(0, 8)})), IBV_WC_SUCCESS);
	expect_received(to.get(), IBV_WC_LOC_PROT_ERR, IBV_QPS_ERR);
}

INSTANTIATE_TEST_SUITE_P(Each, FailedMessages, testing::ValuesIn(all_variants()), variant_name);

/* Atomic write (annex A19) -------------------------------------------------------------------------------------- */

class AtomicWrite : public EachVariant
{
protected:
	void SetUp() override
	{
		if (devices.kernel)
			GTEST_SKIP() << "the atomic write of a kernel device is rxe's own: pyverbs tries it there";
		connect();
	}

	ibv_wc write(std::size_t offset, std::uint32_t key, std::uint32_t length = 8)
	{
		ibv_sge sge = client.memory.sge(0, length);
		ibv_send_wr wr{}, *bad;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_ATOMIC_WRITE;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr.rdma = {server.memory.at(offset), key};
		EXPECT_EQ(ibv_post_send(qp.get(), &wr, &bad), 0);
		return next(client.cq.get()).value_or(ibv_wc{});
	}
};

TEST_P(AtomicWrite, StoresTheWord)
{
	client.memory.put(0, std::uint64_t{0x1122334455667788});
	const ibv_wc wc = write(16, server.memory.key());
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_ATOMIC_WRITE);
	EXPECT_EQ(server.memory.word(16), 0x1122334455667788u);
}

TEST_P(AtomicWrite, OfAWrongKeyIsAnError)
{
	EXPECT_EQ(write(16, server.memory.key() ^ 0x100).status, IBV_WC_REM_ACCESS_ERR);
}

TEST_P(AtomicWrite, OfAnUnalignedWordIsAnError)
{
	EXPECT_EQ(write(12, server.memory.key()).status, IBV_WC_REM_INV_REQ_ERR);
}

TEST_P(AtomicWrite, OfAnythingButAWordIsRefused)
{
	ibv_sge sge = client.memory.sge(0, 4);
	ibv_send_wr wr{}, *bad;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_ATOMIC_WRITE;
	wr.wr.rdma = {server.memory.at(), server.memory.key()};
	EXPECT_EQ(ibv_post_send(qp.get(), &wr, &bad), EINVAL);
}

INSTANTIATE_TEST_SUITE_P(Each, AtomicWrite, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
