/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Holder of each buffer of a free list: double frees, buffers taken back by the device, recovery. */
#include <prism/free_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

namespace
{

using namespace prism;

constexpr std::uint64_t base = 0x10000;
constexpr std::uint32_t size = 64;

/* A free list as the devices implement it: in order of posting, buffers that were taken back first. */
class FakeDevice
{
public:
	FakeDevice(BufferLedger &of, std::uint32_t count) : ledger_(of)
	{
		for (std::uint32_t index = 0; index < count; index++)
			post(index);
	}

	void post(std::uint32_t index)
	{
		queue_.push_back(index);
		counters_.posted++;
		ledger_.posted(index);
	}

	/* Returns the address of the buffer, 0 if there is none. */
	std::uint64_t allocate()
	{
		std::deque<std::uint32_t> &from = returned_.empty() ? queue_ : returned_;
		if (from.empty())
			return 0;
		const std::uint32_t index = from.front();
		from.pop_front();
		counters_.popped++;
		return base + std::uint64_t{index} * size;
	}

	/* Takes a buffer back: its client died before the last packet of its ALLOCATE. */
	void take_back(std::uint64_t address)
	{
		returned_.push_back(static_cast<std::uint32_t>((address - base) / size));
		counters_.reclaimed++;
	}

	void reject()
	{
		ledger_.rejected(base + std::uint64_t{queue_.front()} * size);
		queue_.pop_front();
		counters_.rejected++;
	}

	void observe()
	{
		counters_.available = static_cast<std::uint32_t>(queue_.size() + returned_.size());
		counters_.allocatable = counters_.available;
		ledger_.observe(counters_);
	}

	Verdict free(std::uint64_t address)
	{
		observe();
		std::uint32_t index = 0;
		const Verdict verdict = ledger_.release(address, index);
		if (verdict == Verdict::released)
			post(index);
		return verdict;
	}

	std::size_t in_list() const { return queue_.size() + returned_.size(); }

private:
	BufferLedger &ledger_;
	std::deque<std::uint32_t> queue_;
	std::deque<std::uint32_t> returned_;
	prismdv_free_list_attr counters_{};
};

class Ledger : public testing::Test
{
protected:
	static constexpr std::uint32_t count = 4;
	BufferLedger ledger{base, size, count};
	FakeDevice device{ledger, count};

	std::set<std::uint64_t> recover(std::initializer_list<std::uint64_t> live)
	{
		device.observe();
		ledger.mark();
		for (const std::uint64_t address : live)
			ledger.spare(address);
		std::vector<std::uint32_t> leaked;
		ledger.collect(leaked);
		std::set<std::uint64_t> addresses;
		for (const std::uint32_t index : leaked) {
			addresses.insert(ledger.address_of(index));
			device.post(index);
		}
		return addresses;
	}
};

TEST_F(Ledger, FreesWhatIsAllocated)
{
	const std::uint64_t address = device.allocate();
	EXPECT_EQ(device.free(address), Verdict::released);
	EXPECT_EQ(device.in_list(), count);
}

TEST_F(Ledger, RefusesASecondFree)
{
	const std::uint64_t address = device.allocate();
	EXPECT_EQ(device.free(address), Verdict::released);
	EXPECT_EQ(device.free(address), Verdict::not_allocated);
	EXPECT_EQ(device.in_list(), count);
}

TEST_F(Ledger, RefusesASecondFreeBeforeTheFirstIsPosted)
{
	const std::uint64_t address = device.allocate();
	device.observe();
	std::uint32_t index = 0;
	EXPECT_EQ(ledger.release(address, index), Verdict::released);
	EXPECT_EQ(ledger.release(address, index), Verdict::not_allocated);
}

TEST_F(Ledger, RefusesWhatWasNeverHandedOut)
{
	device.allocate();
	EXPECT_EQ(device.free(base + 2 * size), Verdict::not_allocated);
}

TEST_F(Ledger, RefusesForeignAddresses)
{
	device.allocate();
	EXPECT_EQ(device.free(base - 1), Verdict::outside);
	EXPECT_EQ(device.free(0), Verdict::outside);
	EXPECT_EQ(device.free(base + count * size), Verdict::outside);
	EXPECT_EQ(device.free(~0ull), Verdict::outside);
	EXPECT_EQ(device.free(base + 1), Verdict::misaligned);
	EXPECT_EQ(device.free(base + 16), Verdict::misaligned);
}

TEST_F(Ledger, ABufferCanBeFreedAgainOnceItWasAllocatedAgain)
{
	for (int round = 0; round < 100; round++) {
		const std::uint64_t address = device.allocate();
		ASSERT_NE(address, 0u);
		ASSERT_EQ(device.free(address), Verdict::released);
		ASSERT_EQ(device.free(address), Verdict::not_allocated);
	}
}

TEST_F(Ledger, RejectedEntriesAreNobodysToFree)
{
	device.reject();
	EXPECT_EQ(device.free(base), Verdict::not_allocated);
	const std::uint64_t next = device.allocate();
	EXPECT_EQ(next, base + size);
	EXPECT_EQ(device.free(next), Verdict::released);
	EXPECT_EQ(recover({}), (std::set<std::uint64_t>{}));
}

TEST_F(Ledger, TakenBackBuffersMakeItInexactUntilTheListRunsEmpty)
{
	device.take_back(device.allocate());
	device.observe();
	EXPECT_FALSE(ledger.exact());
	/* The same buffer again: the counters cannot tell it from the next one of the queue. */
	const std::uint64_t again = device.allocate();
	EXPECT_EQ(again, base);
	EXPECT_EQ(device.free(base + size), Verdict::undecided);
	while (device.allocate())
		;
	device.observe();
	EXPECT_TRUE(ledger.exact());
	EXPECT_EQ(device.free(base + size), Verdict::released);
	EXPECT_EQ(device.free(base + size), Verdict::not_allocated);
	EXPECT_EQ(device.free(again), Verdict::released);
}

TEST_F(Ledger, RecoveryFindsWhatNobodyReaches)
{
	const std::uint64_t live = device.allocate();
	const std::uint64_t leaked = device.allocate();
	const std::uint64_t inside = device.allocate();
	EXPECT_EQ(recover({live, inside + 8}), std::set<std::uint64_t>{leaked});
	EXPECT_EQ(device.in_list(), 2u);
	EXPECT_EQ(recover({live, inside}), std::set<std::uint64_t>{}) << "a second scan finds nothing";
	EXPECT_EQ(device.free(leaked), Verdict::not_allocated) << "a late report of a recovered buffer";
}

TEST_F(Ledger, RecoveryLeavesAloneWhatChangedSinceItBegan)
{
	const std::uint64_t freed = device.allocate();
	device.observe();
	ledger.mark();
	EXPECT_EQ(device.free(freed), Verdict::released);
	const std::uint64_t younger = device.allocate();
	device.observe();
	std::vector<std::uint32_t> leaked;
	ledger.collect(leaked);
	EXPECT_TRUE(leaked.empty());
	EXPECT_EQ(device.free(younger), Verdict::released);
}

TEST_F(Ledger, OwnerDrainsTheList)
{
	const std::uint64_t held = device.allocate();
	std::vector<std::uint32_t> taken;
	while (const std::uint64_t address = device.allocate()) {
		std::uint32_t index = 0;
		ASSERT_TRUE(ledger.taken_by_owner(address, index));
		EXPECT_FALSE(ledger.taken_by_owner(address, index));
		taken.push_back(index);
	}
	EXPECT_EQ(taken.size(), count - 1u);
	EXPECT_EQ(recover({}), std::set<std::uint64_t>{held});
	for (const std::uint32_t index : taken)
		device.post(index);
	EXPECT_EQ(device.in_list(), count);
}

/*
 * Clients that allocate, free, free twice, die and leak at random: no buffer may ever be both in the list and with a
 * client, or in the list twice, and none may be lost for good.
 */
TEST(LedgerRandom, NoBufferIsInTwoPlaces)
{
	constexpr std::uint32_t count = 16;
	for (unsigned seed = 0; seed < 200; seed++) {
		std::mt19937 random(seed);
		BufferLedger ledger(base, size, count);
		FakeDevice device(ledger, count);
		std::set<std::uint64_t> held;
		std::set<std::uint64_t> leaked;
		std::set<std::uint64_t> waiting;
		for (int step = 0; step < 500; step++) {
			const unsigned what = random() % 100;
			if (what < 45) {
				const std::uint64_t address = device.allocate();
				if (!address)
					continue;
				ASSERT_TRUE(held.insert(address).second) << "handed out twice, seed " << seed;
				ASSERT_FALSE(waiting.contains(address)) << "seed " << seed;
			} else if (what < 85 && !held.empty()) {
				auto it = held.begin();
				std::advance(it, random() % held.size());
				const Verdict verdict = device.free(*it);
				ASSERT_TRUE(verdict == Verdict::released || verdict == Verdict::undecided)
					<< "seed " << seed;
				if (verdict == Verdict::undecided)
					waiting.insert(*it);
				held.erase(it);
			} else if (what < 90) {
				/* A stray free of a buffer that nobody holds must never be accepted. */
				const std::uint64_t address = base + random() % count * size;
				if (!held.contains(address) && !leaked.contains(address) &&
					!waiting.contains(address)) {
					ASSERT_NE(device.free(address), Verdict::released) << "seed " << seed;
				}
			} else if (what < 92) {
				/* Take back only in half of the runs, or the list would never be exact. */
				const std::uint64_t address = device.allocate();
				if (address && seed % 2)
					device.take_back(address);
				else if (address)
					leaked.insert(address);
			}
			for (auto it = waiting.begin(); it != waiting.end();)
				it = device.free(*it) == Verdict::released ? waiting.erase(it) : std::next(it);
		}
		ASSERT_LE(device.in_list() + held.size() + waiting.size() + leaked.size(), count) << "seed " << seed;
	}
}

} // namespace
