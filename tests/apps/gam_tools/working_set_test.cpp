/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks that the drawn operations have the workload's ratios. */
#include "bench/gam/working_set.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "bench/gam/outcome.hpp"

namespace
{

using namespace prism::gam;
using namespace prism::gam::micro;

constexpr std::size_t many = 100'000;

std::vector<Address> some_blocks(std::size_t count)
{
	std::vector<Address> blocks;
	for (std::size_t i = 0; i < count; i++)
		blocks.emplace_back(NodeId{1}, (i * 3 + 1) * block_size);
	return blocks;
}

double share(const std::vector<Origin> &plan, Origin origin)
{
	return static_cast<double>(std::count(plan.begin(), plan.end(), origin)) / static_cast<double>(plan.size());
}

TEST(WorkingSet, PlacesHaveTheirShares)
{
	Workload workload;
	workload.blocks = many;
	workload.remote = 0.25;
	workload.shared = 0.5;
	const std::vector<Origin> first = plan(workload, 0);
	EXPECT_NEAR(share(first, Origin::shared), 0.5, 0.01);
	EXPECT_NEAR(share(first, Origin::remote), 0.125, 0.01);
	EXPECT_EQ(first, plan(workload, 0));
	workload.remote = 1;
	workload.shared = 0;
	EXPECT_EQ(share(plan(workload, 0), Origin::remote), 1);
	workload.remote = 0;
	EXPECT_EQ(share(plan(workload, 0), Origin::local), 1);
	workload.shared = 1;
	EXPECT_EQ(share(plan(workload, 0), Origin::shared), 1);
}

TEST(WorkingSet, AllThreadsShareTheSamePlaces)
{
	Workload workload;
	workload.remote = 0.5;
	workload.shared = 0.5;
	const std::vector<Origin> one = plan(workload, 0);
	const std::vector<Origin> other = plan(workload, 1);
	EXPECT_NE(one, other);
	for (std::size_t i = 0; i < one.size(); i++)
		EXPECT_EQ(one[i] == Origin::shared, other[i] == Origin::shared);
}

TEST(ItemChooser, DrawsAllItemsOfAllBlocks)
{
	Workload workload;
	workload.reads = 0.75;
	ItemChooser items(workload, some_blocks(4), 0);
	std::set<Address> seen;
	std::size_t reads = 0;
	for (std::size_t i = 0; i < many; i++) {
		const ItemChooser::Item item = items.next();
		seen.insert(item.at);
		reads += item.is_read;
	}
	EXPECT_EQ(seen.size(), 4 * items_a_block);
	EXPECT_NEAR(static_cast<double>(reads) / many, 0.75, 0.01);
}

TEST(ItemChooser, LocalityIsThatOfTheSteps)
{
	Workload workload;
	workload.time = 0.5;
	workload.space = 0.5;
	const std::vector<Address> blocks = some_blocks(1000);
	ItemChooser items(workload, blocks, 7);
	Address last = items.next().at;
	std::size_t same = 0;
	std::size_t next = 0;
	for (std::size_t i = 0; i < many; i++) {
		const Address at = items.next().at;
		same += at == last;
		next += at == last + item_size;
		last = at;
	}
	EXPECT_NEAR(static_cast<double>(same) / many, 0.5, 0.01);
	EXPECT_NEAR(static_cast<double>(next) / many, 0.25, 0.01);
}

TEST(ItemChooser, WalksFromBlockToBlockOfTheSet)
{
	Workload workload;
	workload.space = 1;
	const std::vector<Address> blocks = some_blocks(3);
	ItemChooser items(workload, blocks, 0);
	std::set<Address> seen;
	for (std::size_t i = 0; i < 3 * items_a_block; i++)
		seen.insert(items.next().at);
	EXPECT_EQ(seen.size(), 3 * items_a_block);
}

TEST(ItemChooser, ThreadsHaveOperationsOfTheirOwn)
{
	const Workload workload;
	ItemChooser one(workload, some_blocks(1000), 0);
	ItemChooser again(workload, some_blocks(1000), 0);
	ItemChooser other(workload, some_blocks(1000), 1);
	std::size_t equal = 0;
	for (std::size_t i = 0; i < 1000; i++) {
		const Address at = one.next().at;
		EXPECT_EQ(at, again.next().at);
		equal += at == other.next().at;
	}
	EXPECT_LT(equal, 10U);
}

TEST(RunResult, GoesThroughJsonAndBack)
{
	RunResult result;
	result.operations = 5;
	result.rate = 2.5;
	result.busy = 1;
	result.nanoseconds = 7;
	result.reads.add(100);
	result.errors.add(EIO);
	std::uint64_t number = 1;
	for (const auto &[name, member] : coherence_counters)
		result.stats.*member = number++;
	EXPECT_EQ(RunResult::from_json(result.to_json()).to_json(), result.to_json());
	EXPECT_FALSE(result.clean());
	RunResult twice = result;
	twice.merge(result);
	EXPECT_EQ(twice.operations, 10U);
	EXPECT_EQ(twice.rate, 5);
	EXPECT_EQ(twice.nanoseconds, 7U);
	EXPECT_EQ(twice.each(twice.stats.messages), 0.6);
}

} // namespace
