/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/node/allocator.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <iterator>
#include <map>
#include <random>

using namespace prism::gam;

namespace
{

TEST(Allocator, NeverGivesTheNullAddress)
{
	Allocator allocator(4 * block_size);
	EXPECT_EQ(allocator.available(), 3 * block_size);
	for (int i = 0; i < 3; i++) {
		const auto piece = allocator.allocate(block_size);
		ASSERT_TRUE(piece);
		EXPECT_GE(piece->offset, block_size);
	}
	EXPECT_FALSE(allocator.allocate(1));
	EXPECT_EQ(allocator.available(), 0u);
}

TEST(Allocator, SmallObjectsLieInOneBlock)
{
	Allocator allocator(64 * block_size);
	for (std::uint64_t bytes = 0; bytes <= block_size; bytes++) {
		const auto piece = allocator.allocate(bytes);
		ASSERT_TRUE(piece) << bytes;
		EXPECT_GE(piece->bytes, bytes);
		EXPECT_EQ(piece->offset % piece->bytes, 0u);
		EXPECT_EQ(piece->offset / block_size, (piece->offset + piece->bytes - 1) / block_size);
		EXPECT_EQ(allocator.free(piece->offset), 0);
	}
}

TEST(Allocator, TakesBackOnceAndOnlyWhatItGave)
{
	Allocator allocator(16 * block_size);
	const auto piece = allocator.allocate(2 * block_size);
	ASSERT_TRUE(piece);
	EXPECT_EQ(allocator.free(piece->offset + block_size), EINVAL);
	EXPECT_EQ(allocator.free(piece->offset), 0);
	EXPECT_EQ(allocator.free(piece->offset), EINVAL);
	EXPECT_EQ(allocator.free(std::uint64_t{1} << 40), EINVAL);
}

TEST(Allocator, AlignsAndRefusesWhatItCannot)
{
	Allocator allocator(1024 * block_size);
	ASSERT_TRUE(allocator.allocate(block_size));
	const auto piece = allocator.allocate(24, 4096);
	ASSERT_TRUE(piece);
	EXPECT_EQ(piece->offset % 4096, 0u);
	EXPECT_FALSE(allocator.allocate(1, 3));
	EXPECT_FALSE(allocator.allocate(1, Allocator::max_alignment * 2));
	EXPECT_FALSE(allocator.allocate(~std::uint64_t{0}));
	EXPECT_FALSE(allocator.allocate(1024 * block_size));
}

TEST(Allocator, KnowsWhatIsFreshAndWhatIsAllocated)
{
	Allocator allocator(16 * block_size);
	const auto first = allocator.allocate(block_size);
	ASSERT_TRUE(first);
	EXPECT_TRUE(first->fresh);
	EXPECT_TRUE(allocator.is_allocated(first->offset / block_size));
	EXPECT_EQ(allocator.free(first->offset), 0);
	EXPECT_FALSE(allocator.is_allocated(first->offset / block_size));
	EXPECT_FALSE(allocator.is_allocated(1 << 20));
	const auto again = allocator.allocate(block_size);
	ASSERT_TRUE(again);
	EXPECT_FALSE(again->fresh && again->offset == first->offset);
}

/** Checks that allocations never overlap and that freed neighbours are joined again. */
TEST(Allocator, KeepsItsBooks)
{
	constexpr std::uint64_t blocks = 512;
	Allocator allocator(blocks * block_size);
	std::mt19937 random(7);
	std::map<std::uint64_t, std::uint64_t> held; /* offset, bytes */
	for (int step = 0; step < 20000; step++) {
		if (random() % 2 || held.empty()) {
			const auto piece = allocator.allocate(random() % (random() % 4 ? 600 : 20000));
			if (!piece)
				continue;
			const auto next = held.lower_bound(piece->offset);
			ASSERT_TRUE(next == held.end() || piece->offset + piece->bytes <= next->first);
			ASSERT_TRUE(next == held.begin() ||
				    std::prev(next)->first + std::prev(next)->second <= piece->offset);
			held.emplace(piece->offset, piece->bytes);
		} else {
			const auto victim = std::next(held.begin(), static_cast<long>(random() % held.size()));
			ASSERT_EQ(allocator.free(victim->first), 0);
			held.erase(victim);
		}
	}
	for (const auto &[offset, bytes] : held)
		ASSERT_EQ(allocator.free(offset), 0);
	EXPECT_EQ(allocator.available(), (blocks - 1) * block_size);
	EXPECT_TRUE(allocator.allocate((blocks - 1) * block_size));
}

} // namespace
