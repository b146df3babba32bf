/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A program of its own, as tests/verbs/exhaustion_test.cpp is: it has an operator new of its own. Links prism-test-node,
 * prism-core, prism-soft-protocol, gtest. context.cpp promises: "A packet for which there is no memory is a lost one". */
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "craft.hpp"
#include "pair.hpp"

namespace
{
int allocations_left = -1;
}

void *operator new(std::size_t size)
{
	if (allocations_left == 0)
		throw std::bad_alloc();
	if (allocations_left > 0)
		allocations_left--;
	if (void *memory = std::malloc(size))
		return memory;
	throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

template <typename Turn>
void starved(const Turn &turn)
{
	allocations_left = 0;
	try {
		turn();
	} catch (const std::bad_alloc &) {
	}
	allocations_left = -1;
}

struct TwoPairs {
	TwoPairs()
	{
		other.connect(other_server, {});
		other_server.connect(other, {});
		/* The outbox has room, the path is there, and the heap of timers is full: one entry, room for one. */
		pair.post_cas(0, 1);
		EXPECT_EQ(pair.run(1).size(), 1u);
	}

	void post_other()
	{
		soft::SendRequest &wr = *other.next();
		set_prism(other, wr, pair.whole(PRISM_READ, 0), {});
		other.post(wr, {});
	}

	bool other_completes(soft::Time longest)
	{
		ibv_wc wc;
		for (const soft::Time end = pair.now + longest; pair.now < end;) {
			pair.step();
			if (other.send_cq.poll(1, &wc))
				return true;
		}
		return false;
	}

	Pair pair;
	Endpoint other_server{pair.server_node, {}}, other{pair.client_node, {}};
};

/** The peer is gone: the timer that found no memory must end the request all the same. */
TEST(WithoutMemory, ATimerIsSetWhenThereIsSome)
{
	TwoPairs two;
	two.pair.loses = [](bool, const prism_bth &) { return true; };
	two.post_other();
	starved([&] { two.pair.client_node.engine.progress(two.pair.now); });
	EXPECT_TRUE(two.other_completes(1'000'000'000)) << "IBV_WC_RETRY_EXC_ERR; today never";
}

/** A request that waits in line behind a READ: it came twice, as the first time there was no memory for it. */
TEST(WithoutMemory, ARequestCountsOnceInTheLine)
{
	Pair pair(without_timer());
	constexpr std::uint32_t long_read = 200 << 10;
	const auto read = [&pair](std::uint32_t index) {
		pair.post_read(0, long_read);
		while (pair.client.qp.sq.at(index).acked < 128)
			pair.step();
		ASSERT_TRUE(pair.server.qp.resp.stream.active);
	};
	read(0);
	soft::Engine::keep_answers(pair.server.qp, 2); /* the READ and one more */
	pair.post_cas(0, 1);
	pair.client_node.engine.progress(pair.now);
	const std::vector<std::uint8_t> cas = pair.client_node.outbox.at(pair.client_node.outbox.size() - 1).bytes;
	starved([&] { pair.deliver(pair.server_node, cas); });
	EXPECT_EQ(pair.server.qp.resp.held_requests, 0u); /* today 1 */
	ASSERT_EQ(pair.run(2, 100'000'000).size(), 2u);	  /* the packet in the outbox is the repetition */
	EXPECT_EQ(pair.server.qp.resp.held_requests, 0u);
	read(2);
	pair.post_cas(0, 2);
	for (const ibv_wc &wc : pair.run(2, 100'000'000))
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS); /* today the CAS: IBV_WC_REM_INV_REQ_ERR */
	EXPECT_EQ(pair.server_node.engine.counters.rx_excess_request, 0u);
}

} // namespace
