/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Regions whose memory the program unmaps, or the file of which it truncates, before it deregisters them: no access
 * ends the process. */
#include "harness.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace verbs_test
{
namespace
{

constexpr std::size_t size = 64 << 10;

/** Memory of a file that a program may truncate, or of none. */
class Mapping
{
public:
	explicit Mapping(bool of_file) : file_(of_file ? memfd_create("unmapped", MFD_CLOEXEC) : -1)
	{
		if (of_file && ftruncate(file_, size))
			throw std::runtime_error("ftruncate");
		const int kind = of_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
		at_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, kind, file_, 0);
		if (at_ == MAP_FAILED)
			throw std::runtime_error("mmap");
	}
	~Mapping()
	{
		munmap(at_, size);
		if (file_ >= 0)
			close(file_);
	}
	Mapping(const Mapping &) = delete;
	Mapping &operator=(const Mapping &) = delete;

	/** Unmaps or truncates it. An anonymous mapping stays reserved, so that nothing else is mapped there. */
	void vanish()
	{
		if (file_ >= 0)
			ASSERT_EQ(ftruncate(file_, 0), 0);
		else
			ASSERT_EQ(mmap(at_, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), at_);
	}
	[[nodiscard]] void *get() const { return at_; }
	[[nodiscard]] std::uint64_t at() const { return reinterpret_cast<std::uintptr_t>(at_); }

private:
	int file_;
	void *at_;
};

class Unmapped : public Fabric, public testing::WithParamInterface<bool>
{
protected:
	Unmapped() : mapping(GetParam())
	{
		if (devices.kernel)
			skip("the kernel pins what is registered");
		connect();
		remote.reset(ibv_reg_mr(server.pd.get(), mapping.get(), size, all_access));
		local.reset(ibv_reg_mr(client.pd.get(), mapping.get(), size, all_access));
		mapping.vanish();
	}

	[[nodiscard]] Op at_the_mapping(Op op) const
	{
		op.remote = mapping.at();
		op.rkey = remote->rkey;
		return op;
	}
	[[nodiscard]] ibv_sge here(std::uint32_t length) const { return {mapping.at(), length, local->lkey}; }

	/** Expects that the requester and the responder's application get an error, and that the process lives. */
	void expect_refused(const Op &op)
	{
		expect_fault(at_the_mapping(op), IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "memory_faults");
	}

	Mapping mapping;
	Owned<ibv_mr> remote, local;
};

TEST_P(Unmapped, WriteIsRefused)
{
	expect_refused(standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 5000)}, &server.memory));
}

TEST_P(Unmapped, ReadIsRefused)
{
	expect_refused(standard(IBV_WR_RDMA_READ, {client.memory.sge(0, 5000)}, &server.memory));
}

TEST_P(Unmapped, AtomicIsRefused)
{
	expect_refused(standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {client.memory.sge(0, 8)}, &server.memory));
}

TEST_P(Unmapped, PrismReadIsRefused)
{
	expect_refused(prism_read({client.memory.sge(0, 5000)}, server.memory));
}

TEST_P(Unmapped, IndirectReadIsRefused)
{
	expect_refused(prism_read({client.memory.sge(0, 8)}, server.memory).indirect());
}

TEST_P(Unmapped, PrismWriteOfSeveralPacketsIsRefused)
{
	expect_refused(prism_write({client.memory.sge(0, 5000)}, server.memory));
}

TEST_P(Unmapped, CasIsRefusedAndLeavesNoLock)
{
	const Cas8 cas{0, 1};
	expect_refused(prism_cas({client.memory.sge(0, 8)}, server.memory, 0, cas.operands()));
	disconnect();
	connect();
	EXPECT_EQ(status(prism_cas({}, server.memory, 0, cas.operands())), 0u);
	for (std::size_t block = 0; block < 64; block++) /* each of the locks */
		ASSERT_EQ(status(prism_cas({}, server.memory, 64 + block * 32, cas.operands())), 0u);
}

TEST_P(Unmapped, WhatCannotBeLoadedIsNotWrittenElsewhere)
{
	server.memory.put(0, "untouched");
	Op write = prism_write({}, server.memory).data_from(mapping.at(), remote->rkey, 9);
	expect_fault(write, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, "memory_faults");
	EXPECT_EQ(server.memory.text(0, 9), "untouched");
}

TEST_P(Unmapped, SendFailsLocally)
{
	EXPECT_EQ(run(standard(IBV_WR_SEND, {here(100)})).status, IBV_WC_LOC_PROT_ERR);
	EXPECT_EQ(client.counter("memory_faults"), 1u);
}

TEST_P(Unmapped, WriteBehindOthersFailsLocally)
{
	ASSERT_EQ(post({standard(IBV_WR_RDMA_WRITE, {client.memory.sge(0, 8)}, &server.memory).id(1),
			  standard(IBV_WR_RDMA_WRITE, {here(5000)}, &server.memory).id(2)}),
		0);
	const auto first = next(client.cq.get()), second = next(client.cq.get());
	ASSERT_TRUE(first && second);
	EXPECT_EQ(first->status, IBV_WC_SUCCESS);
	EXPECT_EQ(second->status, IBV_WC_LOC_PROT_ERR);
}

TEST_P(Unmapped, ReadIntoItFailsLocally)
{
	EXPECT_EQ(run(prism_read({here(100)}, server.memory)).status, IBV_WC_LOC_PROT_ERR);
}

TEST_P(Unmapped, ReceiveIntoItFailsOnBothSides)
{
	post_recv(peer.get(), {mapping.at(), 100, remote->lkey});
	EXPECT_EQ(run(standard(IBV_WR_SEND, {client.memory.sge(0, 100)})).status, IBV_WC_REM_OP_ERR);
	const auto wc = next(server.cq.get());
	ASSERT_TRUE(wc);
	EXPECT_EQ(wc->status, IBV_WC_LOC_PROT_ERR);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Unmapped, testing::Bool(),
	[](const auto &kind) { return kind.param ? std::string("truncated_file") : std::string("anonymous"); });

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/** Runs @p work in a child; returns its wait status. */
int status_of_child(const std::function<void()> &work)
{
	const pid_t child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work();
		::_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return status;
}

void touch_nothing()
{
	*static_cast<volatile int *>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) = 1;
}

TEST(Faults, OfTheProgramsOwnEndItAsEver)
{
	const auto context = open_device(devices.client, PRISMDV_PROGRESS_INLINE);
	const int by_fault = status_of_child(touch_nothing);
	EXPECT_TRUE(WIFSIGNALED(by_fault) && WTERMSIG(by_fault) == SIGSEGV);
	const int by_kill = status_of_child([] {
		kill(getpid(), SIGSEGV);
		pause();
	});
	EXPECT_TRUE(WIFSIGNALED(by_kill) && WTERMSIG(by_kill) == SIGSEGV);
}

#endif

} // namespace
} // namespace verbs_test
