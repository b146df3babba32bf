/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Free lists and ALLOCATE (S.7). */
#include "harness.hpp"

#include <cerrno>

namespace verbs_test
{
namespace
{

class FreeLists : public EachVariant
{
protected:
	FreeLists() { connect(); }

	Op allocate(std::uint32_t payload = 0)
	{
		return prism_allocate(
			payload ? std::vector{client.memory.sge(0, payload)} : std::vector<ibv_sge>{}, list.get())
			.result(client.memory.sge(result_at, 8));
	}
	[[nodiscard]] std::uint64_t address() const { return client.memory.word(result_at); }

	static constexpr std::size_t result_at = 60000;
	FreeList list{server, 32};
};

TEST_P(FreeLists, AllocateWritesThePayloadAndGivesTheAddress)
{
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	client.memory.put(0, "payload");
	const ibv_wc wc = run(allocate(7));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_FETCH_ADD);
	EXPECT_EQ(wc.vendor_err, 0u);
	EXPECT_EQ(wc.byte_len, 8u);
	EXPECT_EQ(address(), server.memory.at(1024));
	EXPECT_EQ(server.memory.text(1024, 8), std::string("payload\0", 8));
}

TEST_P(FreeLists, AllocateTakesInlineDataAndNeedsNoResult)
{
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	client.memory.put(0, "inline");
	EXPECT_EQ(status(prism_allocate({client.memory.sge(0, 6)}, list.get()).with(IBV_SEND_INLINE)), 0u);
	EXPECT_EQ(server.memory.text(1024, 6), "inline");
}

TEST_P(FreeLists, BuffersComeInTheOrderOfPosting)
{
	for (const std::size_t offset : {3000u, 1000u, 2000u})
		ASSERT_EQ(list.post(server.memory.sge(offset, 64)), 0);
	for (const std::size_t offset : {3000u, 1000u, 2000u}) {
		EXPECT_EQ(status(allocate()), 0u);
		EXPECT_EQ(address(), server.memory.at(offset));
	}
}

TEST_P(FreeLists, EmptyListIsAStatus)
{
	client.memory.put(result_at, std::uint64_t{1});
	std::uint32_t length = 1;
	EXPECT_EQ(status(allocate(16), &length), no_buffer);
	EXPECT_EQ(length, 0u);
	EXPECT_EQ(address(), 0u);
	EXPECT_EQ(server.counter("prism_no_buffers"), 1u);
	EXPECT_EQ(state_of(qp.get()), IBV_QPS_RTS);
}

TEST_P(FreeLists, RedirectStoresThePointer)
{
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	EXPECT_EQ(status(allocate().redirect(server.memory.at(8), server.memory.key())), 0u);
	EXPECT_EQ(server.memory.word(8), server.memory.at(1024));
	EXPECT_EQ(address(), server.memory.at(1024)) << "the answer carries it all the same";
}

TEST_P(FreeLists, BoundedRedirectStoresPointerLengthAndTag)
{
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	Op op = allocate(9).redirect_bounded(server.memory.at(16), server.memory.key());
	op.allocation.tag = 0xabcdef01;
	EXPECT_EQ(status(op), 0u);
	prismdv_bounded_ptr stored;
	std::memcpy(&stored, server.memory.bytes(16), sizeof(stored));
	EXPECT_EQ(stored.ptr, server.memory.at(1024));
	EXPECT_EQ(stored.bound, 9u);
	EXPECT_EQ(stored.tag, 0xabcdef01u);
}

TEST_P(FreeLists, PayloadOfManyPacketsFillsTheBuffer)
{
	ASSERT_EQ(list.post(server.memory.sge(8192, 8000)), 0);
	client.memory.fill(0, 8000, 9);
	EXPECT_EQ(status(allocate(8000).redirect(server.memory.at(0), server.memory.key())), 0u);
	EXPECT_EQ(server.memory.text(8192, 8000), client.memory.text(0, 8000));
	EXPECT_EQ(server.memory.word(0), server.memory.at(8192));
}

TEST_P(FreeLists, PayloadOfManyPacketsToAnEmptyListIsConsumed)
{
	EXPECT_EQ(status(allocate(8000)), no_buffer);
	EXPECT_EQ(status(allocate()), no_buffer);
}

/** The poster of the buffer decides its length: a buffer that is too short must not break a client. */
TEST_P(FreeLists, TooShortABufferIsNoneAndStays)
{
	const std::uint64_t before = server.counter("rx_payload_too_large");
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	EXPECT_EQ(status(allocate(65)), no_buffer);
	EXPECT_EQ(status(allocate(8000)), no_buffer);
	EXPECT_EQ(list.query().available, 1u);
	EXPECT_EQ(list.query().popped, 0u);
	EXPECT_EQ(server.counter("rx_payload_too_large"), before + 2);
	EXPECT_EQ(status(allocate(64)), 0u);
}

TEST_P(FreeLists, BadEntriesAreRemovedAndReported)
{
	const Region weak = server.region(64, IBV_ACCESS_LOCAL_WRITE);
	const ibv_sge unknown{server.memory.at(), 64, 0x7654300},
		outside = server.memory.sge(server.memory.length() - 8, 64);
	ASSERT_EQ(list.post(unknown, 1), 0);
	ASSERT_EQ(list.post(outside, 2), 0);
	ASSERT_EQ(list.post(weak.sge(0, 64), 3), 0);
	ASSERT_EQ(list.post(server.memory.sge(1024, 64), 4), 0);
	EXPECT_EQ(status(allocate()), 0u);
	EXPECT_EQ(address(), server.memory.at(1024));
	const auto rejected = list.rejected();
	ASSERT_EQ(rejected.size(), 3u);
	EXPECT_EQ(rejected[0].wr_id, 1u);
	EXPECT_EQ(rejected[0].error, std::uint32_t{EINVAL});
	EXPECT_EQ(rejected[0].lkey, unknown.lkey);
	EXPECT_EQ(rejected[1].error, std::uint32_t{EINVAL});
	EXPECT_EQ(rejected[1].addr, outside.addr);
	EXPECT_EQ(rejected[1].length, 64u);
	EXPECT_EQ(rejected[2].wr_id, 3u);
	EXPECT_EQ(rejected[2].error, std::uint32_t{EACCES});
	EXPECT_TRUE(list.rejected().empty());
	EXPECT_EQ(list.query().rejected, 3u);
	EXPECT_EQ(server.counter("free_list_rejected"), 3u);
}

TEST_P(FreeLists, EntryOfAnotherDomainIsBad)
{
	const Owned<ibv_pd> pd(ibv_alloc_pd(server.context.get()));
	const Region foreign(pd.get(), 64);
	ASSERT_EQ(list.post(foreign.sge(0, 64)), 0);
	EXPECT_EQ(status(allocate()), no_buffer);
	const auto rejected = list.rejected();
	ASSERT_EQ(rejected.size(), 1u);
	EXPECT_EQ(rejected[0].error, std::uint32_t{EINVAL});
}

TEST_P(FreeLists, AfterEightBadEntriesThereIsNoBuffer)
{
	for (std::uint64_t i = 0; i < 9; i++)
		ASSERT_EQ(list.post({server.memory.at(), 64, 0x7654300}, i), 0);
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	EXPECT_EQ(status(allocate()), no_buffer);
	EXPECT_EQ(list.rejected().size(), 8u);
	EXPECT_EQ(status(allocate()), 0u);
	EXPECT_EQ(list.rejected().size(), 1u);
}

TEST_P(FreeLists, OldestReportsAreForgottenBeyondMaxWr)
{
	const FreeList small(server, 4);
	ibv_srq_attr attr;
	ASSERT_EQ(ibv_query_srq(small.get(), &attr), 0);
	const std::uint64_t total = 2 * attr.max_wr + 2;
	for (std::uint64_t i = 0; i < total; i++) {
		ASSERT_EQ(small.post({server.memory.at(), 64, 0x7654300}, i), 0);
		EXPECT_EQ(status(prism_allocate({}, small.get())), no_buffer);
	}
	const auto rejected = small.rejected();
	ASSERT_GE(rejected.size(), attr.max_wr);
	ASSERT_LT(rejected.size(), total);
	EXPECT_EQ(rejected[0].wr_id, total - rejected.size());
	EXPECT_EQ(small.query().rejected, total);
	if (!devices.kernel) {
		EXPECT_EQ(attr.max_wr, 4u);
		EXPECT_EQ(rejected.size(), 4u);
	}
}

TEST_P(FreeLists, ListOfAnotherDomainIsRefused)
{
	const Owned<ibv_pd> pd(ibv_alloc_pd(server.context.get()));
	const FreeList foreign(server, 4, pd.get());
	expect_fault(
		prism_allocate({}, foreign.get()), IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "rx_bad_free_list");
}

TEST_P(FreeLists, OrdinarySrqIsNoFreeList)
{
	ibv_srq_init_attr attr{nullptr, {4, 1, 0}};
	const Owned<ibv_srq> srq(ibv_create_srq(server.pd.get(), &attr));
	expect_fault(prism_allocate({}, srq.get()), IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "rx_bad_free_list");
}

TEST_P(FreeLists, DestroyedListIsUnknown)
{
	const Op op = allocate();
	list.destroy();
	expect_fault(op, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "rx_bad_free_list");
}

TEST_P(FreeLists, LimitEventComesOnceWhenTheListRunsLow)
{
	for (std::size_t i = 0; i < 4; i++)
		ASSERT_EQ(list.post(server.memory.sge(1024 + i * 64, 64)), 0);
	ibv_srq_attr attr{};
	attr.srq_limit = 3;
	ASSERT_EQ(ibv_modify_srq(list.get(), &attr, IBV_SRQ_LIMIT), 0);
	EXPECT_EQ(status(allocate()), 0u);
	EXPECT_FALSE(async_event(server, 2)) << "three are left";
	EXPECT_EQ(status(allocate()), 0u);
	EXPECT_EQ(async_event(server), IBV_EVENT_SRQ_LIMIT_REACHED);
	EXPECT_EQ(status(allocate()), 0u);
	EXPECT_FALSE(async_event(server, 2)) << "the limit is disarmed";
	ASSERT_EQ(ibv_query_srq(list.get(), &attr), 0);
	EXPECT_EQ(attr.srq_limit, 0u);
}

/** The owner has to post again, whatever the entries were: bad ones that were dropped count as well. */
TEST_P(FreeLists, BadEntriesThatLeaveReachTheLimit)
{
	for (std::uint64_t i = 0; i < 9; i++)
		ASSERT_EQ(list.post({server.memory.at(), 64, 0x7654300}, i), 0);
	ibv_srq_attr attr{};
	attr.srq_limit = 2;
	ASSERT_EQ(ibv_modify_srq(list.get(), &attr, IBV_SRQ_LIMIT), 0);
	EXPECT_EQ(status(allocate()), no_buffer);
	EXPECT_EQ(list.query().available, 1u);
	EXPECT_EQ(async_event(server), IBV_EVENT_SRQ_LIMIT_REACHED);
	EXPECT_EQ(status(allocate()), no_buffer);
	EXPECT_EQ(list.query().available, 0u);
	EXPECT_FALSE(async_event(server, 2)) << "the limit is disarmed";
}

TEST_P(FreeLists, QueryCounts)
{
	for (std::size_t i = 0; i < 3; i++)
		ASSERT_EQ(list.post(server.memory.sge(1024 + i * 64, 64)), 0);
	EXPECT_EQ(status(allocate()), 0u);
	const prismdv_free_list_attr attr = list.query();
	EXPECT_EQ(attr.posted, 3u);
	EXPECT_EQ(attr.popped, 1u);
	EXPECT_EQ(attr.available, 2u);
	EXPECT_EQ(attr.allocatable, 2u);
	EXPECT_EQ(attr.rejected + attr.reclaimed, 0u);
}

TEST_P(FreeLists, ReleasedBufferIsHandedOutAgain)
{
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	for (int i = 0; i < 100; i++) {
		EXPECT_EQ(status(allocate()), 0u);
		ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	}
	EXPECT_EQ(list.query().popped, 100u);
}

INSTANTIATE_TEST_SUITE_P(Each, FreeLists, testing::ValuesIn(all_variants()), variant_name);

/* Calls of the owner on a list, without any peer. */
class FreeListObject : public Fabric
{
};

TEST_F(FreeListObject, EntryHasExactlyOneSge)
{
	const FreeList list(server, 4);
	ibv_sge sges[] = {server.memory.sge(0, 8), server.memory.sge(8, 8)};
	for (const int count : {0, 2}) {
		ibv_recv_wr wr{1, nullptr, sges, count}, *bad = nullptr;
		EXPECT_EQ(ibv_post_srq_recv(list.get(), &wr, &bad), EINVAL);
		EXPECT_EQ(bad, &wr);
	}
}

TEST_F(FreeListObject, FullListRefusesMore)
{
	const FreeList list(server, 3);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(list.post(server.memory.sge(0, 64)), 0);
	EXPECT_EQ(list.post(server.memory.sge(0, 64)), ENOMEM);
}

TEST_F(FreeListObject, CannotBeAttachedToAQueuePair)
{
	const FreeList list(server, 4);
	ibv_qp_init_attr attr{};
	attr.send_cq = attr.recv_cq = server.cq.get();
	attr.srq = list.get();
	attr.cap = {1, 1, 1, 1, 0};
	attr.qp_type = IBV_QPT_RC;
	EXPECT_EQ(ibv_create_qp(server.pd.get(), &attr), nullptr);
	EXPECT_EQ(errno, EINVAL);
}

TEST_F(FreeListObject, OrdinarySrqHasNoFreeListCalls)
{
	ibv_srq_init_attr attr{nullptr, {4, 1, 0}};
	const Owned<ibv_srq> srq(ibv_create_srq(server.pd.get(), &attr));
	prismdv_free_list_attr list_attr;
	prismdv_rejected_entry entry;
	EXPECT_EQ(prismdv_query_free_list(srq.get(), &list_attr), EINVAL);
	EXPECT_EQ(prismdv_poll_rejected(srq.get(), &entry, 1), -EINVAL);
}

TEST_F(FreeListObject, BadAttributesAreRefused)
{
	const auto create = [this](std::uint32_t max_wr, std::uint32_t max_sge, std::uint32_t flags,
				    std::uint64_t mask) {
		ibv_srq_init_attr_ex attr{};
		attr.attr = {max_wr, max_sge, 0};
		attr.comp_mask = IBV_SRQ_INIT_ATTR_PD;
		attr.pd = server.pd.get();
		prismdv_srq_init_attr prism_attr{};
		prism_attr.flags = flags;
		prism_attr.comp_mask = mask;
		errno = 0;
		Owned<ibv_srq> srq(prismdv_create_srq(server.context.get(), &attr, &prism_attr));
		return srq ? 0 : errno;
	};
	EXPECT_EQ(create(4, 1, PRISMDV_SRQ_FREE_LIST, 0), 0);
	EXPECT_EQ(create(4, 2, 0, 0), 0) << "an ordinary SRQ";
	EXPECT_EQ(create(4, 2, PRISMDV_SRQ_FREE_LIST, 0), EINVAL);
	EXPECT_EQ(create(4, 0, PRISMDV_SRQ_FREE_LIST, 0), EINVAL);
	EXPECT_EQ(create(0, 1, PRISMDV_SRQ_FREE_LIST, 0), EINVAL);
	EXPECT_EQ(create(4, 1, PRISMDV_SRQ_FREE_LIST << 1, 0), EINVAL);
	EXPECT_EQ(create(4, 1, PRISMDV_SRQ_FREE_LIST, 1), EINVAL);
}

} // namespace
} // namespace verbs_test
