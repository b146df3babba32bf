/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel module's count of requests under way, and free lists that ask it, against a naive model that remembers,
 * for each entry, which requests were under way when it was posted.
 */
#include <atomic>
#include <deque>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../rounds.hpp"
#include "generations.hpp"
#include "random.hpp"

namespace
{

using prism::test::Random;

/** A list, and the requests of its device on any processor. */
class Schedule
{
public:
	/** A request under way: its number here, and what it holds. */
	struct Running {
		std::uint64_t number;
		std::uint8_t begun;
		bool operator<(const Running &other) const { return number < other.number; }
	};

	Schedule() { prism_generations_init(&generations_); }

	void post()
	{
		list_.producer++;
		waits_for_.push_back(running_);
	}

	Running begin(std::uint32_t processor = 0)
	{
		const Running request{++begun_, prism_generations_begin(&generations_, processor)};
		running_.insert(request);
		return request;
	}

	void end(const Running &request, std::uint32_t processor = 0)
	{
		prism_generations_end(&generations_, processor, request.begun);
		running_.erase(request);
	}

	void end_some(Random &random, std::uint32_t processor)
	{
		if (!running_.empty())
			end(*std::next(running_.begin(), static_cast<long>(random.below(running_.size()))), processor);
	}

	/** Takes the next entry, if it may be taken. @p self: the request that must not wait for itself */
	bool take(std::uint8_t self = 0)
	{
		std::uint64_t begun;
		const std::uint64_t oldest = prism_generations_look(&generations_, self, &begun);
		prism_freelist_advance(&list_, begun, oldest);
		if (prism_freelist_empty(&list_))
			return false;
		for (const Running &reader : waits_for_.front())
			EXPECT_FALSE(running_.contains(reader))
				<< "request " << reader.number << " may still read the buffer";
		waits_for_.pop_front();
		list_.consumer++;
		return true;
	}

	/** Begins an ALLOCATE, which reads nothing: an entry waits for it only by chance. */
	std::uint8_t begin_allocate(std::uint32_t processor = 0)
	{
		return prism_generations_begin(&generations_, processor);
	}

	void end_allocate(std::uint8_t begun, std::uint32_t processor)
	{
		prism_generations_end(&generations_, processor, begun);
	}

	[[nodiscard]] bool quiet() const { return running_.empty(); }
	[[nodiscard]] std::size_t posted() const { return waits_for_.size(); }

private:
	prism_generations generations_{};
	prism_freelist list_{};
	std::deque<std::set<Running>> waits_for_;
	std::set<Running> running_;
	std::uint64_t begun_ = 0;
};

void allocate(Schedule &schedule, std::uint32_t from, std::uint32_t to)
{
	const std::uint8_t self = schedule.begin_allocate(from);
	schedule.take(self);
	schedule.end_allocate(self, to);
}

/** Any schedule; in the end everything is handed out. */
TEST(Generations, NeverHandOutWhatMayBeRead)
{
	for (std::uint64_t seed = 0; seed < 100; seed++) {
		Random random(seed);
		Schedule schedule;
		const auto processor = [&] { return static_cast<std::uint32_t>(random.below(2 * PRISM_SLOTS)); };
		for (int step = 0; step < 2000; step++) {
			switch (random.below(6)) {
			case 0:
				schedule.post();
				break;
			case 1:
				schedule.begin(processor());
				break;
			case 2:
			case 3:
				schedule.end_some(random, processor());
				break;
			case 4:
				allocate(schedule, processor(), processor());
				break;
			default:
				schedule.take();
				break;
			}
		}
		while (!schedule.quiet())
			schedule.end_some(random, processor());
		while (schedule.posted())
			ASSERT_TRUE(schedule.take());
		ASSERT_FALSE(HasFailure());
	}
}

TEST(Generations, OneReaderHoldsBackWhatWasPostedDuringIt)
{
	Schedule schedule;
	schedule.post();
	EXPECT_TRUE(schedule.take()) << "nothing is under way";
	const Schedule::Running reader = schedule.begin();
	schedule.post();
	for (int i = 0; i < 5; i++)
		EXPECT_FALSE(schedule.take());
	schedule.end(reader, 1);
	EXPECT_TRUE(schedule.take());
}

/** It waits for readers of the present generation and of the one before, but never for itself. */
TEST(Generations, ARequestDoesNotWaitForItself)
{
	Schedule schedule;
	const std::uint8_t self = schedule.begin_allocate();
	schedule.post();
	EXPECT_TRUE(schedule.take(self));
	EXPECT_FALSE(schedule.take()) << "that was the last, and a new generation begins";
	schedule.post();
	EXPECT_TRUE(schedule.take(self));
	const Schedule::Running reader = schedule.begin();
	ASSERT_NE(reader.begun, self) << "another generation";
	schedule.post();
	EXPECT_FALSE(schedule.take(self));
	schedule.end(reader);
	EXPECT_TRUE(schedule.take(self));
}

/** Grace advances although there are always requests under way, as long as each of them ends. */
TEST(Generations, AdvanceUnderUnbrokenTraffic)
{
	Schedule schedule;
	std::deque<Schedule::Running> running;
	for (std::uint32_t i = 0; i < 8; i++)
		running.push_back(schedule.begin(i));
	schedule.post();
	for (std::uint32_t waited = 0; !schedule.take(); waited++) {
		ASSERT_LT(waited, 40u);
		running.push_back(schedule.begin(waited));
		schedule.end(running.front(), waited + 3);
		running.pop_front();
	}
	EXPECT_FALSE(schedule.quiet());
}

/*
 * Threads act as processors: readers take the pointer and check what it points to; an owner takes the pointer away,
 * waits as a free list does, and writes. A reader that finds what was written held a buffer that was handed out too
 * early.
 */
TEST(Generations, OvertakeNoReader)
{
	constexpr int enough = prism::test::rounds(2000), most = 50'000'000;
	prism_generations generations;
	prism_generations_init(&generations);
	std::atomic<const std::atomic<int> *> pointer{nullptr};
	std::atomic<bool> done{false};
	std::atomic<int> overtaken{0}, found{0};
	std::vector<std::thread> readers;
	for (std::uint32_t processor = 0; processor < 2; processor++) {
		readers.emplace_back([&, processor] {
			while (!done) {
				const std::uint8_t begun = prism_generations_begin(&generations, processor);
				if (const std::atomic<int> *target = pointer) {
					const int first = *target;
					found++;
					for (int again = 0; again < 20; again++)
						overtaken += *target != first;
				}
				prism_generations_end(&generations, 1 - processor, begun);
			}
		});
	}
	std::atomic<int> buffers[2] = {};
	std::uint64_t present, other;
	for (int round = 0; found < enough && round < most; round++) {
		pointer = &buffers[round % 2];
		pointer = nullptr;
		std::uint64_t oldest = prism_generations_look(&generations, 0, &present);
		while (oldest <= present) {
			std::this_thread::yield();
			oldest = prism_generations_look(&generations, 0, &other);
		}
		buffers[round % 2] = round + 1;
	}
	done = true;
	for (std::thread &reader : readers)
		reader.join();
	EXPECT_GE(found, enough);
	EXPECT_EQ(overtaken, 0);
}

} // namespace
