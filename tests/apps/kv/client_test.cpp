/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Operations of clients on a server of the same process, over the userspace device. */
#include "support.hpp"

#include <atomic>
#include <map>
#include <random>
#include <set>

namespace
{

using namespace kv_test;

class Store : public testing::Test
{
protected:
	/**
	 * Checks that every buffer not in a free list belongs to a member of the table, and that every key has one
	 * slot.
	 */
	void expect_nothing_lost()
	{
		server.end();
		const TableCount count = server.store->table().count();
		EXPECT_EQ(server.store->buffers_in_use(), count.members);
		EXPECT_EQ(count.stray, 0u);
		EXPECT_EQ(count.claims, 0u);
		std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
		for (std::uint64_t slot = 0; slot < server.store->table().geometry().slot_count(); slot++) {
			const Slot at = server.store->table().at(slot);
			EXPECT_TRUE(at.empty() || keys.insert({at.key.low, at.key.high}).second)
				<< "twice in the table";
		}
	}

	/** Lets the server take back the buffers that this client has freed. */
	static void settle(Client &client)
	{
		client.api.reset();
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
	}

	Server server;
};

TEST_F(Store, PutGetErase)
{
	Client client(server);
	EXPECT_EQ(client.get("a"), "<not found>");
	EXPECT_EQ(client.erase("a"), Outcome::not_found);
	EXPECT_EQ(client.put("a", "first"), Outcome::ok);
	EXPECT_EQ(client.get("a"), "first");
	EXPECT_EQ(client.put("a", "second, which is longer"), Outcome::ok);
	EXPECT_EQ(client.get("a"), "second, which is longer");
	EXPECT_EQ(client.erase("a"), Outcome::ok);
	EXPECT_EQ(client.get("a"), "<not found>");
	EXPECT_EQ(client.erase("a"), Outcome::not_found);
	settle(client);
	expect_nothing_lost();
}

TEST_F(Store, ADirectHitIsOneRoundTrip)
{
	Client client(server);
	ASSERT_EQ(client.put("key", "value"), Outcome::ok); /* the table is empty: the key is at home */
	EXPECT_EQ(client.get("key"), "value");
	EXPECT_EQ(client.last.round_trips, 1u);
	EXPECT_EQ(client.put("key", "other"), Outcome::ok);
	EXPECT_EQ(client.last.round_trips, 1u);
	EXPECT_EQ(client.erase("key"), Outcome::ok);
	EXPECT_EQ(client.last.round_trips, 1u);
	EXPECT_EQ(client.get("key"), "<not found>");
	EXPECT_EQ(client.last.round_trips, 2u) << "its home, then all slots";
}

TEST_F(Store, AnySizeAndAnyBytes)
{
	Client client(server);
	std::mt19937_64 random(1);
	std::map<std::string, std::string> stored;
	for (const std::size_t key_size : {1u, 8u, 255u, 256u}) {
		for (const std::size_t value_size : {0u, 1u, 7u, 111u, 112u, 1024u, 1500u, 4095u, 4096u}) {
			std::string key(key_size, '\0'), value(value_size, '\0');
			for (char &byte : key)
				byte = static_cast<char>(random());
			for (char &byte : value)
				byte = static_cast<char>(random());
			stored[key] = value;
			ASSERT_EQ(client.put(key, value), Outcome::ok) << key_size << " " << value_size;
			ASSERT_EQ(client.get(key), value);
		}
	}
	for (const auto &[key, value] : stored)
		EXPECT_EQ(client.get(key), value);
}

TEST_F(Store, SizesThatAreNotServed)
{
	Client client(server);
	const std::string long_key(257, 'k'), long_value(4097, 'v');
	Operation operation;
	operation.kind = OperationKind::put;
	EXPECT_EQ(client.api->start(operation), EINVAL) << "no key";
	operation.key = bytes_of(long_key);
	EXPECT_EQ(client.api->start(operation), EINVAL);
	const std::string key = "k";
	operation.key = bytes_of(key);
	operation.value = bytes_of(long_value);
	EXPECT_EQ(client.api->start(operation), EINVAL);
	EXPECT_EQ(client.put("k", "v"), Outcome::ok) << "nothing has happened";
}

TEST_F(Store, AValueBeyondTheClientsLimitIsTooLong)
{
	Client any(server);
	PrismClientOptions options;
	options.max_value_size = 4;
	Client limited(server, options);
	const std::string key = "k";
	for (const std::string value : {"1234", "12345", "1234567890123456789012345678901234567890"}) {
		ASSERT_EQ(any.put(key, value), Outcome::ok);
		std::string room(8, ' ');
		Operation operation = Client::getting(key, room);
		EXPECT_EQ(limited.run(operation), value.size() == 4 ? Outcome::ok : Outcome::failed);
		EXPECT_EQ(operation.error, value.size() == 4 ? 0 : EMSGSIZE);
		EXPECT_EQ(operation.length, value.size());
	}
}

TEST_F(Store, AShortResultIsFilledAndTheLengthTold)
{
	Client client(server);
	ASSERT_EQ(client.put("k", "0123456789"), Outcome::ok);
	std::string room(4, ' ');
	Operation operation = Client::getting("k", room);
	const std::string key = "k";
	operation.key = bytes_of(key);
	EXPECT_EQ(client.run(operation), Outcome::ok);
	EXPECT_EQ(room, "0123");
	EXPECT_EQ(operation.length, 10u);
}

TEST_F(Store, AFullTableSaysSoAndStaysIntact)
{
	Client client(server);
	unsigned stored = 0;
	Outcome outcome = Outcome::ok;
	while (outcome == Outcome::ok && stored < 1000)
		outcome = client.put("key " + std::to_string(stored++), "value");
	EXPECT_EQ(outcome, Outcome::full);
	stored--;
	EXPECT_GT(stored, 512u * 80 / 100);
	for (unsigned i = 0; i < stored; i++)
		ASSERT_EQ(client.get("key " + std::to_string(i)), "value");
	EXPECT_EQ(client.get("key " + std::to_string(stored)), "<not found>");
	EXPECT_EQ(client.put("key 0", "new value"), Outcome::ok) << "what is there can be replaced";
	for (unsigned i = 0; i < stored; i += 2)
		ASSERT_EQ(client.erase("key " + std::to_string(i)), Outcome::ok);
	EXPECT_EQ(client.put("key " + std::to_string(stored), "value"), Outcome::ok);
	settle(client);
	expect_nothing_lost();
}

TEST_F(Store, AnExhaustedSizeClassSaysSo)
{
	Client client(server);
	const std::string large(4000, 'x');
	unsigned stored = 0;
	while (stored < 100 && client.put("large " + std::to_string(stored), large) == Outcome::ok)
		stored++;
	EXPECT_EQ(stored, 64u);
	EXPECT_EQ(client.put("small", "value"), Outcome::ok) << "the other class has buffers";
	EXPECT_EQ(client.put("large 0", large), Outcome::full)
		<< "the new object needs a buffer before the old is free";
	EXPECT_EQ(client.get("large 0"), large);
	EXPECT_EQ(client.erase("large 1"), Outcome::ok);
	EXPECT_EQ(client.put("large 0", large), Outcome::ok) << "a freed buffer comes back";
	settle(client);
	expect_nothing_lost();
}

TEST_F(Store, ASmallObjectTakesALargeBufferIfThereIsNoOther)
{
	unsigned stored = 0;
	PrismServerOptions options = small_store();
	options.classes = {{64, 10}, {128, 5}, {4480, 3}};
	Server few(options);
	Client small(few);
	while (stored < 100 && small.put("key " + std::to_string(stored), "value") == Outcome::ok)
		stored++;
	EXPECT_EQ(stored, 18u) << "as many as there are buffers that hold it";
	for (unsigned i = 0; i < stored; i++)
		EXPECT_EQ(small.get("key " + std::to_string(i)), "value");
	EXPECT_EQ(small.erase("key 12"), Outcome::ok);
	EXPECT_EQ(small.put("key 3", std::string(100, 'x')), Outcome::ok) << "a buffer of the second class came back";
	settle(small);
	few.end();
	EXPECT_EQ(few.store->buffers_in_use(), few.store->table().count().members);
}

TEST_F(Store, ChurnAtHalfLoadNeverFillsTheTable)
{
	Client client(server);
	constexpr unsigned live = 256, all = 30 * 512;
	for (unsigned i = 0; i < all; i++) {
		ASSERT_EQ(client.put("key " + std::to_string(i), std::to_string(i)), Outcome::ok) << i;
		if (i >= live) {
			ASSERT_EQ(client.erase("key " + std::to_string(i - live)), Outcome::ok);
		}
	}
	for (unsigned i = all - live; i < all; i++)
		ASSERT_EQ(client.get("key " + std::to_string(i)), std::to_string(i));
	settle(client);
	expect_nothing_lost();
}

TEST_F(Store, OnAConditionOnlyTheVersionThatWasRead)
{
	Client client(server), other(server);
	ASSERT_EQ(client.put("k", "one"), Outcome::ok);
	std::string room(16, ' ');
	const std::string key = "k", value = "two";
	Version version;
	Operation get = Client::getting(key, room);
	ASSERT_EQ(client.api->get_versioned(get, version), Outcome::ok);
	EXPECT_EQ(room.substr(0, get.length), "one");
	Operation put;
	put.kind = OperationKind::put;
	put.key = bytes_of(key);
	put.value = bytes_of(value);
	EXPECT_EQ(client.api->put_if(put, version), Outcome::ok);
	EXPECT_EQ(put.round_trips, 1u);
	EXPECT_EQ(client.api->put_if(put, version), Outcome::not_found) << "that version is gone";
	ASSERT_EQ(client.api->get_versioned(get, version), Outcome::ok);
	ASSERT_EQ(other.put("k", "theirs"), Outcome::ok);
	EXPECT_EQ(client.api->put_if(put, version), Outcome::not_found);
	EXPECT_EQ(client.api->erase_if(put, version), Outcome::not_found);
	EXPECT_EQ(client.get("k"), "theirs");
	ASSERT_EQ(client.api->get_versioned(get, version), Outcome::ok);
	EXPECT_EQ(client.api->erase_if(put, version), Outcome::ok);
	EXPECT_EQ(client.get("k"), "<not found>");
	settle(client);
	settle(other);
	expect_nothing_lost();
}

/** Returns the version of @p key. */
std::uint64_t version_of(Client &client, const std::string &key)
{
	std::string room(64, ' ');
	Operation get = Client::getting(key, room);
	Version version;
	EXPECT_EQ(client.api->get_versioned(get, version), Outcome::ok);
	return version.number;
}

TEST_F(Store, AMillionClientsThatPutOnceHaveTagsOfTheirOwn)
{
	constexpr std::uint64_t clients = 20, tags = std::uint64_t{1} << 32;
	std::set<std::uint64_t> versions;
	for (unsigned i = 0; i < clients; i++) {
		Client client(server);
		ASSERT_EQ(client.put("k", std::to_string(i)), Outcome::ok);
		EXPECT_TRUE(versions.insert(version_of(client, "k")).second) << "twice";
	}
	const std::uint64_t each = (*versions.rbegin() - *versions.begin()) / (clients - 1);
	EXPECT_GT(tags / each, 1'000'000u) << each << " versions for a PUT";
}

TEST_F(Store, VersionsAreOfOneClientWhateverItHasLeased)
{
	std::set<std::uint64_t> versions;
	Client stays(server);
	for (unsigned round = 0; round < 3; round++) {
		Client goes(server, 8);
		for (unsigned i = 0; i < 1000; i++) { /* several leases */
			Client &client = i % 2 ? stays : goes;
			ASSERT_EQ(client.put("k", std::to_string(i)), Outcome::ok);
			ASSERT_TRUE(versions.insert(version_of(stays, "k")).second) << "twice";
		}
	}
}

TEST_F(Store, OnTheConditionThatTheKeyIsAbsent)
{
	Client client(server), other(server);
	const std::string key = "k", value = "mine";
	Operation put;
	put.kind = OperationKind::put;
	put.key = bytes_of(key);
	put.value = bytes_of(value);
	EXPECT_EQ(client.api->put_if(put, Version{}), Outcome::ok);
	EXPECT_EQ(other.get("k"), "mine");
	EXPECT_EQ(client.api->put_if(put, Version{}), Outcome::not_found) << "it is there now";
	ASSERT_EQ(other.put("k", "theirs"), Outcome::ok);
	EXPECT_EQ(client.api->put_if(put, Version{}), Outcome::not_found);
	EXPECT_EQ(client.get("k"), "theirs");
	ASSERT_EQ(client.erase("k"), Outcome::ok);
	EXPECT_EQ(client.api->put_if(put, Version{}), Outcome::ok) << "it is gone again";
	EXPECT_EQ(client.api->erase_if(put, Version{}), Outcome::not_found) << "an absent key cannot be erased";
	EXPECT_EQ(client.get("k"), "mine");
	settle(client);
	settle(other);
	expect_nothing_lost();
	EXPECT_EQ(server.store->table().count().members, 1u) << "and no slot but the key's was touched";
}

TEST_F(Store, OfInsertsAtOnceOneAloneFindsTheKeyAbsent)
{
	constexpr unsigned threads = 4, keys = 200;
	std::atomic<unsigned> inserted = 0;
	std::vector<std::thread> all;
	for (unsigned number = 0; number < threads; number++) {
		all.emplace_back([&, number] {
			Client client(server);
			for (unsigned i = 0; i < keys; i++) {
				const std::string key = "key " + std::to_string(i), value = std::to_string(number);
				Operation put;
				put.kind = OperationKind::put;
				put.key = bytes_of(key);
				put.value = bytes_of(value);
				const Outcome outcome = client.api->put_if(put, Version{});
				EXPECT_TRUE(outcome == Outcome::ok || outcome == Outcome::not_found);
				inserted += outcome == Outcome::ok;
				EXPECT_TRUE(outcome != Outcome::ok || client.get(key) == value) << "replaced";
			}
		});
	}
	for (std::thread &thread : all)
		thread.join();
	EXPECT_EQ(inserted, keys);
	std::this_thread::sleep_for(std::chrono::milliseconds(100));
	expect_nothing_lost();
}

/** Puts, gets and erases at random keys that all threads share, with @p depth operations at once. */
void quarrel(const Server &server, unsigned seed, unsigned keys, unsigned operations, std::uint32_t depth)
{
	Client client(server, depth);
	std::mt19937 random(seed);
	struct Job {
		Operation operation;
		std::string key, value, room = std::string(64, ' ');
		bool busy = false;
	};
	std::vector<Job> jobs(depth);
	const auto start = [&](Job &job) {
		job.key = "shared " + std::to_string(random() % keys);
		job.value = job.key + " by " + std::to_string(seed);
		job.operation = Client::getting(job.key, job.room);
		job.operation.value = bytes_of(job.value);
		job.operation.context = &job;
		job.operation.kind = static_cast<OperationKind>(random() % 3);
		job.busy = client.api->start(job.operation) == 0;
		EXPECT_TRUE(job.busy);
	};
	for (Job &job : jobs)
		start(job);
	for (unsigned ended = 0; ended < operations;) {
		Operation *done = nullptr;
		if (!client.api->poll({&done, 1}))
			continue;
		Job &job = *static_cast<Job *>(done->context);
		job.busy = false;
		ASSERT_TRUE(done->outcome == Outcome::ok ||
			    (done->outcome == Outcome::not_found && done->kind != OperationKind::put))
			<< static_cast<int>(done->outcome) << " error " << done->error;
		if (done->kind == OperationKind::get && done->outcome == Outcome::ok) {
			ASSERT_EQ(job.room.substr(0, job.key.size() + 4), job.key + " by ");
		}
		if (++ended + depth <= operations)
			start(job);
	}
}

TEST_F(Store, ManyClientsOnTheSameKeys)
{
	std::vector<std::thread> threads;
	for (unsigned seed = 1; seed <= 4; seed++)
		threads.emplace_back([&, seed] { quarrel(server, seed, 24, test::rounds(3000), seed % 2 ? 1 : 8); });
	for (std::thread &thread : threads)
		thread.join();
	std::this_thread::sleep_for(std::chrono::milliseconds(100));
	expect_nothing_lost();
}

} // namespace
