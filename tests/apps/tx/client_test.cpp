/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PRISM-TX on real devices: effects of transactions, their costs, and all errors. */
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <random>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tx/store/object.hpp"

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

/** Tests keys of one cell that come and go together, and separately. */
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

/** Checks that timestamps of neighbouring lanes, with successive clocks, all have different tags. */
TEST(Tags, DifferAmongNeighbours)
{
	for (const std::uint64_t clock : {std::uint64_t{1}, std::uint64_t{1'030'789'894'530'200}}) {
		std::map<std::uint32_t, std::string> tags;
		for (std::uint64_t later = 0; later < 64; later++) {
			for (std::uint32_t place = 0; place < 32; place++) {
				const Timestamp one{Writer{5, 0, place}.packed(), clock + later};
				const std::string name = std::to_string(later) + "/" + std::to_string(place);
				const auto [at, added] = tags.emplace(tag_of(one), name);
				EXPECT_TRUE(added) << at->second << " and " << name;
			}
		}
	}
}

/* Round trips of each kind of transaction, as in docs/prism-tx.md */
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
	const auto keys = keys_of_all(client);
	client.put(keys[0], "1");
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

/** Returns the counters of the client's device so far. */
std::map<std::string, std::uint64_t> counters_of(const Client &client)
{
	std::array<prismdv_counter, 128> counters;
	const ssize_t count = prismdv_query_counters(client.context.raw(), counters.data(), counters.size());
	std::map<std::string, std::uint64_t> values;
	for (ssize_t i = 0; i < count; i++)
		values[counters[static_cast<std::size_t>(i)].name] = counters[static_cast<std::size_t>(i)].value;
	return values;
}

Body change_of(const std::vector<std::string> &read, const std::vector<std::string> &written)
{
	return [=](Transaction &transaction) -> apps::Task<int> {
		std::vector<Bytes> all;
		for (const auto *const names : {&read, &written}) {
			for (const std::string &name : *names)
				all.push_back(bytes(name));
		}
		if (const int error = co_await transaction.fetch(all))
			co_return error;
		for (const std::string &name : written)
			transaction.write(bytes(name), bytes("again"));
		co_return 0;
	};
}

/**
 * Returns the number of requests, or answers, by the counters of one direction, however many of them a packet carries.
 */
std::uint64_t carried(std::map<std::string, std::uint64_t> &counters, const std::string &direction)
{
	return counters[direction + "_packets"] - counters[direction + "_bundles"] + counters[direction + "_bundled"];
}

/**
 * Checks the requests and answers for @p body. A lost packet that was sent again spoils the count: then it tries once
 * more.
 */
void expect_requests(Client &client, const Body &body, std::uint64_t requests, std::uint32_t round_trips)
{
	for (int attempt = 0; attempt < 10; attempt++) {
		auto before = counters_of(client);
		EXPECT_EQ(client.run(body), Outcome::committed);
		const Job job = client.last;
		/* The next transaction of the lane waits for installs that the commit has not waited for. */
		EXPECT_EQ(client.run([](Transaction &) -> apps::Task<int> { co_return EDOM; }), Outcome::rolled_back);
		auto after = counters_of(client);
		if (after["retransmits"] != before["retransmits"] || job.attempts != 1)
			continue;
		EXPECT_EQ(carried(after, "tx") - carried(before, "tx"), requests);
		EXPECT_EQ(carried(after, "rx") - carried(before, "rx"), requests);
		EXPECT_EQ(job.round_trips, round_trips);
		return;
	}
	FAIL() << "packets are lost all the time";
}

TEST(Requests, AreThoseOfTheDocument)
{
	Store store;
	Client client(store);
	std::vector<std::string> here, there;
	for (int number = 0; here.size() < 3 || there.size() < 3; number++) {
		const std::string key = "k" + std::to_string(number);
		KeyPlace place;
		ASSERT_EQ(client.api->place_of(bytes(key), place), 0);
		ASSERT_EQ(client.put(key, "1"), Outcome::committed);
		(place.shard ? there : here).push_back(key);
	}
	expect_requests(client, change_of({here[0], there[0]}, {}), 2 + 2, 2);
	expect_requests(client, change_of({here[1]}, {here[0]}), 2 + 1 + 4, 2);
	expect_requests(client, change_of({}, {here[0], here[1]}), 2 + 7 + 1, 2);
	expect_requests(client, change_of({}, {here[0], here[1], here[2]}), 3 + 10 + 1, 2);
	expect_requests(client, change_of({}, {here[0], there[0]}), 2 + 8 + 1, 3);
	expect_requests(client, change_of({}, {here[0], here[1], there[0]}), 3 + 7 + 4 + 1, 3);
	expect_requests(client, change_of({there[0], there[1]}, {here[0]}), 3 + 2 + 4, 4);
	expect_requests(client, change_of({there[1]}, {here[0], there[0]}), 3 + 1 + 8 + 1, 4);
}

/** The cost of a transaction that reads one cell depends on whether the client expected that. */
TEST(Requests, OfASingleRead)
{
	Store store;
	Client client(store, 1);
	for (int round = 0; round < 20; round++)
		ASSERT_EQ(client.put("a", "1"), Outcome::committed);
	expect_requests(client, change_of({}, {"a"}), 1 + 4, 2);
	const std::uint64_t before = client.api->figures().requests;
	EXPECT_EQ(client.get("a"), "again"); /* validated afterwards */
	EXPECT_EQ(client.api->figures().requests - before, 2u);
	EXPECT_EQ(client.last.round_trips, 2u);
	expect_requests(client, change_of({"a"}, {}), 2, 1);
	expect_requests(client, change_of({}, {"a"}), 2 + 4, 2);
}

TEST(Requests, OfThePapersCommit)
{
	StoreOptions options;
	options.as_in_paper = true;
	options.shards = 1;
	Store store(options);
	Client client(store);
	client.put("a", "1");
	client.put("b", "1");
	expect_requests(client, change_of({}, {"a"}), 1 + 4, 3);
	expect_requests(client, change_of({"b"}, {"a"}), 2 + 1 + 4, 3);
}

/** Lets every lane of every client move money; the sum stays the same. */
void transfer(const StoreOptions &options, const PrismClientOptions &client_options = {}, int plenty = 400)
{
	constexpr int accounts = 8, clients = 3, depth = 4;
	const int transfers = test::rounds(plenty);
	Store store(options);
	const auto key_of = [&options](std::uint64_t account) {
		return options.numbered ? numbered_key(account) : "account " + std::to_string(account);
	};
	{
		Client client(store);
		for (int account = 0; account < accounts; account++)
			ASSERT_EQ(client.put(key_of(account), "100"), Outcome::committed);
	}
	std::vector<std::thread> threads;
	for (int number = 0; number < clients; number++) {
		threads.emplace_back([&, number] {
			Client client(store, depth, client_options);
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
	const std::uint64_t buffers = store.buffers_in_use(); /* ends the shards, so that their cells can be examined */
	EXPECT_EQ(buffers, store.cells_in_use());
	EXPECT_GT(buffers, 0u);
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

TEST(Bank, KeepsItsMoneyWhereAccountsShareCells)
{
	StoreOptions options;
	options.shards = 1;
	options.cells = 4;
	options.classes = {{576, 256}, {4608, 256}};
	transfer(options, {}, 100);
}

/** Takes every client that has prepared for dead at once: others end commits of live clients. */
TEST(Helping, OfTheLivingLosesNothing)
{
	StoreOptions options;
	options.shards = 3;
	PrismClientOptions impatient;
	impatient.patience = Time(0);
	transfer(options, impatient, 60);
}

TEST(Clocks, MayDifferAndJump)
{
	constexpr std::uint64_t day = 86'400'000'000'000;
	Store store;
	std::uint64_t moment = 40 * day;
	PrismClientOptions options;
	options.clock = [&moment] { return moment; };
	Client jumping(store, 1, options), other(store);
	Stamp last;
	for (int round = 0; round < 10; round++) {
		moment = round % 2 ? 39 * day : 41 * day;
		EXPECT_EQ(jumping.put("a", std::to_string(round)), Outcome::committed);
		EXPECT_GT(jumping.last.stamp.clock, last.clock);
		last = jumping.last.stamp;
		EXPECT_EQ(other.get("a"), std::to_string(round));
		EXPECT_EQ(other.put("b", "x"), Outcome::committed);
	}
}

/** Tests a client of the far future: clients that have met it cannot write any more, and get an error. */
TEST(Clocks, ComeToTheirEnd)
{
	Store store;
	PrismClientOptions options;
	options.clock = [] { return std::numeric_limits<std::uint64_t>::max(); };
	Client last(store, 1, options), other(store);
	EXPECT_EQ(last.put("a", "1"), Outcome::committed);
	EXPECT_EQ(last.put("a", "2"), Outcome::failed);
	EXPECT_EQ(last.last.error, EOVERFLOW);
	EXPECT_EQ(other.put("b", "1"), Outcome::committed);
	EXPECT_EQ(other.get("a"), "1");
	EXPECT_EQ(other.put("a", "2"), Outcome::failed);
	EXPECT_EQ(other.last.error, EOVERFLOW);
}

TEST(Buffers, ThatAreExhausted)
{
	StoreOptions options;
	options.shards = 1;
	options.numbered = true; /* so that no two keys share a cell, which would be too large then */
	options.classes = {{640, 8}};
	Store store(options);
	PrismClientOptions impatient;
	impatient.retry.timeout = 200ms;
	Client client(store, 1, impatient);
	std::uint64_t stored = 0;
	Outcome outcome = Outcome::committed;
	for (; stored < 20 && outcome == Outcome::committed; stored += outcome == Outcome::committed)
		outcome = client.put(numbered_key(stored), std::string(500, 'x'));
	EXPECT_EQ(outcome, Outcome::conflict);
	EXPECT_EQ(client.last.error, ENOBUFS);
	EXPECT_EQ(stored, 8u);
	for (std::uint64_t key = 0; key < stored; key++)
		EXPECT_EQ(client.get(numbered_key(key)), std::string(500, 'x'));
	EXPECT_EQ(client.erase(numbered_key(3)), Outcome::committed);
	EXPECT_EQ(client.put(numbered_key(100), "1"), Outcome::committed);
	client.api.reset();
	EXPECT_EQ(store.buffers_in_use(), 8u);
}

/**
 * Tests a client that dies between its preparation and its installs, and whose number nobody takes: while another one
 * stays, and resolves what was prepared.
 */
TEST(Buffers, ThatADeadClientHasStagedAreFound)
{
	Store store;
	Client other(store);
	auto open = std::make_unique<Client>(store, 1);
	const auto keys = keys_of_all(other);
	ASSERT_EQ(other.put(keys[0], "1"), Outcome::committed);
	Job job;
	prepare_on_all(*open, other, keys, job);
	open.reset();
	EXPECT_EQ(other.get(keys[0]), "1");
	EXPECT_EQ(other.get(keys[1]), "-");
	EXPECT_TRUE(prism::test::wait_until([&] {
		(void)other.get(keys[1]); /* does what the shards ask for */
		return buffers_used_on(other, 0) == 1 && buffers_used_on(other, 1) == 0;
	}));
}

/* Larger buffers do as well, with either kind of commit. */
TEST(Buffers, OfTheBestSizeAreExhausted)
{
	for (const bool as_in_paper : {false, true}) {
		StoreOptions options;
		options.shards = 1;
		options.as_in_paper = as_in_paper;
		options.classes = {{128, 4}, {640, 16}};
		Store store(options);
		Client client(store);
		for (int key = 0; key < 12; key += 3) {
			const Outcome outcome = client.run([key](Transaction &transaction) -> apps::Task<int> {
				for (int i = key; i < key + 3; i++)
					transaction.write(bytes("key " + std::to_string(i)), bytes("1"));
				co_return 0;
			});
			EXPECT_EQ(outcome, Outcome::committed) << (as_in_paper ? "paper's, " : "") << key;
		}
		for (int key = 0; key < 12; key++)
			EXPECT_EQ(client.get("key " + std::to_string(key)), "1");
	}
}

TEST(Cell, ThatIsFull)
{
	StoreOptions options;
	options.shards = 1;
	options.cells = 1;
	options.classes = {{640, 8}};
	Store store(options);
	Client client(store);
	EXPECT_EQ(client.put("a", std::string(500, 'x')), Outcome::committed);
	EXPECT_EQ(client.put("b", std::string(500, 'x')), Outcome::failed);
	EXPECT_EQ(client.last.error, ENOSPC);
	EXPECT_EQ(client.get("a"), std::string(500, 'x'));
	EXPECT_EQ(client.get("b"), "-");
}

TEST(Shard, ThatIsLostTakesItsKeysAlone)
{
	Store store;
	Client client(store);
	const auto keys = keys_of_all(client);
	EXPECT_EQ(client.put(keys[0], "1"), Outcome::committed);
	EXPECT_EQ(client.put(keys[1], "1"), Outcome::committed);
	store.end(1);
	EXPECT_NE(client.put(keys[1], "2"), Outcome::committed);
	EXPECT_EQ(client.last.error, EHOSTUNREACH);
	const Outcome both = client.run([&keys](Transaction &transaction) -> apps::Task<int> {
		transaction.write(bytes(keys[0]), bytes("2"));
		co_return transaction.write(bytes(keys[1]), bytes("2"));
	});
	EXPECT_EQ(both, Outcome::rolled_back);
	EXPECT_EQ(client.last.error, EHOSTUNREACH);
	EXPECT_EQ(client.get(keys[0]), "1");
	EXPECT_EQ(client.put(keys[0], "3"), Outcome::committed);
	/* The shard comes back and has forgotten everything: nobody takes it for the old one. */
	store.begin(1);
	const auto anew = PrismClient::connect(client.context, store.addresses);
	ASSERT_FALSE(anew.ok());
	EXPECT_EQ(anew.error().code, ESTALE);
	EXPECT_NE(anew.error().message.find("shard 1 has lost its memory"), std::string::npos) << anew.error().message;
	/* Unless it is taken in, without its old contents. */
	PrismClientOptions adopting;
	adopting.adopt = {1};
	{
		Client adopter(store, 1, adopting);
		EXPECT_EQ(adopter.get(keys[1]), "-");
		EXPECT_EQ(adopter.get(keys[0]), "3");
		EXPECT_EQ(adopter.put(keys[1], "4"), Outcome::committed);
	}
	Client later(store);
	EXPECT_EQ(later.run(change_of({}, {keys[0], keys[1]})), Outcome::committed);
	EXPECT_EQ(later.get(keys[0]), "again");
	EXPECT_EQ(later.get(keys[1]), "again");
}

/** A transaction is prepared on both shards when the shard of its decision is lost. */
TEST(Shard, ThatIsTakenInDecidesWhatIsOpen)
{
	Store store;
	Client open(store, 1), other(store);
	const auto keys = keys_of_all(other);
	ASSERT_EQ(other.put(keys[0], "1"), Outcome::committed);
	Job job;
	prepare_on_all(open, other, keys, job);
	store.end(1);
	store.begin(1);
	PrismClientOptions adopting;
	adopting.adopt = {1};
	Client adopter(store, 1, adopting);
	EXPECT_EQ(adopter.get(keys[0]), "1");
	EXPECT_EQ(adopter.get(keys[1]), "-");
	EXPECT_EQ(prepared_on(adopter, 0), 0u);
	EXPECT_EQ(adopter.run(change_of({}, {keys[0], keys[1]})), Outcome::committed);
	/* Its client does not know the outcome; in any case it has not been committed. */
	std::array<Job *, 1> ended;
	while (open.api->poll(ended) == 0) {}
	EXPECT_NE(job.outcome, Outcome::committed);
	EXPECT_EQ(adopter.get(keys[0]), "again");
}

TEST(Shard, ThatNumbersTheClientsIsLost)
{
	Store store;
	Client client(store);
	const auto keys = keys_of_all(client);
	store.end(0);
	store.begin(0);
	const auto anew = PrismClient::connect(client.context, store.addresses);
	ASSERT_FALSE(anew.ok());
	EXPECT_EQ(anew.error().code, ESTALE);
	EXPECT_EQ(client.put(keys[1], "1"), Outcome::committed);
}

/** Makes more requests than the send queue has room for: those that depend on each other still leave together. */
TEST(Transaction, OfManyKeysAtOnce)
{
	constexpr std::size_t depth = 32, keys = 60, rounds = 4;
	StoreOptions options;
	options.shards = 1;
	options.cells = 1 << 16;
	options.value_size = 64;
	options.lanes = depth;
	options.classes = {{192, 8192}, {1024, 2048}};
	Store store(options);
	Client client(store, depth);
	std::vector<Job> jobs(depth);
	std::vector<Job *> ended(depth);
	for (std::size_t round = 0; round < rounds; round++) {
		for (std::size_t lane = 0; lane < depth; lane++) {
			jobs[lane].body = [lane, round](Transaction &transaction) -> apps::Task<int> {
				for (std::size_t key = 0; key < keys; key++) {
					const std::string name = std::to_string(lane) + "." + std::to_string(key);
					if (const int error =
							transaction.write(bytes(name), bytes(std::to_string(round))))
						co_return error;
				}
				co_return 0;
			};
			ASSERT_EQ(client.api->start(jobs[lane]), 0);
		}
		for (std::size_t left = depth; left;) {
			const std::size_t got = client.api->poll(ended);
			for (std::size_t i = 0; i < got; i++)
				EXPECT_EQ(ended[i]->outcome, Outcome::committed) << ended[i]->error;
			left -= got;
		}
	}
	for (std::size_t lane = 0; lane < depth; lane++)
		EXPECT_EQ(client.get(std::to_string(lane) + ".59"), std::to_string(rounds - 1));
}

TEST(BadInput, OfConnections)
{
	Store store;
	const Context context = Context::open("prism_lo", Progress::caller).value();
	Shards wrong = store.addresses;
	std::swap(wrong[0], wrong[1]);
	EXPECT_EQ(PrismClient::connect(context, wrong).error().code, EPROTONOSUPPORT);
	wrong.pop_back();
	EXPECT_EQ(PrismClient::connect(context, wrong).error().code, EPROTONOSUPPORT);
	EXPECT_EQ(PrismClient::connect(context, {}).error().code, EINVAL);
	PrismClientOptions deep;
	deep.depth = 17;
	EXPECT_EQ(PrismClient::connect(context, store.addresses, deep).error().code, EINVAL);
	std::vector<std::unique_ptr<Client>> clients;
	for (std::uint32_t i = 0; i < store.options.clients; i++)
		clients.push_back(std::make_unique<Client>(store, 1));
	EXPECT_EQ(PrismClient::connect(context, store.addresses).error().code, EMFILE);
	/* Their numbers become free for others. */
	for (auto &client : clients)
		EXPECT_EQ(client->put("a", "1"), Outcome::committed);
	clients.clear();
	for (int i = 0; i < 200; i++) {
		if (PrismClient::connect(context, store.addresses).ok())
			return;
		std::this_thread::sleep_for(10ms);
	}
	FAIL() << "no number comes free";
}

std::uint64_t resident_bytes()
{
	std::ifstream status("/proc/self/statm");
	std::uint64_t pages = 0;
	status >> pages >> pages;
	return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/**
 * Checks a lane's memory; it was once two largest objects, one to read and one to write, for each key of a transaction.
 */
TEST(Memory, OfALaneIsWhatItsTransactionsUse)
{
	constexpr std::uint32_t value_size = (1 << 17) - 128, largest = 8 * (value_size + 128);
	StoreOptions options;
	options.shards = 1;
	options.cells = 64;
	options.value_size = value_size;
	options.classes = {{value_size + 128, 8}, {largest, 1}};
	Store store(options);
	const std::uint64_t before = resident_bytes();
	Client client(store, 4);
	EXPECT_LT(resident_bytes() - before, 8 * largest);
	const std::string value(value_size, 'v');
	EXPECT_EQ(client.put("a", value), Outcome::committed);
	EXPECT_TRUE(client.get("a") == value);
	EXPECT_LT(resident_bytes() - before, 20 * largest);
	const Outcome outcome = client.run([](Transaction &transaction) -> apps::Task<int> {
		int error = 0;
		for (unsigned i = 0; i < 5 && !error; i++)
			error = transaction.write(bytes(std::to_string(i)), bytes("1"));
		co_return error;
	});
	EXPECT_EQ(outcome, Outcome::committed) << "keys beyond the first four";
	EXPECT_EQ(client.get("4"), "1");
}

/** Checks that no transaction that had begun is left in doubt. */
TEST(Drained, CommitsEndAndNoneBegins)
{
	for (unsigned round = 0; round < 5; round++) {
		Store store;
		Client client(store);
		const std::vector<std::string> keys = keys_of_all(client);
		Outcome outcome = Outcome::committed;
		unsigned commits = 0;
		for (; outcome == Outcome::committed && commits < 100'000; commits++) {
			if (commits == 20)
				store.drain(round % 2);
			outcome = client.run([&keys](Transaction &transaction) -> apps::Task<int> {
				int error = 0;
				for (const std::string &key : keys)
					error = error ? error : transaction.write(bytes(key), bytes("1"));
				co_return error;
			});
		}
		EXPECT_GT(commits, 20u);
		EXPECT_TRUE(outcome == Outcome::failed || outcome == Outcome::rolled_back) << static_cast<int>(outcome);
		EXPECT_EQ(client.last.error, EHOSTUNREACH);
	}
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
