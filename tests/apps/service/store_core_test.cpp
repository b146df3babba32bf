/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admission to a store, and the buffers that it takes for lost. */
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <vector>

#include "service/store_core.hpp"

namespace
{

using namespace prism;
using namespace prism::apps;
using namespace std::chrono_literals;

/** Device that records its calls. */
struct FakeDevice final : StoreDevice {
	struct List {
		std::uint32_t available = 10;
		std::uint64_t taken_back = 0;
		bool in_doubt = false;  /* until it is drained */
		bool runs_empty = true; /* if it is drained */
		std::uint64_t lost = 0;
		unsigned marked = 0, drained = 0, refilled = 0, collected = 0;
	};

	[[nodiscard]] std::size_t lists() const noexcept override { return all.size(); }
	[[nodiscard]] std::uint32_t available(std::size_t list) const noexcept override { return all[list].available; }
	[[nodiscard]] std::uint64_t taken_back(std::size_t list) const noexcept override
	{
		return all[list].taken_back;
	}
	Result<void> mark(std::size_t list) override
	{
		if (all[list].in_doubt)
			return make_error(EBUSY, "buffers are in doubt");
		all[list].marked++;
		return {};
	}
	bool drain(std::size_t list) override
	{
		all[list].drained++;
		all[list].in_doubt = all[list].in_doubt && !all[list].runs_empty;
		return all[list].runs_empty;
	}
	void refill(std::size_t list) override { all[list].refilled++; }
	void spare(std::uint64_t address) noexcept override { spared.push_back(address); }
	std::uint64_t collect(std::size_t list) override
	{
		all[list].collected++;
		return all[list].lost;
	}
	int take_reports() override
	{
		if (error)
			return -error;
		const int some = std::min(reports, 16);
		reports -= some;
		return some;
	}

	std::vector<List> all{2};
	std::vector<std::uint64_t> spared;
	int reports = 0;
	int error = 0;
};

struct TestedStore final : StoreCore {
	explicit TestedStore(StoreDevice &device, std::uint32_t connections = 2)
		: StoreCore(device, {100, connections, {{64, 10}, {128, 5}}}, {10s, 1s, 4})
	{
	}

	[[nodiscard]] std::uint64_t slots() const override { return 8; }
	void look_at(std::uint64_t index) override { spare(index); }
	void ask_to_settle(std::uint32_t client, std::uint64_t value) override { recovery().settled(client, value); }
	void cut_off(std::uint32_t client) override { leave(client); }
	void put_off(const std::string &) override {}

	/** Runs until the scan that is due has ended, or is put off. */
	void scan()
	{
		for (unsigned turn = 0; turn < 10; turn++)
			recovery().go_on(now += 2s);
	}

	using StoreCore::admit;
	using StoreCore::enter;
	using StoreCore::is_open;
	using StoreCore::leave;
	using StoreCore::next_place;
	using StoreCore::recovery;
	using StoreCore::take_reports;
	std::chrono::nanoseconds now{};
};

TEST(RegionLayout, HasSlotsThenScratchesThenBuffers)
{
	const RegionLayout layout(100, 3, {{64, 10}, {128, 5}});
	EXPECT_EQ(layout.slot_bytes(), 128u);
	EXPECT_EQ(layout.scratch(0), 128u);
	EXPECT_EQ(layout.scratch(2), 256u);
	EXPECT_EQ(layout.buffers(0), 320u);
	EXPECT_EQ(layout.buffers(1), 960u);
	EXPECT_EQ(layout.bytes(), 1600u);
}

TEST(RegionLayout, SaysWhatIsMoreThanSixtyFourBitsTell)
{
	constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
	EXPECT_EQ(RegionLayout(saturated, 1, {}).bytes(), saturated);
	EXPECT_EQ(RegionLayout(64, 1, {{most, most}, {most, most}}).bytes(), saturated);
}

TEST(StoreConnections, HaveNumbersAndScratchesOfTheirOwn)
{
	FakeDevice device;
	TestedStore store(device);
	const auto first = store.next_place();
	ASSERT_TRUE(first);
	store.admit();
	const auto second = store.next_place();
	ASSERT_TRUE(second);
	EXPECT_NE(first->number, second->number);
	EXPECT_NE(first->scratch, second->scratch);
	store.admit();
	EXPECT_FALSE(store.next_place());
	EXPECT_TRUE(store.is_open(first->number));
	store.leave(first->number);
	EXPECT_FALSE(store.is_open(first->number));
	const auto third = store.next_place();
	ASSERT_TRUE(third);
	EXPECT_EQ(third->scratch, first->scratch);
	EXPECT_NE(third->number, first->number);
}

TEST(StoreConnections, TakeNothingUntilTheyAreAdmitted)
{
	FakeDevice device;
	TestedStore store(device);
	const auto refused = store.next_place();
	ASSERT_TRUE(refused);
	EXPECT_FALSE(store.is_open(refused->number));
	EXPECT_EQ(store.next_place()->number, refused->number);
}

TEST(StoreConnections, OnTheirWayHoldAScanUp)
{
	FakeDevice device;
	TestedStore store(device);
	const std::uint32_t number = store.next_place()->number;
	store.admit();
	store.recovery().want();
	store.scan();
	EXPECT_EQ(store.recovery().stats().scans, 0u);
	store.enter(number);
	store.scan();
	EXPECT_EQ(store.recovery().stats().scans, 1u);
}

TEST(StoreConnections, ThatNeverEnteredLeaveNoScanBehind)
{
	FakeDevice device;
	TestedStore store(device);
	const std::uint32_t number = store.next_place()->number;
	store.admit();
	store.leave(number);
	EXPECT_TRUE(store.recovery().idle());
}

TEST(LostBuffers, OfAllListsAreCollectedOnceClientsLeave)
{
	FakeDevice device;
	device.all[0].lost = 3;
	device.all[1].lost = 4;
	TestedStore store(device);
	const std::uint32_t number = store.next_place()->number;
	store.admit();
	store.enter(number);
	store.leave(number);
	store.scan();
	EXPECT_EQ(store.recovery().stats().scans, 1u);
	EXPECT_EQ(store.recovery().stats().recovered, 7u);
	EXPECT_EQ(device.spared.size(), 8u);
	EXPECT_EQ(device.all[0].drained, 0u);
}

TEST(LostBuffers, AreLeftIfTheDeviceTookSomeBackMeanwhile)
{
	FakeDevice device;
	TestedStore store(device);
	store.recovery().want();
	store.recovery().go_on(1s);
	ASSERT_EQ(device.all[1].marked, 1u);
	device.all[1].taken_back++;
	for (unsigned turn = 0; turn < 4; turn++)
		store.recovery().go_on(1s);
	EXPECT_EQ(device.all[0].collected + device.all[1].collected, 0u);
	EXPECT_EQ(store.recovery().stats().put_off, 1u);
}

TEST(ListsInDoubt, AreDrainedMarkedAndFilledAgain)
{
	FakeDevice device;
	device.all[1].in_doubt = true;
	TestedStore store(device);
	EXPECT_EQ(store.recovery().request(1s), 0);
	EXPECT_EQ(device.all[1].drained, 1u);
	EXPECT_EQ(device.all[1].marked, 1u);
	EXPECT_EQ(device.all[1].refilled, 1u);
	EXPECT_EQ(device.all[0].drained, 0u);
}

TEST(ListsInDoubt, AreFilledAgainThoughTheyDidNotRunEmpty)
{
	FakeDevice device;
	device.all[0].in_doubt = true;
	device.all[0].runs_empty = false;
	TestedStore store(device);
	EXPECT_EQ(store.recovery().request(1s), EBUSY);
	EXPECT_EQ(device.all[0].refilled, 1u);
	EXPECT_EQ(store.recovery().stats().put_off, 1u);
}

TEST(ListsInDoubt, ThatAreLargeAreNotDrained)
{
	FakeDevice device;
	device.all[0].in_doubt = true;
	device.all[0].available = 1 << 20;
	TestedStore store(device);
	EXPECT_EQ(store.recovery().request(1s), EBUSY);
	EXPECT_EQ(device.all[0].drained, 0u);
}

TEST(Reports, AreAllTakenBeforeAScanEnds)
{
	FakeDevice device;
	device.reports = 1000;
	TestedStore store(device);
	EXPECT_TRUE(store.take_reports());
	EXPECT_EQ(device.reports, 0);
	device.error = EIO;
	EXPECT_FALSE(store.take_reports());
}

} // namespace
