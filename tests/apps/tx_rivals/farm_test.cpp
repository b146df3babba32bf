/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* FaRM's own features: READs, marks, round trips, the index. */
#include "support.hpp"

#include "farm/kind.hpp"
#include "farm/object_table.hpp"
#include "service/key_hash.hpp"

#include <array>
#include <cerrno>
#include <random>
#include <set>

namespace
{

using namespace tx_rivals;

using farm::Bucket;
using farm::BucketChange;
using farm::Geometry;
using farm::Lock;
using farm::LockKind;
using farm::Mark;
using farm::MarkKind;
using farm::ObjectHeader;
using farm::ObjectTable;

Body read_only(unsigned count)
{
	return [count](Transaction &t) -> apps::Task<int> {
		std::vector<std::string> names;
		std::vector<Bytes> keys;
		for (unsigned i = 0; i < count; i++)
			names.push_back("key" + std::to_string(i));
		for (const std::string &name : names)
			keys.push_back(bytes_of(name));
		co_return co_await t.fetch(keys);
	};
}

TEST(FarmRoundTrips, AsInThePaper)
{
	Served<Farm> served(2);
	auto client = served.client();
	Job job;
	for (unsigned i = 0; i < 10; i++)
		ASSERT_EQ(put(*client, "key" + std::to_string(i), "value", &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 2u) << "blind: lock, update";
	ASSERT_EQ(run(*client, rmw({"key1"}), 0, &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 4u) << "bucket, object, lock, update";
	ASSERT_EQ(run(*client, rmw({"key1", "key2", "key3", "key4", "key5", "key6"}), 0, &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 4u);
	ASSERT_EQ(run(*client, rmw({"fresh"}), 0, &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 3u) << "bucket, lock, update";
	ASSERT_EQ(run(*client, read_only(1), 0, &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 2u) << "one key needs no validation";
	ASSERT_EQ(run(*client, read_only(2), 0, &job), Outcome::committed);
	EXPECT_EQ(job.round_trips, 3u);
}

TEST(FarmReads, TheServersProcessorHasNoPartInThem)
{
	Served<Farm> served;
	auto client = served.client();
	for (unsigned i = 0; i < 10; i++)
		ASSERT_EQ(put(*client, "key" + std::to_string(i), "value"), Outcome::committed);
	const std::uint64_t requests = served.server().stats().server.requests;
	ASSERT_EQ(run(*client, read_only(4)), Outcome::committed);
	EXPECT_EQ(served.server().stats().server.requests, requests);
	EXPECT_EQ(client->stats().validations, 4u);
	/* More than the threshold: one call */
	ASSERT_EQ(run(*client, read_only(5)), Outcome::committed);
	EXPECT_EQ(served.server().stats().server.requests, requests + 1);
	EXPECT_EQ(served.server().stats().validates, 1u);
	EXPECT_EQ(client->stats().validations, 4u);
}

TEST(FarmReads, DamageIsFound)
{
	Served<Farm> served;
	auto client = served.client();
	ASSERT_EQ(put(*client, "key", "value"), Outcome::committed);
	ASSERT_TRUE(served.server().damage(bytes_of("key")));
	Job job;
	const Body read = [](Transaction &t) -> apps::Task<int> { co_return co_await t.fetch(bytes_of("key")); };
	EXPECT_EQ(run(*client, read, 0, &job), Outcome::rolled_back);
	EXPECT_EQ(job.error, EIO);
	EXPECT_EQ(client->stats().torn, FarmClient::patience_reads);
	ASSERT_TRUE(served.server().damage(bytes_of("key")));
	EXPECT_EQ(get(*client, "key"), "value");
}

/* The index tells how much to READ; after a change of size a read still takes no second READ. */
TEST(FarmReads, HintsFollowTheValues)
{
	Served<Farm> served;
	auto client = served.client();
	Job job;
	for (const std::size_t size : {1, 1000, 0, 17, 512, 16, 1024}) {
		ASSERT_EQ(put(*client, "key", std::string(size, 'v')), Outcome::committed);
		EXPECT_EQ(get(*client, "key", &job)->size(), size);
		EXPECT_EQ(job.round_trips, 2u) << size;
	}
	EXPECT_EQ(client->stats().second, 0u);
}

/* Two lanes of one client, in an order chosen by the test: the first has read when the second commits. */
class FarmInterleaved : public testing::Test
{
protected:
	/* Runs one attempt of a transaction, with @p between between its fetch and its commit. Returns its outcome. */
	Outcome interleave(const std::vector<std::string> &reads, const std::function<void(Transaction &)> &writes,
		const std::function<void()> &between)
	{
		const Body body = [&](Transaction &t) -> apps::Task<int> {
			std::vector<Bytes> keys;
			for (const std::string &name : reads)
				keys.push_back(bytes_of(name));
			if (const int error = co_await t.fetch(keys))
				co_return error;
			writes(t);
			between();
			co_return 0;
		};
		return run(*client, body, 1);
	}

	Served<Farm> served{2};
	std::unique_ptr<FarmClient> client = served.client();
	std::unique_ptr<FarmClient> other = served.client();
	const std::function<void(Transaction &)> nothing = [](Transaction &) {};
	const std::function<void(Transaction &)> write_z = [](Transaction &t) {
		EXPECT_EQ(t.write(bytes_of("z"), bytes_of("1")), 0);
	};
};

TEST_F(FarmInterleaved, WhatWasReadHasChanged)
{
	for (const std::string key : {"a", "b", "c", "d", "e", "f", "g"})
		ASSERT_EQ(put(*client, key, "0"), Outcome::committed);
	const auto change = [&] { ASSERT_EQ(put(*other, "a", "1"), Outcome::committed); };
	const auto remove = [&] { ASSERT_EQ(erase(*other, "a"), Outcome::committed); };
	const auto insert = [&] { ASSERT_EQ(put(*other, "a", "2"), Outcome::committed); };
	EXPECT_EQ(interleave({"a", "b"}, nothing, [] {}), Outcome::committed);
	EXPECT_EQ(interleave({"a", "b"}, nothing, change), Outcome::conflict);
	EXPECT_EQ(interleave({"a"}, write_z, change), Outcome::conflict);
	/* Validated by a call */
	EXPECT_EQ(interleave({"a", "b", "c", "d", "e", "f", "g"}, write_z, change), Outcome::conflict);
	EXPECT_EQ(interleave({"a", "b"}, write_z, remove), Outcome::conflict);
	EXPECT_EQ(interleave({"a", "b"}, write_z, insert), Outcome::conflict) << "it was read that it is not there";
	EXPECT_EQ(interleave({"a", "b"}, write_z,
			  [&] {
				  remove();
				  insert();
			  }),
		Outcome::conflict);
	EXPECT_EQ(get(*client, "z"), std::nullopt);
	/* A single read needs no validation. */
	EXPECT_EQ(interleave({"a"}, nothing, change), Outcome::committed);
	EXPECT_EQ(interleave({"a", "b"}, write_z, [&] { get(*other, "a"); }), Outcome::committed);
	EXPECT_EQ(get(*client, "z"), "1");
}

TEST_F(FarmInterleaved, WhatIsWrittenHasChanged)
{
	const std::function<void(Transaction &)> write_a = [](Transaction &t) {
		EXPECT_EQ(t.write(bytes_of("a"), bytes_of("mine")), 0);
	};
	const auto change = [&] { ASSERT_EQ(put(*other, "a", "theirs"), Outcome::committed); };
	EXPECT_EQ(interleave({"a"}, write_a, change), Outcome::conflict) << "absent";
	EXPECT_EQ(get(*client, "a"), "theirs");
	EXPECT_EQ(interleave({"a"}, write_a, change), Outcome::conflict);
	EXPECT_EQ(interleave({"b"}, write_a, change), Outcome::committed) << "blind";
	EXPECT_EQ(get(*client, "a"), "mine");
	EXPECT_EQ(interleave({"a"}, write_a, [&] { ASSERT_EQ(erase(*other, "a"), Outcome::committed); }),
		Outcome::conflict);
	EXPECT_EQ(get(*client, "a"), std::nullopt);
	EXPECT_TRUE(comes_to_objects(served, 0)) << "no lock is left";
}

/* Returns @p count keys of one bucket, more than it holds. */
std::vector<std::string> keys_of_one_bucket(std::uint64_t objects, unsigned count)
{
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const ProtectionDomain pd = ProtectionDomain::create(context).value();
	const auto table = ObjectTable::create(pd, {objects, longest_key, 64}).value();
	const auto home = [&](const std::string &key) {
		return table->geometry().home_of(apps::hash_key(bytes_of(key), hash_seed));
	};
	std::vector<std::string> keys{"0"};
	for (unsigned i = 1; keys.size() < count; i++) {
		if (home(std::to_string(i)) == home("0"))
			keys.push_back(std::to_string(i));
	}
	return keys;
}

/* Inserting a key changes the bucket of keys that the same transaction has found absent; this is no conflict. */
TEST(FarmIndex, OwnInsertsAreNoConflict)
{
	constexpr std::uint64_t objects = 100;
	Served<Farm> served(1, objects);
	auto client = served.client();
	const std::vector<std::string> keys = keys_of_one_bucket(objects, 14);
	const Body body = [&](Transaction &t) -> apps::Task<int> {
		const std::array absent{bytes_of(keys[0]), bytes_of(keys[1]), bytes_of(keys[2])};
		if (const int error = co_await t.fetch(absent))
			co_return error;
		EXPECT_EQ(t.write(absent[1], bytes_of("read")), 0);
		for (unsigned i = 3; i < 13; i++)
			EXPECT_EQ(t.write(bytes_of(keys[i]), bytes_of("blind")), 0);
		co_return 0;
	};
	EXPECT_EQ(run(*client, body, 1), Outcome::committed);
	EXPECT_EQ(get(*client, keys[0]), std::nullopt);
	EXPECT_EQ(get(*client, keys[1]), "read");
	for (unsigned i = 3; i < 13; i++)
		EXPECT_EQ(get(*client, keys[i]), "blind");
	/* But an insert by another client is. */
	auto other = served.client();
	const Body overtaken = [&](Transaction &t) -> apps::Task<int> {
		const std::array absent{bytes_of(keys[0]), bytes_of(keys[2])};
		if (const int error = co_await t.fetch(absent))
			co_return error;
		EXPECT_EQ(t.write(bytes_of(keys[13]), bytes_of("blind")), 0);
		EXPECT_EQ(put(*other, keys[0], "theirs"), Outcome::committed);
		co_return 0;
	};
	EXPECT_EQ(run(*client, overtaken, 1), Outcome::conflict);
	EXPECT_EQ(get(*client, keys[13]), std::nullopt);
}

TEST(FarmIndex, ChainedBuckets)
{
	constexpr std::uint64_t objects = 100;
	Served<Farm> served(1, objects);
	auto client = served.client();
	const std::vector<std::string> keys = keys_of_one_bucket(objects, 3 * Bucket::width + 1);
	for (const std::string &key : keys)
		ASSERT_EQ(put(*client, key, "of " + key), Outcome::committed);
	Job job;
	for (const std::string &key : keys)
		EXPECT_EQ(get(*client, key, &job), "of " + key);
	EXPECT_EQ(job.round_trips, 5u) << "four buckets and the object";
	/* The keys in front are erased; those behind are still found, and gaps are filled. */
	for (std::size_t i = 0; i < Bucket::width; i++)
		ASSERT_EQ(erase(*client, keys[i]), Outcome::committed);
	for (std::size_t i = Bucket::width; i < keys.size(); i++)
		EXPECT_EQ(get(*client, keys[i]), "of " + keys[i]);
	ASSERT_EQ(put(*client, keys[0], "again"), Outcome::committed);
	EXPECT_EQ(get(*client, keys[0], &job), "again");
	EXPECT_EQ(job.round_trips, 2u);
}

class FarmTable : public testing::Test
{
protected:
	Lock make(const std::string &key, const std::string &value)
	{
		Lock lock;
		BucketChange change;
		EXPECT_EQ(table->lock_key(bytes_of(key), LockKind::absent_key, 10, lock, change), LockResult::ok);
		EXPECT_EQ(change.after.word, change.before + 1);
		EXPECT_TRUE(lock.made);
		table->update(lock, bytes_of(value));
		return lock;
	}
	ObjectHeader header(const Lock &lock)
	{
		ObjectHeader read;
		const auto *place = reinterpret_cast<const std::byte *>(table->objects().address);
		std::memcpy(&read, place + std::size_t{lock.object} * table->geometry().object_size, sizeof(read));
		return read;
	}

	Context context = Context::open("prism_lo", Progress::caller).value();
	ProtectionDomain pd = ProtectionDomain::create(context).value();
	std::unique_ptr<ObjectTable> table = ObjectTable::create(pd, {4, 16, 64}).value();
};

TEST_F(FarmTable, LocksExcludeEachOther)
{
	const Lock made = make("key", "value");
	const std::uint64_t state = header(made).mark.word;
	Lock lock, second;
	BucketChange change;
	EXPECT_EQ(table->lock_object(made.object, state + 4, lock), LockResult::conflict) << "another version";
	EXPECT_EQ(table->lock_object(made.object, state | farm::locked, lock), LockResult::conflict);
	EXPECT_EQ(table->lock_object(100, state, lock), LockResult::conflict);
	EXPECT_EQ(table->lock_key(bytes_of("key"), LockKind::absent_key, 0, lock, change), LockResult::conflict);
	ASSERT_EQ(table->lock_object(made.object, state, lock), LockResult::ok);
	EXPECT_EQ(header(made).mark.word, state | farm::locked) << "clients see it";
	EXPECT_EQ(table->lock_object(made.object, state, second), LockResult::conflict);
	EXPECT_EQ(table->lock_key(bytes_of("key"), LockKind::any_key, 0, second, change), LockResult::conflict);
	EXPECT_FALSE(table->unchanged(MarkKind::object, made.object, {state, 0}));
	table->release(lock);
	EXPECT_TRUE(table->unchanged(MarkKind::object, made.object, {state, 0}));
	ASSERT_EQ(table->lock_key(bytes_of("key"), LockKind::any_key, 0, lock, change), LockResult::ok);
	EXPECT_EQ(change.after.word, change.before);
	table->update(lock, bytes_of("other"));
	EXPECT_EQ(header(made).mark.word, farm::next_state(state, true));
}

TEST_F(FarmTable, PlacesAreUsedAgainAndVersionsGoOn)
{
	std::set<std::uint64_t> states;
	std::uint32_t place = 0;
	for (int round = 0; round < 10; round++) {
		const Lock made = make("key" + std::to_string(round), "value");
		EXPECT_TRUE(round == 0 || made.object == place);
		place = made.object;
		const std::uint64_t state = header(made).mark.word;
		EXPECT_TRUE(states.insert(state).second);
		Lock lock;
		ASSERT_EQ(table->lock_object(made.object, state, lock), LockResult::ok);
		table->erase(lock);
		EXPECT_EQ(table->lock_object(made.object, state, lock), LockResult::conflict);
		EXPECT_FALSE(table->unchanged(MarkKind::object, made.object, {state, 0}));
		EXPECT_EQ(table->used(), 0u);
	}
}

TEST_F(FarmTable, AbortOfAnInsertLeavesNothing)
{
	Lock lock, second;
	BucketChange change;
	ASSERT_EQ(table->lock_key(bytes_of("key"), LockKind::any_key, 0, lock, change), LockResult::ok);
	EXPECT_EQ(table->used(), 1u);
	table->release(lock);
	EXPECT_EQ(table->used(), 0u);
	ASSERT_EQ(table->lock_key(bytes_of("key"), LockKind::absent_key, 0, second, change), LockResult::ok);
	table->release(second);
}

TEST_F(FarmTable, FullIsSaid)
{
	std::array<Lock, 5> locks;
	BucketChange change;
	for (unsigned i = 0; i < 4; i++)
		ASSERT_EQ(table->lock_key(bytes_of(std::to_string(i)), LockKind::any_key, 0, locks[i], change),
			LockResult::ok);
	EXPECT_EQ(table->lock_key(bytes_of("4"), LockKind::any_key, 0, locks[4], change), LockResult::full);
	table->release(locks[2]);
	EXPECT_EQ(table->lock_key(bytes_of("4"), LockKind::any_key, 0, locks[4], change), LockResult::ok);
}

/* Every field of a server's geometry that contradicts another one is refused. */
TEST(FarmGeometry, OfAServerThatIsNotTrusted)
{
	const Geometry good{100, 120, 1000, 1152, 32768, 0, 1};
	ConnectionRecord record;
	record.regions = {
		{farm::index_region, {4096, 120 * sizeof(Bucket), 1}}, {farm::object_region, {65536, 1000 * 1152, 2}}};
	const apps::Hello hello{farm::store_kind, 64, 1024, 16};
	const auto parses = [&](const Geometry &geometry) {
		std::array<std::byte, Geometry::size> own{};
		geometry.serialize(own);
		record.private_data = hello.serialize(own);
		return Geometry::parse(record, hello).ok();
	};
	const auto changed = [&](auto member, auto value) {
		Geometry geometry = good;
		geometry.*member = value;
		return parses(geometry);
	};
	EXPECT_TRUE(parses(good));
	EXPECT_FALSE(changed(&Geometry::home_buckets, 0));
	EXPECT_FALSE(changed(&Geometry::home_buckets, 121));
	EXPECT_FALSE(changed(&Geometry::buckets, 121));
	EXPECT_FALSE(changed(&Geometry::buckets, ~std::uint64_t{0} / 64 + 2));
	EXPECT_FALSE(changed(&Geometry::objects, 0));
	EXPECT_FALSE(changed(&Geometry::objects, 1001));
	EXPECT_FALSE(changed(&Geometry::object_size, 1111)) << "the longest object has 1112 bytes";
	EXPECT_FALSE(changed(&Geometry::object_size, 0));
	EXPECT_FALSE(changed(&Geometry::message_size, 16383));
	EXPECT_FALSE(changed(&Geometry::message_size, 65537));
	EXPECT_FALSE(changed(&Geometry::shard, 1));
	record.regions.pop_back();
	EXPECT_FALSE(parses(good));
}

/* If the first answer ends the transaction, the other updates still happen. */
TEST(FarmCommit, BothWaysOfCounting)
{
	Served<Farm> served(3);
	for (const bool first : {true, false}) {
		FarmClientOptions options;
		options.first_answer_counts = first;
		auto client = served.client(options);
		const std::vector<std::string> names{"1", "2", "3", "4", "5", "6", "7", "8"};
		for (int round = 0; round < 20; round++) {
			ASSERT_EQ(run(*client, rmw(names)), Outcome::committed);
			EXPECT_EQ(client->conflicts(), 0u) << "the lane waits for its own updates";
		}
		client.reset();
		auto other = served.client();
		for (const std::string &name : names)
			EXPECT_EQ(get(*other, name), "written");
		EXPECT_EQ(run(*other, rmw(names), 1), Outcome::committed) << "no lock is left";
	}
}

/* If all answers are waited for, everything is done. */
TEST(FarmCommit, AllAnswers)
{
	Served<Farm> served(3);
	FarmClientOptions options;
	options.first_answer_counts = false;
	auto client = served.client(options);
	const auto stored = [&] {
		std::uint64_t sum = 0;
		for (std::uint32_t shard = 0; shard < 3; shard++)
			sum += served.server(shard).stats().objects;
		return sum;
	};
	constexpr unsigned count = 30;
	const auto change_all = [](bool erased) -> Body {
		return [erased](Transaction &t) -> apps::Task<int> {
			for (unsigned i = 0; i < count; i++) {
				const std::string key = std::to_string(i);
				EXPECT_EQ(erased ? t.erase(bytes_of(key)) : t.write(bytes_of(key), bytes_of(key)), 0);
			}
			co_return 0;
		};
	};
	for (int round = 0; round < 20; round++) {
		ASSERT_EQ(run(*client, change_all(false)), Outcome::committed);
		EXPECT_EQ(stored(), count);
		ASSERT_EQ(run(*client, change_all(true)), Outcome::committed);
		EXPECT_EQ(stored(), 0u);
	}
}

TEST(FarmOptionsOfClients, Refused)
{
	Served<Farm> served;
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const auto refused = [&](const std::function<void(FarmClientOptions &)> &adjust) {
		FarmClientOptions options;
		adjust(options);
		const auto client = FarmClient::connect(context, served.addresses, options);
		return !client && client.error().code == EINVAL;
	};
	EXPECT_TRUE(refused([](auto &options) { options.depth = 17; }));
	EXPECT_TRUE(refused([](auto &options) { options.depth = 0; }));
	EXPECT_TRUE(refused([](auto &options) { options.parallel_reads = 0; }));
	EXPECT_TRUE(refused([](auto &options) { options.validating_reads = 9; }));
	EXPECT_FALSE(refused([](auto &options) { options.depth = 16; }));
}

} // namespace
