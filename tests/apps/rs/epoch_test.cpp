/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Epochs: which ones a replica accepts, and from whom. */
#include <gtest/gtest.h>

#include <cerrno>

#include "rs/store/epoch.hpp"

namespace
{

using prism::rs::epoch_counter;
using prism::rs::EpochState;
using prism::rs::first_epoch;
using prism::rs::last_epoch_counter;
using prism::rs::longest_epoch_step;
using prism::rs::next_epoch;
using prism::rs::RepairTurn;
using namespace std::chrono_literals;

constexpr std::uint64_t last_epoch = ~std::uint64_t{0};

TEST(Epoch, TheNextIsLargerUntilThereIsNone)
{
	EXPECT_GT(next_epoch(first_epoch, 0), first_epoch);
	EXPECT_GT(next_epoch(first_epoch | 0xffffff, 0), first_epoch | 0xffffff);
	EXPECT_NE(next_epoch(first_epoch, 1), next_epoch(first_epoch, 2));
	EXPECT_GT(next_epoch(last_epoch >> 1, 0), last_epoch >> 1);
	EXPECT_FALSE(next_epoch(last_epoch, 5)) << "it would be smaller";
}

TEST(Epoch, AClientBringsANewerOne)
{
	EpochState state(true);
	const std::uint64_t next = *next_epoch(first_epoch, 77);
	EXPECT_TRUE(state.client_connects(next).drops);
	EXPECT_EQ(state.epoch(), next);
	EXPECT_FALSE(state.client_connects(next).drops);
	EXPECT_FALSE(state.client_connects(0).drops);
	EXPECT_EQ(state.epoch(), next);
}

TEST(Epoch, AClientRaisesItByOneStepAtMost)
{
	EpochState state(true);
	for (std::uint64_t step = 1; step < 5; step++) {
		EXPECT_TRUE(state.client_connects(last_epoch).drops);
		EXPECT_EQ(epoch_counter(state.epoch()), 1 + step * longest_epoch_step);
	}
	EXPECT_TRUE(next_epoch(state.epoch(), 0));
}

TEST(Epoch, AReplicaThatHasLostItsMemoryTakesItsFirstFromItsRepair)
{
	EpochState state(false);
	EXPECT_EQ(state.client_connects(first_epoch).error, ENOTRECOVERABLE);
	EXPECT_TRUE(state.repair_connects(5, false, 0s).drops);
	EXPECT_EQ(state.client_connects(first_epoch).error, ENOTRECOVERABLE);
	EXPECT_EQ(state.begin_epoch(4, first_epoch).error, EPERM);
	EXPECT_EQ(state.begin_epoch(5, 0).error, EOVERFLOW);
	EXPECT_EQ(state.begin_epoch(5, last_epoch).error, EOVERFLOW) << "no repair could follow";
	EXPECT_TRUE(state.begin_epoch(5, first_epoch).drops);
	EXPECT_FALSE(state.client_connects(2 * first_epoch).drops) << "it does not serve yet";
	EXPECT_EQ(state.epoch(), first_epoch);
	EXPECT_EQ(state.check_end(5, first_epoch + 1), ESTALE);
	EXPECT_EQ(state.check_end(4, first_epoch), EPERM);
	EXPECT_EQ(state.check_end(5, first_epoch), 0);
	state.end_repair();
	EXPECT_TRUE(state.serving());
	EXPECT_EQ(state.check_end(5, first_epoch), EPERM);
	EXPECT_EQ(state.begin_epoch(5, 2 * first_epoch).error, EPERM);
	EXPECT_EQ(state.repair_connects(6, false, 9s).error, EALREADY);
}

TEST(Epoch, AReplicaAtTheLastOneStaysThere)
{
	EpochState state(false);
	const std::uint64_t almost = (last_epoch_counter - 1) << prism::rs::epoch_random_bits;
	(void)state.repair_connects(1, false, 0s);
	EXPECT_FALSE(state.begin_epoch(1, almost).error);
	state.end_repair();
	EXPECT_TRUE(state.client_connects(last_epoch).drops);
	EXPECT_EQ(state.epoch(), last_epoch);
}

TEST(Repairs, OneOfAReplicaAtATime)
{
	EpochState state(false, 2s);
	EXPECT_FALSE(state.repair_connects(1, false, 10s).error);
	EXPECT_EQ(state.repair_connects(2, true, 11s).error, EBUSY);
	EXPECT_EQ(state.repairer(), 1u) << "the first goes on";
	EXPECT_EQ(state.repair_goes_on(1, 11s), 0);
	EXPECT_EQ(state.repair_goes_on(2, 11s), EPERM);
	EXPECT_EQ(state.repair_connects(2, true, 12s).error, EBUSY);
	EXPECT_FALSE(state.repair_connects(2, true, 13s).error) << "it was not heard of";
	EXPECT_EQ(state.repair_goes_on(1, 13s), EPERM);
	EXPECT_FALSE(state.repair_connects(3, false, 13s).error) << "its connection has ended";
}

TEST(Repairs, TakeTurns)
{
	RepairTurn turn(2s);
	EXPECT_EQ(turn.take(1, 10s), 0);
	EXPECT_EQ(turn.take(2, 11s), EBUSY);
	EXPECT_EQ(turn.take(1, 11s), 0);
	EXPECT_EQ(turn.take(2, 12s), EBUSY);
	EXPECT_EQ(turn.take(2, 13s), 0) << "the first was not heard of";
	EXPECT_EQ(turn.take(1, 13s), EBUSY);
	turn.give_back(1);
	EXPECT_EQ(turn.take(1, 13s), EBUSY);
	turn.give_back(2);
	EXPECT_EQ(turn.take(1, 13s), 0);
}

} // namespace
