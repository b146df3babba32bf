/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Chains of conditional requests (S.8.2). */
#include "harness.hpp"

#include <array>

namespace verbs_test
{
namespace
{

constexpr std::uint32_t ok = PRISMDV_STATUS_OK, miss = PRISMDV_STATUS_CAS_MISS, skipped = PRISMDV_STATUS_SKIPPED,
			null_pointer = PRISMDV_STATUS_NULL_POINTER;

class Chains : public EachVariant
{
protected:
	Chains() { connect(); }

	Op hit() { return prism_cas({}, server.memory, 0, same_.operands()); }
	Op missed() { return prism_cas({}, server.memory, 0, other_.operands()); }
	Op write(std::size_t offset) { return prism_write({client.memory.sge(0, 4)}, server.memory, offset); }

	/** Posts them as one list; returns their statuses. */
	std::vector<std::uint32_t> statuses(const std::vector<Op> &ops)
	{
		std::vector<std::uint32_t> all;
		EXPECT_EQ(post(ops), 0);
		for (std::size_t i = 0; i < ops.size(); i++) {
			const auto wc = next(client.cq.get());
			EXPECT_TRUE(wc && wc->status == IBV_WC_SUCCESS);
			if (!wc)
				break;
			all.push_back(wc->vendor_err);
		}
		return all;
	}
	using Statuses = std::vector<std::uint32_t>;

	Cas8 same_{0, 0};
	Cas8 other_{1, 0};
};

TEST_P(Chains, ConditionalRequestRunsAfterASuccess)
{
	EXPECT_EQ(statuses({hit(), write(64).conditional()}), (Statuses{ok, ok}));
}

TEST_P(Chains, ConditionalRequestIsSkippedAfterAMiss)
{
	client.memory.put(0, "data");
	EXPECT_EQ(statuses({missed(), write(64).conditional()}), (Statuses{miss, skipped}));
	EXPECT_EQ(server.memory.word(64), 0u);
	EXPECT_EQ(server.counter("prism_skipped"), 1u);
}

TEST_P(Chains, SkippedCountsAsFailure)
{
	EXPECT_EQ(
		statuses({missed(), hit().conditional(), write(64).conditional()}), (Statuses{miss, skipped, skipped}));
}

TEST_P(Chains, RequestWithoutTheModifierStartsANewChain)
{
	EXPECT_EQ(statuses({missed(), hit().conditional(), hit(), write(64).conditional()}),
		(Statuses{miss, skipped, ok, ok}));
}

TEST_P(Chains, EveryUnsuccessfulStatusBreaksTheChain)
{
	FreeList list(server, 4);
	EXPECT_EQ(statuses({prism_read({client.memory.sge(0, 4)}, server.memory).indirect(), hit().conditional()}),
		(Statuses{null_pointer, skipped}));
	EXPECT_EQ(statuses({prism_allocate({}, list.get()), hit().conditional()}), (Statuses{no_buffer, skipped}));
}

TEST_P(Chains, StateLastsBetweenPosts)
{
	EXPECT_EQ(status(missed()), miss);
	EXPECT_EQ(status(hit().conditional()), skipped);
}

TEST_P(Chains, FreshQueuePairBeginsWithSuccess)
{
	EXPECT_EQ(status(hit().conditional()), ok);
}

TEST_P(Chains, ResetBringsBackSuccess)
{
	EXPECT_EQ(status(missed()), miss);
	disconnect();
	connect();
	EXPECT_EQ(status(hit().conditional()), ok);
}

TEST_P(Chains, EachStandardRequestResetsTheChain)
{
	post_recv(peer.get(), server.memory.sge(512, 64));
	Op missed_swap = standard(IBV_WR_ATOMIC_CMP_AND_SWP, {client.memory.sge(0, 8)}, &server.memory);
	missed_swap.compare_add = 99;
	for (const Op &op : {standard(IBV_WR_SEND, {client.memory.sge(0, 4)}),
		     standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 4)}, &server.memory, 128),
		     standard(IBV_WR_RDMA_READ, {client.memory.sge(0, 4)}, &server.memory, 128), missed_swap}) {
		EXPECT_EQ(status(missed()), miss);
		EXPECT_EQ(run(op).status, IBV_WC_SUCCESS);
		EXPECT_EQ(status(hit().conditional()), ok) << op.opcode;
	}
}

TEST_P(Chains, SkippedRequestLooksAtNeitherKeyNorMemoryNorList)
{
	Op read = prism_read({client.memory.sge(0, 8)}, server.memory).indirect().conditional();
	read.rkey = 0x12345600;
	Op allocate = prism_allocate({}, FreeList(server, 1).get()).conditional(); /* destroyed by now */
	EXPECT_EQ(statuses({missed(), read, allocate}), (Statuses{miss, skipped, skipped}));
}

TEST_P(Chains, SkippedRequestsAreZeroLongAndGiveNoAddress)
{
	FreeList list(server, 4);
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	client.memory.put(0, std::uint64_t{77});
	client.memory.put(8, std::uint64_t{78});
	ASSERT_EQ(status(missed()), miss);
	std::uint32_t length = 1;
	EXPECT_EQ(
		status(prism_allocate({}, list.get()).result(client.memory.sge(0, 8)).conditional(), &length), skipped);
	EXPECT_EQ(length, 0u);
	EXPECT_EQ(client.memory.word(0), 0u);
	EXPECT_EQ(
		status(prism_cas({client.memory.sge(8, 8)}, server.memory, 0, same_.operands()).conditional(), &length),
		skipped);
	EXPECT_EQ(length, 0u);
	EXPECT_EQ(client.memory.word(8), 78u);
	EXPECT_EQ(list.query().available, 1u);
}

TEST_P(Chains, WriteOfManyPacketsIsSkippedAsAWhole)
{
	client.memory.fill(0, 8000, 1);
	EXPECT_EQ(
		statuses({missed(), prism_write({client.memory.sge(0, 8000)}, server.memory, 64).conditional(), hit()}),
		(Statuses{miss, skipped, ok}));
	EXPECT_EQ(server.memory.word(64), 0u);
}

/* The sequence of PRISM 3.5: build out of place, install by swapping a pointer. */
TEST_P(Chains, OutOfPlaceUpdateInOneRoundTrip)
{
	FreeList list(server, 4);
	const Region scratch = server.region(64);
	ASSERT_EQ(list.post(server.memory.sge(1024, 64)), 0);
	client.memory.put(0, "new value");
	constexpr std::uint32_t tag = 7;
	const std::array<std::uint8_t, 16> compare{};
	std::array<std::uint8_t, 16> version_mask{};
	const prismdv_cas install{PRISMDV_CAS_EQ, 0, 16, 0, compare.data(), nullptr, version_mask.data(), nullptr};
	EXPECT_EQ(statuses({prism_allocate({client.memory.sge(0, 9)}, list.get(), tag)
				    .redirect_bounded(scratch.at(16), scratch.key()),
			  prism_cas({}, server.memory, 32, install)
				  .data_from(scratch.at(16), scratch.key())
				  .conditional(),
			  prism_read({client.memory.sge(100, 64)}, server.memory, 32).bounded().conditional()}),
		(Statuses{ok, ok, ok}));
	EXPECT_EQ(client.memory.text(100, 9), "new value");
	prismdv_bounded_ptr installed;
	std::memcpy(&installed, server.memory.bytes(32), sizeof(installed));
	EXPECT_EQ(installed.ptr, server.memory.at(1024));
	EXPECT_EQ(installed.bound, 9u);
	EXPECT_EQ(installed.tag, tag);
}

INSTANTIATE_TEST_SUITE_P(Each, Chains, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
