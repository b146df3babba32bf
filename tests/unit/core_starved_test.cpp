/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Without memory a packet may be lost, but nothing that must be kept, and nothing stops for good. */
#include <gtest/gtest.h>

#include <new>

#include "allocations.hpp"
#include "craft.hpp"
#include "pair.hpp"

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

/** Runs @p turn without memory, as a context that treats the packet as lost. Returns true if memory was missing. */
template <typename Turn>
bool starved(const Turn &turn)
{
	allocations_left = 0;
	bool enough = true;
	try {
		turn();
	} catch (const std::bad_alloc &) {
		enough = false;
	}
	allocations_left = -1;
	return enough;
}

/** Preallocates an outbox: a carrier takes no memory for packets that it sends. */
void furnish(Outbox &outbox)
{
	for (int i = 0; i < 2000; i++) {
		outbox.begin({}, 2048);
		outbox.commit();
	}
	outbox.clear();
}

TEST(Exhaustion, TheAnswerToAReadGoesOn)
{
	Pair pair(without_timer());
	furnish(pair.server_node.outbox);
	prism_request read = pair.whole(PRISM_READ, 1 << 20);
	pair.deliver(pair.server_node, craft_request(pair.server.qp, 0, read));
	ASSERT_TRUE(pair.server.qp.resp.stream.active);
	for (int turn = 0; turn < 1000; turn++) {
		pair.now += turn < 200 ? 0 : 100'000; /* it is often checked before its next train is due */
		ASSERT_TRUE(starved([&] { pair.server_node.engine.progress(pair.now); })) << turn;
	}
	EXPECT_FALSE(pair.server.qp.resp.stream.active);
	EXPECT_EQ(pair.server_node.outbox.size(), 1024u);
}

/** Two queue pairs that write in turns to one peer with a small socket buffer: each stands in line again and again. */
class StarvedTurns : public testing::TestWithParam<bool>
{
protected:
	static constexpr std::uint32_t length = 1 << 20;
	static constexpr std::uint64_t va = 0x10'0000;

	void write(Endpoint &from)
	{
		soft::SendRequest &wr = *from.next();
		wr.kind = soft::SendKind::write;
		wr.wc_opcode = IBV_WC_RDMA_WRITE;
		wr.remote_addr = va;
		wr.rkey = key;
		const soft::Sge sge{va, length, local_key};
		from.post(wr, {&sge, 1});
	}

	static void pass(Node &from, Node &to, soft::Time now)
	{
		for (std::size_t i = 0; i < from.outbox.size(); i++)
			to.engine.receive({from.address, {}}, from.outbox.at(i).bytes, now);
		from.outbox.clear();
	}

	std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(length);
	Node server{1}, client{2, 0x100, 64, {.receive_room = 16 << 10}};
	Endpoint server_a{server, {}}, server_b{server, {}}, a{client, {}}, b{client, {}};
	std::uint32_t key = server.engine.memory.add_region(memory.data(), va, length, Pair::rights, 1);
	std::uint32_t local_key = client.engine.memory.add_region(memory.data(), va, length, Pair::rights, 1);
};

TEST_P(StarvedTurns, GoOnAndEnd)
{
	const bool from_the_beginning = GetParam();
	for (auto [one, other] : {std::pair{&a, &server_a}, {&b, &server_b}}) {
		one->connect(*other, {});
		other->connect(*one, {});
		write(*one);
	}
	furnish(client.outbox);
	soft::Time now = 1000;
	if (!from_the_beginning)
		client.engine.progress(now);
	ibv_wc wc[2];
	int done = 0;
	for (int turn = 0; turn < 10'000 && done < 2; turn++) {
		now += 1000;
		ASSERT_TRUE(starved([&] { client.engine.progress(now); })) << turn;
		pass(client, server, now);
		server.engine.progress(now);
		starved([&] { pass(server, client, now); });
		done += a.send_cq.poll(2, wc) + b.send_cq.poll(2, wc);
	}
	EXPECT_EQ(done, 2);
	EXPECT_EQ(client.engine.counters.timeouts, 0u);
}

INSTANTIATE_TEST_SUITE_P(WithAPathOrNot, StarvedTurns, testing::Bool());

TEST(Exhaustion, AnAnswerIsKeptInThePlacesThatThereAre)
{
	Pair pair(without_timer());
	soft::QueuePair &server = pair.server.qp;
	soft::Engine::keep_answers(server, 2);
	EXPECT_FALSE(starved([&] { soft::Engine::keep_answers(server, 64); }));
	EXPECT_EQ(server.resp.saved.size(), 2u);
	EXPECT_LT(server.resp.next_saved, server.resp.saved.size());
	EXPECT_EQ(server.attr.max_dest_rd_atomic, 2u);
}

TEST(Exhaustion, AMessageIsTakenIn)
{
	Pair pair(without_timer());
	const soft::Sge sge{Pair::va, 64, pair.key};
	pair.server.post_receive(1, {&sge, 1});
	const std::vector<std::uint8_t> packet = craft(pair.server.qp, soft::rc_send_only, 0, PRISM_BTH_SIZE + 64);
	EXPECT_TRUE(starved([&] { pair.deliver(pair.server_node, packet); }));
	ibv_wc wc;
	EXPECT_EQ(pair.server.recv_cq.poll(1, &wc), 1);
}

class StarvedFreeList : public testing::Test
{
protected:
	StarvedFreeList()
	{
		furnish(pair.server_node.outbox);
		engine.add_srq(list);
	}
	~StarvedFreeList() override { engine.remove_srq(list); }

	void post(std::uint32_t key) { engine.post_free_list(list, 7, {Pair::va, 4096, key}); }

	std::vector<std::uint8_t> allocate(std::uint32_t psn, std::uint32_t length, bool last)
	{
		prism_request request = pair.whole(PRISM_ALLOCATE, length);
		request.last = last;
		request.free_list = list.number;
		return craft_request(pair.server.qp, psn, request, std::min(length, 1024u));
	}

	Pair pair{without_timer()};
	soft::Engine &engine = pair.server_node.engine;
	soft::SharedReceiveQueue list{engine.take_srqn(), 1, 64, 1, true};
};

TEST_F(StarvedFreeList, GetsTheBufferOfAnUnfinishedAllocateBack)
{
	post(pair.key);
	pair.deliver(pair.server_node, allocate(0, 2048, false));
	ASSERT_EQ(list.popped, 1u);
	EXPECT_TRUE(starved([&] { engine.reset_qp(pair.server.qp); }));
	EXPECT_EQ(list.reclaimed, 1u);
	EXPECT_EQ(engine.allocatable(list), 1u);
}

/** The owner learns of each entry that leaves the list; otherwise the entry stays. */
TEST_F(StarvedFreeList, ReportsWhatItRejects)
{
	constexpr std::uint32_t bad_key = 0xbad;
	for (std::uint32_t psn = 0; psn < 64; psn++) {
		post(bad_key);
		const std::vector<std::uint8_t> packet = allocate(psn, 0, true);
		if (psn == 0)
			pair.deliver(pair.server_node, packet);
		else
			EXPECT_TRUE(starved([&] { pair.deliver(pair.server_node, packet); }));
		EXPECT_EQ(list.reports.size() + list.queue.size(), psn + 1);
		EXPECT_EQ(list.reports.size(), list.rejected);
	}
	EXPECT_GT(list.rejected, 1u);
	EXPECT_FALSE(list.queue.empty()) << "there was always memory";
}

} // namespace
