/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PRISM-TX on real devices: what a transaction does, what it takes, and everything that goes wrong. */
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <random>

#include <nlohmann/json.hpp>

#include "support.hpp"

namespace
{

using namespace tx_test;

TEST(Transaction, WritesAndReads)
{
	Store store;
	Client one(store), other(store);
	EXPECT_EQ(one.get("a"), "-");
	EXPECT_EQ(one.put("a", "1"), Outcome::committed);
	EXPECT_EQ(other.get("a"), "1");
	EXPECT_EQ(other.put("a", "2"), Outcome::committed);
	EXPECT_EQ(one.get("a"), "2");
	EXPECT_EQ(one.erase("a"), Outcome::committed);
	EXPECT_EQ(other.get("a"), "-");
	EXPECT_EQ(other.put("a", std::string(512, 'x')), Outcome::committed);
	EXPECT_EQ(one.get("a"), std::string(512, 'x'));
}

TEST(Transaction, SeesItsOwnChanges)
{
	Store store;
	Client client(store);
	client.put("a", "old");
	const Outcome outcome = client.run([](Transaction &transaction) -> apps::Task<int> {
		const Bytes keys[] = {bytes("a"), bytes("b")};
		EXPECT_EQ(co_await transaction.fetch(keys), 0);
		EXPECT_EQ(text(transaction.value(keys[0])), "old");
		EXPECT_EQ(transaction.write(keys[0], bytes("new")), 0);
		EXPECT_EQ(text(transaction.value(keys[0])), "new");
		EXPECT_EQ(transaction.erase(keys[0]), 0);
		EXPECT_EQ(text(transaction.value(keys[0])), "-");
		EXPECT_EQ(transaction.insert(keys[0], bytes("again")), 0);
		EXPECT_EQ(transaction.insert(keys[0], bytes("once more")), EEXIST);
		EXPECT_EQ(text(transaction.value(keys[1])), "-");
		co_return 0;
	});
	EXPECT_EQ(outcome, Outcome::committed);
	EXPECT_EQ(client.get("a"), "again");
}

TEST(Transaction, IsRolledBackByItsBody)
{
	Store store;
	Client client(store);
	client.put("a", "1");
	const Outcome outcome = client.run([](Transaction &transaction) -> apps::Task<int> {
		EXPECT_EQ(transaction.write(bytes("a"), bytes("2")), 0);
		co_return EDOM;
	});
	EXPECT_EQ(outcome, Outcome::rolled_back);
	EXPECT_EQ(client.last.error, EDOM);
	EXPECT_EQ(client.get("a"), "1");
}

/** Keys of one cell come and go together, and apart. */
TEST(Transaction, OfKeysThatShareACell)
{
	StoreOptions options;
	options.cells = 1;
	options.classes = {{576, 64}, {4608, 64}};
	Store store(options);
	Client client(store);
	for (int round = 0; round < 2; round++) {
		for (char key = 'a'; key < 'i'; key++)
			EXPECT_EQ(client.put(std::string(1, key), std::string(100, key)), Outcome::committed);
		for (char key = 'a'; key < 'i'; key++)
			EXPECT_EQ(client.get(std::string(1, key)), std::string(100, key));
		EXPECT_EQ(client.erase("c"), Outcome::committed);
		EXPECT_EQ(client.get("c"), "-");
		EXPECT_EQ(client.get("d"), std::string(100, 'd'));
		for (char key = 'a'; key < 'i'; key++)
			EXPECT_EQ(client.erase(std::string(1, key)), Outcome::committed);
	}
	client.api.reset();
	EXPECT_EQ(store.buffers_in_use(), 0u);
}

/* What docs/prism-tx.md says of each kind of transaction */
TEST(RoundTrips, AreThoseOfTheDocument)
{
	StoreOptions options;
	options.shards = 1;
	Store store(options);
	Client client(store);
	client.put("a", "1");
	client.put("b", "1");
	client.get("a");
	EXPECT_EQ(client.last.round_trips, 1u);
	const auto change = [&client](std::vector<std::string> keys) {
		return client.run([keys](Transaction &transaction) -> apps::Task<int> {
			std::vector<Bytes> all;
			for (const std::string &key : keys)
				all.push_back(bytes(key));
			if (const int error = co_await transaction.fetch(all))
				co_return error;
			for (const Bytes key : all)
				transaction.write(key, bytes("2"));
			co_return 0;
		});
	};
	EXPECT_EQ(change({"a"}), Outcome::committed);
	EXPECT_EQ(client.last.round_trips, 2u);
	EXPECT_EQ(change({"a", "b"}), Outcome::committed);
	EXPECT_EQ(client.last.round_trips, 2u);
	EXPECT_EQ(client.get("b"), "2");
	EXPECT_EQ(client.api->figures().one_chain, 4u);
}

TEST(RoundTrips, OverTwoShards)
{
	Store store;
	Client client(store);
	std::string keys[2];
	for (int number = 0; keys[0].empty() || keys[1].empty(); number++) {
		const std::string key = "k" + std::to_string(number);
		client.put(key, "1");
		PrismTransaction::Place place;
		ASSERT_EQ(client.api->place_of(bytes(key), place), 0);
		keys[place.shard] = key;
	}
	const Outcome outcome = client.run([&keys](Transaction &transaction) -> apps::Task<int> {
		const Bytes both[] = {bytes(keys[0]), bytes(keys[1])};
		if (const int error = co_await transaction.fetch(both))
			co_return error;
		transaction.write(both[0], bytes("2"));
		transaction.write(both[1], bytes("3"));
		co_return 0;
	});
	EXPECT_EQ(outcome, Outcome::committed);
	EXPECT_EQ(client.last.round_trips, 3u);
	EXPECT_EQ(client.get(keys[0]), "2");
	EXPECT_EQ(client.get(keys[1]), "3");
}

/** Every lane of every client moves money about; the sum stays. */
void transfer(const StoreOptions &options)
{
	constexpr int accounts = 8, clients = 3, depth = 4, transfers = 400;
	Store store(options);
	const auto key_of = [&options](std::uint64_t account) {
		return options.numbered ? std::string(reinterpret_cast<const char *>(&account), sizeof(account))
					: "account " + std::to_string(account);
	};
	{
		Client client(store);
		for (int account = 0; account < accounts; account++)
			ASSERT_EQ(client.put(key_of(account), "100"), Outcome::committed);
	}
	std::vector<std::thread> threads;
	for (int number = 0; number < clients; number++) {
		threads.emplace_back([&, number] {
			Client client(store, depth);
			std::minstd_rand random(static_cast<unsigned>(number + 1));
			std::vector<Job> jobs(depth);
			std::vector<Job *> ended(depth);
			int begun = 0, under_way = 0;
			const auto begin = [&](Job &job) {
				const std::string from = key_of(random() % accounts), to = key_of(random() % accounts);
				const long amount = static_cast<long>(random() % 10);
				job.body = [=](Transaction &transaction) -> apps::Task<int> {
					const Bytes keys[] = {bytes(from), bytes(to)};
					if (const int error = co_await transaction.fetch(keys))
						co_return error;
					for (int i = 0; i < 2; i++) {
						const long balance =
							std::atol(text(transaction.value(keys[i])).c_str());
						const std::string now =
							std::to_string(i ? balance + amount : balance - amount);
						transaction.write(keys[i], bytes(now));
					}
					co_return 0;
				};
				EXPECT_EQ(client.api->start(job), 0);
				begun++;
				under_way++;
			};
			for (Job &job : jobs)
				begin(job);
			while (under_way) {
				const std::size_t got = client.api->poll(ended);
				for (std::size_t i = 0; i < got; i++) {
					EXPECT_EQ(ended[i]->outcome, Outcome::committed)
						<< ended[i]->error << " after " << ended[i]->attempts;
					under_way--;
					if (begun < transfers)
						begin(*ended[i]);
				}
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	long sum = 0;
	{
		Client client(store);
		EXPECT_EQ(client.run([&](Transaction &transaction) -> apps::Task<int> {
			std::vector<std::string> names;
			std::vector<Bytes> keys;
			for (int account = 0; account < accounts; account++)
				names.push_back(key_of(account));
			for (const std::string &name : names)
				keys.push_back(bytes(name));
			if (const int error = co_await transaction.fetch(keys))
				co_return error;
			sum = 0;
			for (const Bytes key : keys)
				sum += std::atol(text(transaction.value(key)).c_str());
			co_return 0;
		}),
			Outcome::committed);
	}
	EXPECT_EQ(sum, accounts * 100);
	EXPECT_EQ(store.buffers_in_use(), static_cast<std::uint64_t>(accounts));
}

TEST(Bank, KeepsItsMoneyOnOneShard)
{
	StoreOptions options;
	options.shards = 1;
	transfer(options);
}

TEST(Bank, KeepsItsMoneyOnThreeShards)
{
	StoreOptions options;
	options.shards = 3;
	transfer(options);
}

TEST(Bank, KeepsItsMoneyInNumberedAccounts)
{
	StoreOptions options;
	options.numbered = true;
	transfer(options);
}

TEST(Bank, KeepsItsMoneyByThePapersCommit)
{
	StoreOptions options;
	options.numbered = true;
	options.as_in_paper = true;
	transfer(options);
}

TEST(BadInput, IsRefused)
{
	Store store;
	Client client(store);
	EXPECT_EQ(client.put("", "1"), Outcome::rolled_back);
	EXPECT_EQ(client.last.error, EINVAL);
	EXPECT_EQ(client.put(std::string(65, 'k'), "1"), Outcome::rolled_back);
	EXPECT_EQ(client.last.error, EINVAL);
	EXPECT_EQ(client.put("k", std::string(513, 'v')), Outcome::rolled_back);
	EXPECT_EQ(client.last.error, EINVAL);
	const Outcome outcome = client.run([](Transaction &transaction) -> apps::Task<int> {
		int error = 0;
		for (std::uint32_t i = 0; i < 2 * max_accesses && !error; i++)
			error = transaction.write(bytes(std::to_string(i)), bytes("1"));
		co_return error;
	});
	EXPECT_EQ(outcome, Outcome::rolled_back);
	EXPECT_EQ(client.last.error, E2BIG);
}

} // namespace
