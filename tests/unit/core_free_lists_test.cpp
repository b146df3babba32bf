/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Free lists as an engine keeps them: which request takes which buffer, and what happens to bad ones (S.7). */
#include <gtest/gtest.h>

#include <sys/mman.h>

#include "craft.hpp"
#include "pair.hpp"
#include "protocol/user_memory.hpp"

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

constexpr std::uint32_t max_wr = 4;
constexpr std::uint32_t refused = ~0u; /* instead of a status */

class FreeLists : public testing::Test
{
protected:
	FreeLists()
	{
		taker.connect(other, {});
		other.connect(taker, {});
		engine.add_srq(list);
	}
	~FreeLists() override { engine.remove_srq(list); }

	int post(std::uint64_t wr_id, std::uint32_t length = 256, std::uint32_t lkey = 0)
	{
		return engine.post_free_list(list, wr_id, {Pair::va + 4096 * wr_id, length, lkey ? lkey : pair.key});
	}

	/** Allocates; returns the status. The buffer's address is in the answer. */
	std::uint32_t allocate(std::uint32_t length = 0)
	{
		pair.server_node.outbox.clear();
		pair.deliver(
			pair.server_node, craft_request(taker.qp, taker.qp.resp.expected_psn, request(length), length));
		EXPECT_EQ(pair.server_node.outbox.size(), 1u);
		const std::vector<std::uint8_t> &packet = pair.server_node.outbox.at(0).bytes;
		if (!prism_response_decode(packet.data(), static_cast<std::uint32_t>(packet.size()), &answer))
			return refused;
		return answer.status;
	}

	prism_request request(std::uint32_t length) const
	{
		prism_request request{};
		request.op = PRISM_ALLOCATE;
		request.first = request.last = true;
		request.free_list = list.number;
		request.length = length;
		return request;
	}

	/** Delivers the first packet of an ALLOCATE that takes a buffer of 4 KiB. */
	void begin_allocate()
	{
		prism_request first = request(2048);
		first.last = false;
		pair.deliver(pair.server_node, craft_request(taker.qp, 0, first, 1024));
		ASSERT_EQ(list.popped, 1u);
	}

	/** Begins a READ from another queue pair, whose answer covers the buffers. */
	void begin_read()
	{
		pair.post_read(0, 1 << 20);
		pair.pass(2);
		ASSERT_TRUE(pair.server.qp.resp.stream.active);
	}

	void finish_read()
	{
		ASSERT_EQ(pair.run(1).size(), 1u);
		pair.server_node.outbox.clear();
	}

	std::uint32_t key_with(std::uint32_t rights)
	{
		return engine.memory.add_region(pair.memory.data(), Pair::va, pair.memory.size(), rights, 1);
	}

	Pair pair;
	soft::Engine &engine = pair.server_node.engine;
	soft::ProtocolCounters &counters = engine.counters;
	Endpoint taker{pair.server_node, {}}, other{pair.client_node, {}};
	soft::SharedReceiveQueue list{engine.take_srqn(), 1, max_wr, 1, true};
	prism_response answer{};
};

TEST_F(FreeLists, HandOutInTheOrderOfPosting)
{
	for (const std::uint64_t i : {3, 1, 2})
		post(i);
	for (const std::uint64_t i : {3, 1, 2}) {
		EXPECT_EQ(allocate(), PRISM_STATUS_OK);
		EXPECT_EQ(answer.value, Pair::va + 4096 * i);
	}
	EXPECT_EQ(allocate(), PRISM_STATUS_NO_BUFFER);
	EXPECT_EQ(answer.value, 0u);
}

/** A client whose chain fails must know which buffer to give back. */
TEST_F(FreeLists, AnswerTheAddressThoughItIsRedirected)
{
	post(1);
	prism_request redirected = request(0);
	redirected.flags = PRISM_FLAG_R | PRISM_FLAG_B;
	redirected.aux_va = Pair::va;
	redirected.aux_rkey = pair.key;
	redirected.tag = 7;
	pair.deliver(pair.server_node, craft_request(taker.qp, 0, redirected));
	ASSERT_EQ(pair.server_node.outbox.size(), 1u);
	const std::vector<std::uint8_t> &packet = pair.server_node.outbox.at(0).bytes;
	ASSERT_TRUE(prism_response_decode(packet.data(), static_cast<std::uint32_t>(packet.size()), &answer));
	EXPECT_EQ(answer.value, Pair::va + 4096);
	EXPECT_EQ(get_unaligned_le64(&pair.memory[0]), Pair::va + 4096);
	EXPECT_EQ(get_unaligned_le32(&pair.memory[8]), 0u) << "the bound";
	EXPECT_EQ(get_unaligned_le32(&pair.memory[12]), 7u) << "the tag";
}

TEST_F(FreeLists, TakeNoMoreThanTheyWereMadeFor)
{
	for (std::uint64_t i = 0; i < max_wr; i++)
		EXPECT_EQ(post(i), 0);
	EXPECT_EQ(post(max_wr), ENOMEM);
	EXPECT_EQ(prism_freelist_available(&list.indices), max_wr);
}

TEST_F(FreeLists, AreThoseOfTheirDomain)
{
	list.pd = 2;
	post(1, 256, engine.memory.add_region(pair.memory.data(), Pair::va, pair.memory.size(), Pair::rights, 2));
	EXPECT_EQ(allocate(), refused);
	EXPECT_EQ(counters.rx_bad_free_list, 1u);
	EXPECT_EQ(list.popped, 0u);
}

TEST_F(FreeLists, AreNoOrdinaryQueues)
{
	soft::SharedReceiveQueue ordinary(engine.take_srqn(), 1, max_wr, 1, false);
	engine.add_srq(ordinary);
	const soft::Sge sge{Pair::va, 256, pair.key};
	ordinary.queue.post(1, {&sge, 1});
	prism_request of_it = request(0);
	of_it.free_list = ordinary.number;
	pair.deliver(pair.server_node, craft_request(taker.qp, 0, of_it));
	EXPECT_EQ(counters.rx_bad_free_list, 1u);
	EXPECT_EQ(ordinary.queue.size(), 1u);
	EXPECT_EQ(taker.qp.state, IBV_QPS_ERR);
	engine.remove_srq(ordinary);
}

TEST_F(FreeLists, TellTheirOwnerThatTheyRunLow)
{
	for (std::uint64_t i = 0; i < 3; i++)
		post(i);
	list.limit = 2;
	allocate();
	EXPECT_EQ(pair.server_node.events.srq_events, 0u);
	allocate();
	EXPECT_EQ(pair.server_node.events.srq_events, 1u);
	allocate();
	EXPECT_EQ(pair.server_node.events.srq_events, 1u) << "once";
}

TEST_F(FreeLists, RemoveAndReportBadEntries)
{
	const std::uint32_t remote = soft::access_remote_write, local = soft::access_local_write;
	post(1, 256, key_with(remote | soft::access_remote_read));
	post(2, 256, key_with(local | soft::access_remote_read));
	post(3, 256, 0xdead00);
	post(4);
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
	EXPECT_EQ(answer.value, Pair::va + 4096 * 4);
	EXPECT_EQ(list.rejected, 3u);
	EXPECT_EQ(counters.free_list_rejected, 3u);
	ASSERT_EQ(list.reports.size(), 3u);
	const int errors[] = {EACCES, EACCES, EINVAL};
	for (std::size_t i = 0; i < 3; i++) {
		EXPECT_EQ(list.reports[i].wr_id, i + 1);
		EXPECT_EQ(list.reports[i].error, errors[i]) << i;
	}
}

TEST_F(FreeLists, ForgetTheOldestReports)
{
	for (std::uint64_t i = 1; i <= max_wr + 2; i++) {
		post(i, 256, 0xdead00);
		EXPECT_EQ(allocate(), PRISM_STATUS_NO_BUFFER);
	}
	ASSERT_EQ(list.reports.size(), max_wr);
	EXPECT_EQ(list.reports.front().wr_id, 3u);
	EXPECT_EQ(list.reports.back().wr_id, max_wr + 2);
}

TEST_F(FreeLists, LookAtEightBadEntriesARequest)
{
	soft::SharedReceiveQueue longer(engine.take_srqn(), 1, 16, 1, true);
	engine.add_srq(longer);
	for (std::uint64_t i = 0; i < 9; i++)
		engine.post_free_list(longer, i, {Pair::va, 256, 0xdead00});
	engine.post_free_list(longer, 9, {Pair::va, 256, pair.key});
	prism_request of_it = request(0);
	of_it.free_list = longer.number;
	for (const std::uint64_t bad : {8, 9}) {
		pair.deliver(pair.server_node, craft_request(taker.qp, taker.qp.resp.expected_psn, of_it));
		EXPECT_EQ(longer.rejected, bad);
	}
	EXPECT_EQ(longer.popped, 1u);
	EXPECT_EQ(counters.prism_no_buffers, 1u);
	engine.remove_srq(longer);
}

TEST_F(FreeLists, KeepABufferThatIsTooShort)
{
	post(1, 64);
	post(2, 256);
	EXPECT_EQ(allocate(128), PRISM_STATUS_NO_BUFFER);
	EXPECT_EQ(counters.rx_payload_too_large, 1u);
	EXPECT_EQ(taker.qp.state, IBV_QPS_RTS);
	EXPECT_EQ(allocate(64), PRISM_STATUS_OK);
	EXPECT_EQ(answer.value, Pair::va + 4096);
}

TEST_F(FreeLists, WaitForAReadOfAnotherQueuePair)
{
	post(1);
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
	begin_read();
	post(2);
	EXPECT_EQ(allocate(), PRISM_STATUS_NO_BUFFER);
	EXPECT_EQ(engine.allocatable(list), 0u);
	EXPECT_EQ(prism_freelist_available(&list.indices), 1u);
	finish_read();
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
}

/** No client has learnt its address. */
TEST_F(FreeLists, TakeBackABufferAtOnce)
{
	post(1, 4096);
	begin_allocate();
	begin_read();
	engine.reset_qp(taker.qp);
	EXPECT_EQ(list.reclaimed, 1u);
	EXPECT_EQ(counters.free_list_reclaimed, 1u);
	taker.connect(other, {});
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
	EXPECT_EQ(answer.value, Pair::va + 4096);
}

/** A buffer taken back is an entry again, and counts as one. */
TEST_F(FreeLists, CountWhatTheyTookBackTowardsTheLimit)
{
	for (std::uint64_t i = 1; i <= 3; i++)
		post(i, 4096);
	begin_allocate();
	engine.reset_qp(taker.qp);
	EXPECT_EQ(list.reclaimed, 1u);
	taker.connect(other, {});
	list.limit = 2;
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
	EXPECT_EQ(pair.server_node.events.srq_events, 0u) << "two are left, one of which was taken back";
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
	EXPECT_EQ(pair.server_node.events.srq_events, 1u);
}

/** Pages that the test can unmap. */
class Pages
{
public:
	static constexpr std::size_t size = 1 << 16;

	Pages() : at_(static_cast<std::uint8_t *>(map(nullptr, PROT_READ | PROT_WRITE, 0))) {}
	~Pages() { munmap(at_, size); }
	Pages(const Pages &) = delete;
	Pages &operator=(const Pages &) = delete;

	[[nodiscard]] std::uint8_t *get() const { return at_; }
	/** Unmaps the pages; nothing else can be mapped there. */
	void unmap() { map(at_, PROT_NONE, MAP_FIXED); }

private:
	static void *map(void *at, int protection, int flags)
	{
		return mmap(at, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	}

	std::uint8_t *at_;
};

/** The application has unmapped memory that an ALLOCATE writes to. The buffer does not get lost (S.7.4). */
class UnmappedAllocate : public FreeLists, public testing::WithParamInterface<bool>
{
protected:
	static constexpr std::uint64_t unmapped_va = 0x4000'0000;

	UnmappedAllocate()
	{
		soft::survive_unmapped_memory();
		unmapped = engine.memory.add_region(pages.get(), unmapped_va, Pages::size, Pair::rights, 1);
	}

	/** Allocates in one packet or in two; the pages that its last packet needs are gone. */
	void allocate_without(prism_request of_it)
	{
		if (!GetParam()) {
			pages.unmap();
			pair.deliver(pair.server_node, craft_request(taker.qp, 0, of_it, of_it.length));
			return;
		}
		of_it.length = 2048;
		for (const bool first : {true, false}) {
			of_it.first = first;
			of_it.last = !first;
			pair.deliver(pair.server_node, craft_request(taker.qp, first ? 0 : 1, of_it, 1024));
			pages.unmap();
		}
	}

	void expect_refused_and_taken_back()
	{
		EXPECT_EQ(counters.rx_access_error, 1u);
		EXPECT_EQ(taker.qp.state, IBV_QPS_ERR);
		EXPECT_EQ(list.popped, 1u);
		EXPECT_EQ(list.reclaimed, 1u);
		EXPECT_EQ(engine.allocatable(list), 1u);
	}

	Pages pages;
	std::uint32_t unmapped = 0;
};

TEST_P(UnmappedAllocate, GivesItsBufferBack)
{
	engine.post_free_list(list, 1, {unmapped_va, 4096, unmapped});
	allocate_without(request(256));
	expect_refused_and_taken_back();
}

TEST_P(UnmappedAllocate, GivesItsBufferBackIfItCannotTellOfIt)
{
	post(1, 4096);
	prism_request redirected = request(256);
	redirected.flags = PRISM_FLAG_R;
	redirected.aux_va = unmapped_va;
	redirected.aux_rkey = unmapped;
	allocate_without(redirected);
	expect_refused_and_taken_back();
}

INSTANTIATE_TEST_SUITE_P(OfSeveralPackets, UnmappedAllocate, testing::Bool());

/** The READ under way gets its turn nevertheless; else no buffer would ever be past its grace period. */
TEST_F(FreeLists, DoNotWaitForAPeerThatRepeatsAnOlderRead)
{
	pair.post_read(0, 64);
	ASSERT_EQ(pair.run(1).size(), 1u);
	begin_read();
	post(1);
	const std::vector<std::uint8_t> repeat = craft_request(pair.server.qp, 0, pair.whole(PRISM_READ, 64));
	for (int i = 0; i < 1000 && !engine.allocatable(list); i++) {
		pair.deliver(pair.server_node, repeat);
		engine.progress(pair.now += 100'000);
		pair.server_node.outbox.clear();
	}
	EXPECT_EQ(engine.allocatable(list), 1u);
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
}

/** No packet of the answer gets through, and the peer is silent: the READ ends nevertheless (S.7.3). */
TEST_F(FreeLists, DoNotWaitForTheNetwork)
{
	begin_read();
	post(1);
	EXPECT_EQ(engine.allocatable(list), 0u);
	for (int i = 0; i < 1000 && !engine.allocatable(list); i++) {
		engine.progress(pair.now += 100'000);
		pair.server_node.outbox.clear();
	}
	EXPECT_EQ(engine.allocatable(list), 1u);
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
}

} // namespace
