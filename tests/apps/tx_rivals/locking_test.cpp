/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Features of two-phase locking: modes of locks, round trips. */
#include "support.hpp"

#include <array>

namespace
{

using namespace tx_rivals;

using locking::Held;
using locking::LockTable;
using locking::Mode;

class Locks : public testing::Test
{
protected:
	LockResult lock(const std::string &key, Mode mode, Held &held) { return table.lock(bytes_of(key), mode, held); }

	LockTable table{2, 16, 64};
	Held first, second, third;
};

TEST_F(Locks, SharedAndExclusive)
{
	ASSERT_EQ(lock("a", Mode::shared, first), LockResult::ok);
	ASSERT_EQ(lock("a", Mode::shared, second), LockResult::ok);
	EXPECT_EQ(lock("a", Mode::exclusive, third), LockResult::conflict);
	EXPECT_EQ(table.upgrade(first), LockResult::conflict) << "there is another holder";
	table.release(second);
	EXPECT_EQ(table.upgrade(first), LockResult::ok);
	EXPECT_EQ(table.upgrade(first), LockResult::ok);
	EXPECT_EQ(lock("a", Mode::shared, second), LockResult::conflict);
	EXPECT_EQ(lock("b", Mode::exclusive, second), LockResult::ok);
	table.release(first);
	EXPECT_EQ(lock("a", Mode::exclusive, third), LockResult::ok);
}

TEST_F(Locks, ValuesAndTheirAbsence)
{
	ASSERT_EQ(lock("a", Mode::exclusive, first), LockResult::ok);
	EXPECT_FALSE(table.value(first));
	table.write(first, bytes_of("value"));
	EXPECT_EQ(text_of(*table.value(first)), "value");
	table.release(first);
	EXPECT_EQ(table.objects(), 1u);
	ASSERT_EQ(lock("a", Mode::shared, first), LockResult::ok);
	EXPECT_EQ(text_of(*table.value(first)), "value");
	ASSERT_EQ(table.upgrade(first), LockResult::ok);
	table.erase(first);
	EXPECT_FALSE(table.value(first));
	table.release(first);
	EXPECT_EQ(table.objects(), 0u);
}

TEST_F(Locks, OnlyWhatMayBeWrittenCounts)
{
	ASSERT_EQ(lock("a", Mode::exclusive, first), LockResult::ok);
	ASSERT_EQ(lock("b", Mode::exclusive, second), LockResult::ok);
	EXPECT_EQ(lock("c", Mode::exclusive, third), LockResult::full);
	ASSERT_EQ(lock("c", Mode::shared, third), LockResult::ok) << "that it is not there can be locked";
	EXPECT_EQ(table.upgrade(third), LockResult::full);
	table.release(second);
	EXPECT_EQ(table.upgrade(third), LockResult::ok);
}

TEST(LockingRoundTrips, OneShardNeedsNoPrepare)
{
	Served<Locking> served(2);
	auto client = served.client();
	const std::array<std::string, 2> of_shard = keys_of_two_shards();
	Job job;
	ASSERT_EQ(put(*client, of_shard[0], "value", &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 1u) << "blind";
	ASSERT_EQ(run(*client, rmw({of_shard[0]}), 0, &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 2u) << "fetch, commit";
	ASSERT_EQ(run(*client, rmw({of_shard[0], of_shard[1]}), 0, &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 3u) << "fetch, prepare, commit";
	EXPECT_EQ(get(*client, of_shard[1], &job), "written");
	EXPECT_EQ(job.round_trips, 1u) << "fetch";
	EXPECT_TRUE(wait_until([&] { return served.server(1).stats().releases == 1; })) << "nobody polls for it";
}

/* Two lanes that read one key in order to write it. */
TEST(LockingIntent, ExclusiveFetchIsRefusedEarly)
{
	Served<Locking> served;
	for (const bool exclusive : {false, true}) {
		LockingClientOptions options;
		options.depth = 2;
		options.exclusive_fetch = exclusive;
		auto client = served.client(options);
		unsigned fetched = 0, refused = 0;
		/* Body that goes on when both lanes have tried to fetch. */
		const Body body = [&](Transaction &t) -> apps::Task<int> {
			const std::string key = "key";
			const int error = co_await t.fetch(bytes_of(key));
			fetched++;
			refused += error != 0;
			unsigned others = 0;
			while (!error && fetched < 2) { /* until the other lane has tried */
				const std::string other = "other" + std::to_string(others++);
				(void)co_await t.fetch(bytes_of(other));
			}
			co_return error ? error : t.write(bytes_of(key), bytes_of("value"));
		};
		std::array<Job, 2> jobs;
		for (Job &job : jobs) {
			job.body = body;
			job.max_attempts = 1;
			ASSERT_EQ(client->start(job), 0);
		}
		std::array<Job *, 2> ended{};
		for (std::size_t count = 0; count < 2;)
			count += client->poll(std::span(ended).subspan(count));
		EXPECT_EQ(refused, exclusive ? 1u : 0u) << "otherwise one of them at its commit";
		EXPECT_EQ((jobs[0].outcome == Outcome::committed) + (jobs[1].outcome == Outcome::committed), 1);
		EXPECT_EQ((jobs[0].outcome == Outcome::conflict) + (jobs[1].outcome == Outcome::conflict), 1);
	}
}

} // namespace
