/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Replies of the module that the provider accepts, and those that it refuses (kernel/rxe-prism/prism_abi.h). */
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "uverbs/responses.hpp"
#include "uverbs/shared_queue.hpp"

namespace
{

using namespace prism::uverbs;

constexpr std::uint32_t entry = 64, entries = 8;

/** Memory that a module might share: a queue of 8 entries. */
class SharedMemory : public testing::Test
{
protected:
	SharedMemory()
	{
		EXPECT_EQ(ftruncate(fd_, sizeof(prism_abi_queue) + entry * entries), 0);
		write(offsetof(prism_abi_queue, log2_entry_size), 6);
		write(offsetof(prism_abi_queue, index_mask), entries - 1);
	}
	~SharedMemory() override { close(fd_); }

	void write(std::size_t offset, std::uint32_t value) const
	{
		EXPECT_EQ(pwrite(fd_, &value, sizeof(value), static_cast<off_t>(offset)), ssize_t{sizeof(value)});
	}
	int map() { return queue_.map(fd_, where_, entry); }

	const int fd_ = memfd_create("queue", MFD_CLOEXEC);
	prism_abi_mmap where_{0, sizeof(prism_abi_queue) + entry *entries, 0};
	SharedQueue queue_;
};

TEST_F(SharedMemory, IsTakenAsItDescribesItself)
{
	ASSERT_EQ(map(), 0);
	EXPECT_EQ(queue_.mask(), entries - 1);
	EXPECT_EQ(queue_.entry_size(), entry);
}

TEST_F(SharedMemory, IsRefusedIfItDoesNotFit)
{
	where_.size -= entry;
	EXPECT_EQ(map(), EPROTO) << "shorter than its entries";
	where_.size += entry;
	write(offsetof(prism_abi_queue, index_mask), entries - 2);
	EXPECT_EQ(map(), EPROTO) << "no mask";
}

TEST_F(SharedMemory, IsRefusedWithAReservedFieldSet)
{
	where_.reserved = 1;
	EXPECT_EQ(map(), EPROTO);
}

TEST(Responses, AreUnderstoodWithReservedFieldsZero)
{
	prism_abi_alloc_ucontext_resp context{};
	prism_abi_create_ah_resp ah{};
	prism_abi_create_srq_resp srq{};
	EXPECT_TRUE(understood(context) && understood(ah) && understood(srq));
	context.reserved_2 = 1;
	ah.reserved = 1;
	srq.reserved = 1;
	EXPECT_FALSE(understood(context) || understood(ah) || understood(srq));
}

} // namespace
