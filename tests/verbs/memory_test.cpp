/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Regions, windows and device memory, also while they are used; the order of destruction. */
#include "harness.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace verbs_test
{
namespace
{

class Memory : public EachVariant
{
protected:
	Memory() { connect(); }

	/** Returns a request to bind a window of the server's memory from 64 on, on the server's queue pair. */
	Op bind_request(ibv_mw *window) const
	{
		Op bind = standard(IBV_WR_BIND_MW, {});
		bind.window = window;
		bind.value = ibv_inc_rkey(window->rkey);
		bind.bind = {server.memory.mr(), server.memory.at(64), 64, IBV_ACCESS_REMOTE_READ};
		return bind;
	}

	/** Expects that neither LOCAL_INV by @p at, nor SEND_WITH_INV from @p from to it, invalidates the window. */
	void expect_no_invalidation(ibv_qp *from, ibv_qp *at, std::uint32_t key)
	{
		connect(from, client, at, server);
		post_recv(at, {});
		Op send = standard(IBV_WR_SEND_WITH_INV, {});
		send.value = key;
		ASSERT_EQ(post_to(from, {send}), 0);
		ASSERT_TRUE(next(client.cq.get()));
		const auto received = next(server.cq.get());
		ASSERT_TRUE(received);
		EXPECT_NE(received->status, IBV_WC_SUCCESS);
		for (ibv_qp *end : {from, at})
			ASSERT_EQ(move_to(end, IBV_QPS_RESET), 0);
		connect(from, client, at, server);
		Op invalidate = standard(IBV_WR_LOCAL_INV, {});
		invalidate.value = key;
		ASSERT_EQ(post_to(at, {invalidate.id(77)}), 0);
		const auto done = next(server.cq.get());
		ASSERT_TRUE(done);
		EXPECT_EQ(done->wr_id, 77u);
		EXPECT_NE(done->status, IBV_WC_SUCCESS);
	}
};

TEST_P(Memory, DeviceMemoryIsScratchForRedirects)
{
	if (devices.kernel)
		GTEST_SKIP() << "device memory is a matter of the userspace device";
	ibv_alloc_dm_attr attr{};
	attr.length = 256;
	const Owned<ibv_dm> dm(ibv_alloc_dm(server.context.get(), &attr));
	ASSERT_NE(dm, nullptr);
	const Owned<ibv_mr> mr(ibv_reg_dm_mr(server.pd.get(), dm.get(), 0, 256, all_access | IBV_ACCESS_ZERO_BASED));
	ASSERT_NE(mr, nullptr);
	EXPECT_EQ(ibv_free_dm(dm.get()), EBUSY);
	server.memory.put(0, "to scratch");
	EXPECT_EQ(status(prism_read({}, server.memory).redirect(16, mr->rkey, 10)), 0u);
	char copy[12]; /* whole words */
	ASSERT_EQ(ibv_memcpy_from_dm(copy, dm.get(), 16, sizeof(copy)), 0);
	EXPECT_EQ(std::string(copy, 10), "to scratch");
	EXPECT_EQ(status(prism_write({}, server.memory, 100).data_from(16, mr->rkey, 10)), 0u);
	EXPECT_EQ(server.memory.text(100, 10), "to scratch");
	EXPECT_EQ(ibv_memcpy_from_dm(copy, dm.get(), 252, sizeof(copy)), EINVAL);
	EXPECT_EQ(ibv_memcpy_from_dm(copy, dm.get(), 18, sizeof(copy)), EINVAL);
	EXPECT_EQ(ibv_memcpy_from_dm(copy, dm.get(), 16, 10), EINVAL);
}

TEST_P(Memory, WindowOfTypeTwoIsBoundUsedAndInvalidatedRemotely)
{
	const Owned<ibv_mw> window(ibv_alloc_mw(server.pd.get(), IBV_MW_TYPE_2));
	ASSERT_NE(window, nullptr);
	Op bind = standard(IBV_WR_BIND_MW, {});
	bind.window = window.get();
	bind.value = ibv_inc_rkey(window->rkey);
	bind.bind = {server.memory.mr(), server.memory.at(64), 64, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
	ASSERT_EQ(post_to(peer.get(), {bind}), 0);
	const auto bound = next(server.cq.get());
	ASSERT_TRUE(bound);
	EXPECT_EQ(bound->status, IBV_WC_SUCCESS);
	EXPECT_EQ(bound->opcode, IBV_WC_BIND_MW);
	Op read = prism_read({client.memory.sge(0, 8)}, server.memory, 64);
	read.rkey = bind.value;
	EXPECT_EQ(status(read), 0u);
	Op send = standard(IBV_WR_SEND_WITH_INV, {});
	send.value = bind.value;
	post_recv(peer.get(), {});
	EXPECT_EQ(run(send).status, IBV_WC_SUCCESS);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_TRUE(wc->wc_flags & IBV_WC_WITH_INV);
	EXPECT_EQ(wc->invalidated_rkey, bind.value);
	expect_fault(read, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "rx_access_error");
}

TEST_P(Memory, WindowIsInvalidatedByItsQueuePairAlone)
{
	const Owned<ibv_pd> pd(ibv_alloc_pd(server.context.get()));
	const Owned<ibv_mw> window(ibv_alloc_mw(server.pd.get(), IBV_MW_TYPE_2));
	const Op bind = bind_request(window.get());
	ASSERT_EQ(post_to(peer.get(), {bind}), 0);
	ASSERT_EQ(next(server.cq.get())->status, IBV_WC_SUCCESS);
	Op read = prism_read({client.memory.sge(0, 8)}, server.memory, 64);
	read.rkey = bind.value;
	QpOptions foreign;
	foreign.pd = pd.get();
	for (const QpOptions &options : {QpOptions{}, foreign}) {
		SCOPED_TRACE(options.pd ? "of another domain" : "of the same domain");
		const Owned<ibv_qp> from = create_qp(client), at = create_qp(server, options);
		expect_no_invalidation(from.get(), at.get(), bind.value);
		EXPECT_EQ(status(read), 0u);
	}
}

TEST_P(Memory, WindowBeyondItsRegionIsNotBound)
{
	const std::uint64_t end = server.memory.at(server.memory.length());
	for (const std::uint64_t start : {end, end - 63, server.memory.at() - 1, ~std::uint64_t{7}}) {
		const Owned<ibv_mw> window(ibv_alloc_mw(server.pd.get(), IBV_MW_TYPE_2));
		Op bind = bind_request(window.get());
		bind.bind.addr = start;
		ASSERT_EQ(post_to(peer.get(), {bind}), 0);
		const auto bound = next(server.cq.get());
		ASSERT_TRUE(bound);
		EXPECT_NE(bound->status, IBV_WC_SUCCESS) << start - server.memory.at();
		disconnect();
		connect();
	}
}

TEST_P(Memory, RegionWithABoundWindowIsBusy)
{
	Region region = server.region(64);
	Owned<ibv_mw> window(ibv_alloc_mw(server.pd.get(), IBV_MW_TYPE_2));
	Op bind = standard(IBV_WR_BIND_MW, {});
	bind.window = window.get();
	bind.value = ibv_inc_rkey(window->rkey);
	bind.bind = {region.mr(), region.at(), 64, IBV_ACCESS_REMOTE_READ};
	ASSERT_EQ(post_to(peer.get(), {bind}), 0);
	ASSERT_TRUE(next(server.cq.get()));
	EXPECT_EQ(ibv_dereg_mr(region.mr()), rxe_says(EINVAL, EBUSY));
	window.reset();
}

TEST_P(Memory, DeregistrationEndsAReadUnderWay)
{
	PathOptions options;
	options.mtu = IBV_MTU_256;
	disconnect();
	connect(options);
	Region big = server.region(1 << 20);
	const Region to = client.region(1 << 20);
	ASSERT_EQ(post({prism_read({to.sge(0, 1 << 20)}, big)}), 0);
	big.deregister();
	const auto wc = next(client.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_TRUE(wc->status == IBV_WC_REM_ACCESS_ERR || wc->status == IBV_WC_SUCCESS);
}

TEST_P(Memory, ObjectsInUseAreBusy)
{
	EXPECT_EQ(ibv_dealloc_pd(server.pd.get()), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(server.cq.get()), EBUSY);
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory)), 0u) << "nothing is lost";
}

TEST_P(Memory, RightsThatContradictAreRefused)
{
	errno = 0;
	EXPECT_EQ(ibv_reg_mr_iova2(
			  server.pd.get(), server.memory.bytes(), 64, server.memory.at(), IBV_ACCESS_REMOTE_WRITE),
		nullptr);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(ibv_reg_mr_iova2(server.pd.get(), reinterpret_cast<void *>(4096), 64, 4096, IBV_ACCESS_LOCAL_WRITE),
		nullptr);
	EXPECT_EQ(errno, EFAULT);
}

TEST_P(Memory, ReregistrationRefusesWhatRegistrationDoes)
{
	if (devices.kernel)
		GTEST_SKIP() << "rxe changes the memory of no region";
	const auto refused = [this](int flags, void *addr, std::size_t length, int access) {
		errno = 0;
		EXPECT_EQ(ibv_rereg_mr(server.memory.mr(), flags, nullptr, addr, length, access), IBV_REREG_MR_ERR_CMD);
		return errno;
	};
	EXPECT_EQ(refused(IBV_REREG_MR_CHANGE_TRANSLATION, server.memory.bytes(), SIZE_MAX, 0), EINVAL);
	EXPECT_EQ(refused(IBV_REREG_MR_CHANGE_TRANSLATION, reinterpret_cast<void *>(4096), 64, 0), EFAULT);
	EXPECT_EQ(refused(IBV_REREG_MR_CHANGE_ACCESS, nullptr, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory)), 0u) << "it is as before";
}

TEST_P(Memory, ReregistrationMovesARegion)
{
	if (devices.kernel)
		GTEST_SKIP() << "rxe changes the memory of no region";
	const Region next_home = server.region(64);
	next_home.put(0, "moved");
	for (const unsigned based : {0u, unsigned{IBV_ACCESS_ZERO_BASED}}) {
		const Owned<ibv_mr> moves(ibv_reg_mr(server.pd.get(), server.memory.bytes(), 64, all_access | based));
		ASSERT_NE(moves, nullptr);
		ASSERT_EQ(ibv_rereg_mr(moves.get(), IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, next_home.bytes(), 64, 0),
			0);
		Op read = prism_read({client.memory.sge(0, 5)}, next_home);
		read.rkey = moves->rkey;
		if (based)
			read.remote = 0;
		EXPECT_EQ(status(read), 0u);
		EXPECT_EQ(client.memory.text(0, 5), "moved");
	}
}

class Page
{
public:
	explicit Page(int protection) : at_(mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
	~Page() { munmap(at_, size); }
	Page(const Page &) = delete;
	Page &operator=(const Page &) = delete;

	[[nodiscard]] ibv_mr *register_with(ibv_pd *pd, unsigned access) const
	{
		errno = 0;
		return ibv_reg_mr_iova2(pd, at_, size, reinterpret_cast<std::uintptr_t>(at_), access);
	}

	static constexpr std::size_t size = 4096;

private:
	void *at_;
};

TEST_P(Memory, WhatTheProgramMayNotWriteIsNotRegisteredForWriting)
{
	if (devices.kernel)
		GTEST_SKIP() << "the kernel's pinning";
	const Page read_only(PROT_READ), closed(PROT_NONE);
	EXPECT_EQ(Owned<ibv_mr>(read_only.register_with(server.pd.get(), all_access)), nullptr);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(Owned<ibv_mr>(closed.register_with(server.pd.get(), IBV_ACCESS_REMOTE_READ)), nullptr);
	EXPECT_EQ(errno, EFAULT);

	const Owned<ibv_mr> mr(read_only.register_with(server.pd.get(), IBV_ACCESS_REMOTE_READ));
	ASSERT_NE(mr, nullptr) << "reading is what it allows";
	errno = 0;
	EXPECT_EQ(ibv_rereg_mr(mr.get(), IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
		IBV_REREG_MR_ERR_CMD);
	EXPECT_EQ(errno, EFAULT);
	Op read = standard(IBV_WR_RDMA_READ, {client.memory.sge(0, 8)}, &server.memory);
	read.rkey = mr->rkey;
	read.remote = reinterpret_cast<std::uintptr_t>(mr->addr);
	EXPECT_EQ(run(read).status, IBV_WC_SUCCESS) << "it is as before";
}

/** A region of 6000 bytes that is paged on demand and begins inside a page, of a device that has such regions. */
class Paging : public EachVariant
{
protected:
	static constexpr std::size_t begin = 800, length = 6000, all = 2 * 4096;
	static constexpr unsigned access = all_access | IBV_ACCESS_ON_DEMAND;

	Paging()
		: memory_(static_cast<std::uint8_t *>(std::aligned_alloc(4096, all))),
		  region_(ibv_reg_mr(
			  server.pd.get(), std::memset(memory_.get(), 0, all) ? at(0) : nullptr, length, access))
	{
		connect();
	}
	[[nodiscard]] std::uint8_t *at(std::size_t offset) const { return memory_.get() + begin + offset; }
	[[nodiscard]] Op with_region(Op op, std::size_t offset = 0) const
	{
		op.remote = reinterpret_cast<std::uintptr_t>(at(offset));
		op.rkey = region_->rkey;
		return op;
	}
	[[nodiscard]] ibv_sge sge(std::uint32_t size) const
	{
		return {reinterpret_cast<std::uintptr_t>(at(0)), size, region_->lkey};
	}
	/** Expects that its bytes are those of @p other, and that the bytes beside it are unchanged. */
	void expect_as(const Region &other) const
	{
		EXPECT_EQ(std::memcmp(at(0), other.bytes(), length), 0);
		EXPECT_EQ(std::count(memory_.get(), at(0), 0), static_cast<std::ptrdiff_t>(begin));
		EXPECT_EQ(std::count(at(length), memory_.get() + all, 0),
			static_cast<std::ptrdiff_t>(all - begin - length));
	}

	std::unique_ptr<std::uint8_t, Destroy> memory_;
	Owned<ibv_mr> region_;
};

TEST_P(Paging, StandardRequestsReachWhatIsNotThereYet)
{
	if (!region_)
		GTEST_SKIP() << "the device pages nothing on demand";
	const Region from = client.region(length), to = client.region(length);
	from.fill(0, length, 7);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(madvise(memory_.get(), all, MADV_DONTNEED), 0);
		EXPECT_EQ(run(with_region(standard(IBV_WR_RDMA_WRITE, {from.sge(0, length)}))).status, IBV_WC_SUCCESS);
		expect_as(from);
	}
	EXPECT_EQ(run(with_region(standard(IBV_WR_RDMA_READ, {to.sge(0, length)}))).status, IBV_WC_SUCCESS);
	EXPECT_EQ(std::memcmp(to.bytes(), from.bytes(), length), 0);
	Op add = with_region(standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {to.sge(0, 8)}), 4800);
	add.compare_add = 3;
	EXPECT_EQ(run(add).status, IBV_WC_SUCCESS);
	EXPECT_EQ(to.word(0), from.word(4800));
	from.put(4800, from.word(4800) + 3);
	expect_as(from);
	post_recv(peer.get(), sge(length));
	EXPECT_EQ(run(standard(IBV_WR_SEND, {to.sge(0, length)})).status, IBV_WC_SUCCESS);
	ASSERT_TRUE(next(server.cq.get()));
	expect_as(to);
}

TEST_P(Paging, PrismRequestsHaveItAsTheirOwnMemoryAlone)
{
	if (!region_)
		GTEST_SKIP() << "the device pages nothing on demand";
	client.memory.fill(0, 4096, 9);
	Op read = prism_read({sge(4096)}, client.memory);
	EXPECT_EQ(post_to(peer.get(), {read}), 0);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
	EXPECT_EQ(std::memcmp(at(0), client.memory.bytes(), 4096), 0);
	expect_fault(with_region(prism_read({client.memory.sge(0, 8)}, server.memory)), IBV_WC_REM_ACCESS_ERR,
		IBV_EVENT_QP_ACCESS_ERR, "rx_access_error");
}

TEST_P(Paging, IsAtItsOwnAddressAlone)
{
	if (!region_)
		GTEST_SKIP() << "the device pages nothing on demand";
	const std::uint64_t own = reinterpret_cast<std::uintptr_t>(at(0));
	EXPECT_EQ(ibv_reg_mr_iova2(server.pd.get(), at(0), length, own + (1ull << 40), access), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_P(Paging, OnlySuchRegionsArePrefetched)
{
	if (!region_)
		GTEST_SKIP() << "the device pages nothing on demand";
	for (const unsigned flags : {0u, unsigned{IBV_ADVISE_MR_FLAG_FLUSH}}) {
		ibv_sge paged = sge(length), pinned = server.memory.sge(0, 64);
		EXPECT_EQ(ibv_advise_mr(server.pd.get(), IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, flags, &paged, 1), 0);
		EXPECT_EQ(
			ibv_advise_mr(server.pd.get(), IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, flags, &pinned, 1), EINVAL);
	}
}

INSTANTIATE_TEST_SUITE_P(Each, Paging, testing::ValuesIn(all_variants()), variant_name);
INSTANTIATE_TEST_SUITE_P(Each, Memory, testing::ValuesIn(all_variants()), variant_name);

} // namespace
} // namespace verbs_test
