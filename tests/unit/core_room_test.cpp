/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * UC and UD on a carrier that reports whether it has room: packets that are never retransmitted wait, as long as that
 * makes sense.
 */
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "node.hpp"
#include "protocol/standard_wire.hpp"

namespace
{

using namespace prism::test;
using prism::soft::Room;
using prism::soft::Time;

constexpr std::uint64_t va = 0x10'0000;
constexpr std::uint32_t mtu = 1024;
constexpr std::uint32_t qkey = 7;

/* A host, with memory that its queue pairs send from and receive to. */
struct Host {
	explicit Host(std::uint8_t number) : node(number), memory(1 << 20)
	{
		key = node.engine.memory.add_region(
			memory.data(), va, memory.size(), prism::soft::access_local_write, 1);
		node.outbox.has_room = Room::yes;
	}

	[[nodiscard]] prism::soft::Sge sge(std::uint32_t length) const { return {va, length, key}; }

	Node node;
	std::vector<std::uint8_t> memory;
	std::uint32_t key = 0;
};

/* Queue pair of each host, of either type. */
class Rooms : public testing::TestWithParam<ibv_qp_type>
{
protected:
	void SetUp() override
	{
		connect(from, to);
		connect(to, from);
	}

	static EndpointOptions options()
	{
		EndpointOptions options;
		options.type = GetParam();
		options.prism = false;
		return options;
	}

	static void connect(Endpoint &one, const Endpoint &other)
	{
		one.connect(other, {});
		one.qp.attr.qkey = qkey;
	}

	static bool is_datagram() { return GetParam() == IBV_QPT_UD; }
	/* Packets and bytes of a message that post() posts */
	static std::size_t packets() { return is_datagram() ? 1 : 4; }
	static std::uint32_t bytes() { return static_cast<std::uint32_t>(packets()) * mtu; }

	static void post(Host &host, Endpoint &end, const Endpoint &peer)
	{
		prism::soft::SendRequest &wr = *end.next();
		wr.kind = prism::soft::SendKind::send;
		wr.wc_opcode = IBV_WC_SEND;
		wr.addressed = true;
		wr.to.peer = peer.node.address;
		wr.to.source = 0;
		wr.to.qpn = peer.qp.qpn;
		wr.to.qkey = qkey;
		const prism::soft::Sge sge = host.sge(bytes());
		end.post(wr, {&sge, 1});
	}

	static void post_receive(const Host &host, Endpoint &end)
	{
		const prism::soft::Sge sge = host.sge(bytes() + 40);
		ASSERT_TRUE(end.post_receive(1, {&sge, 1}));
	}

	static std::size_t completions(prism::soft::CompletionQueue &cq)
	{
		std::size_t count = 0;
		for (ibv_wc wc; cq.poll(1, &wc); count++)
			EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		return count;
	}

	/* Delivers everything that @p near has sent. */
	static void carry(Host &near, Host &far, Time at)
	{
		for (std::size_t i = 0; i < near.node.outbox.size(); i++)
			far.node.engine.receive(
				{near.node.address, far.node.address}, near.node.outbox.at(i).bytes, at);
		near.node.outbox.clear();
	}

	Host near{1}, far{2};
	Endpoint from{near.node, options()}, to{far.node, options()};
	Time now = 1'000'000;
};

TEST_P(Rooms, AMessageWaitsUntilThereIsRoom)
{
	near.node.outbox.has_room = Room::no;
	post(near, from, to);
	near.node.engine.progress(now);
	EXPECT_EQ(near.node.outbox.size(), 0u);
	EXPECT_EQ(completions(from.send_cq), 0u);
	near.node.outbox.has_room = Room::yes;
	near.node.engine.progress(now + 1);
	EXPECT_EQ(near.node.outbox.size(), packets());
	EXPECT_EQ(completions(from.send_cq), 1u);
}

TEST_P(Rooms, NoMoreIsSentThanThereIsRoomFor)
{
	constexpr std::size_t messages = 100;
	near.node.outbox.capacity = 3;
	for (std::size_t i = 0; i < messages; i++) {
		post(near, from, to);
		post_receive(far, to);
	}
	std::size_t turns = 0, received = 0;
	for (; received < messages && turns < 1000; turns++) {
		near.node.engine.progress(now++);
		ASSERT_LE(near.node.outbox.size(), 3u);
		carry(near, far, now);
		received += completions(to.recv_cq);
	}
	EXPECT_EQ(received, messages);
	EXPECT_EQ(turns, (messages * packets() + 2) / 3); /* nor is it paced */
	EXPECT_EQ(far.node.engine.counters.rx_message_dropped, 0u);
}

TEST_P(Rooms, AMessageWithoutAReceiveIsCountedOnce)
{
	for (int i = 0; i < 5; i++)
		post(near, from, to);
	near.node.engine.progress(now);
	carry(near, far, now);
	EXPECT_EQ(far.node.engine.counters.rx_no_receive, 5u);
	EXPECT_EQ(far.node.engine.counters.rx_message_dropped, 0u);
	post_receive(far, to);
	post(near, from, to);
	near.node.engine.progress(++now);
	carry(near, far, now);
	EXPECT_EQ(completions(to.recv_cq), 1u);
}

/* Both lack room, as the other has sent so much: each receives all the same, and then there is room. */
TEST_P(Rooms, WhoWaitsReceives)
{
	for (Host *const host : {&near, &far})
		host->node.outbox.capacity = packets();
	for (int i = 0; i < 2; i++) {
		post(near, from, to);
		post(far, to, from);
		post_receive(near, from);
		post_receive(far, to);
	}
	near.node.engine.progress(now);
	far.node.engine.progress(now);
	for (Endpoint *const end : {&from, &to})
		EXPECT_EQ(completions(end->send_cq), 1u);
	carry(near, far, now);
	carry(far, near, now);
	for (Endpoint *const end : {&from, &to})
		EXPECT_EQ(completions(end->recv_cq), 1u);
	near.node.engine.progress(now);
	far.node.engine.progress(now);
	for (Endpoint *const end : {&from, &to})
		EXPECT_EQ(completions(end->send_cq), 1u);
}

TEST_P(Rooms, WhatTheCarrierGivesUpIsLostAsAWhole)
{
	near.node.outbox.has_room = Room::no;
	near.node.outbox.gives_up = true;
	for (int i = 0; i < 3; i++)
		post(near, from, to);
	near.node.engine.progress(now);
	EXPECT_EQ(completions(from.send_cq), 3u);
	EXPECT_EQ(near.node.outbox.size(), 0u);
	/* The peer receives again: the next arrives. */
	near.node.outbox.has_room = Room::yes;
	post(near, from, to);
	post_receive(far, to);
	near.node.engine.progress(now);
	carry(near, far, now);
	EXPECT_EQ(completions(to.recv_cq), 1u);
}

/* Once a packet of a message is lost, no later packet of it follows. */
TEST_P(Rooms, TheRestOfALostMessageStays)
{
	near.node.outbox.capacity = 2;
	post(near, from, to);
	near.node.engine.progress(now);
	near.node.outbox.gives_up = true;
	near.node.engine.progress(now);
	EXPECT_EQ(completions(from.send_cq), 1u);
	near.node.outbox.capacity = 100;
	near.node.outbox.gives_up = false;
	near.node.engine.progress(now);
	EXPECT_EQ(near.node.outbox.size(), std::min<std::size_t>(packets(), 2));
}

/* They take turns, though the first always has more to send than there is room for. */
TEST_P(Rooms, QueuePairsShareTheRoom)
{
	constexpr std::size_t count = 3, turns = 60;
	std::array<std::unique_ptr<Endpoint>, count> ends;
	for (auto &end : ends) {
		end = std::make_unique<Endpoint>(near.node, options());
		connect(*end, to);
		for (std::size_t i = 0; i < turns; i++)
			post(near, *end, to);
	}
	near.node.outbox.capacity = packets();
	for (std::size_t i = 0; i < turns; i++) {
		near.node.engine.progress(now);
		near.node.outbox.clear();
	}
	for (auto &end : ends)
		EXPECT_NEAR(static_cast<double>(completions(end->send_cq)), turns / count, 2);
}

/* While a path with room is being prepared, some packets take the other path; the rest waits for the new one. */
class EarlyPackets : public Rooms
{
protected:
	std::size_t leave_before_the_way_is_prepared()
	{
		near.node.outbox.has_room = Room::unknown;
		near.node.outbox.is_preparing = true;
		for (int i = 0; i < 100; i++)
			post(near, from, to);
		for (int i = 0; i < 100; i++)
			near.node.engine.progress(now += 1'000'000);
		const std::size_t early = near.node.outbox.size();
		near.node.outbox.has_room = Room::yes;
		near.node.outbox.is_preparing = false;
		near.node.engine.progress(now);
		EXPECT_EQ(near.node.outbox.size(), 100 * packets());
		return early;
	}
};

/* Bursts of many senders would not fit the receiver's socket. */
TEST_P(EarlyPackets, AreFew)
{
	near.node.engine.has_thread = true;
	const std::size_t early = leave_before_the_way_is_prepared();
	EXPECT_GE(early, 1u);
	EXPECT_LE(early, 8u);
}

/* A program that drives the engine itself may wait for the answer first. */
TEST_P(EarlyPackets, AreABurstWithoutAThread)
{
	EXPECT_EQ(leave_before_the_way_is_prepared(), 64u);
}

constexpr auto name_of_type = [](const auto &type) { return type.param == IBV_QPT_UC ? "Uc" : "Ud"; };

INSTANTIATE_TEST_SUITE_P(, Rooms, testing::Values(IBV_QPT_UC, IBV_QPT_UD), name_of_type);
INSTANTIATE_TEST_SUITE_P(, EarlyPackets, testing::Values(IBV_QPT_UC, IBV_QPT_UD), name_of_type);

} // namespace
