/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Connections that are lost and made again, and the outcomes of the transactions that were under way. */
#include "support.hpp"

#include <cerrno>
#include <charconv>
#include <map>
#include <random>

namespace
{

using namespace tx_test;

PrismClientOptions patient()
{
	PrismClientOptions options;
	options.reconnect_timeout = 20s;
	options.retry.timeout = 30s;
	return options;
}

void cut_all(const std::vector<int> &fds)
{
	for (const int fd : fds)
		cut(fd);
}

std::uint64_t number_of(std::optional<Bytes> value)
{
	const std::string digits = text(value);
	std::uint64_t number = 0;
	std::from_chars(digits.data(), digits.data() + digits.size(), number);
	return number;
}

/** Returns a body that adds one to all @p keys. */
Body incrementing(std::vector<std::string> keys)
{
	return [keys = std::move(keys)](Transaction &transaction) -> apps::Task<int> {
		const std::vector<Bytes> all = [&keys] {
			std::vector<Bytes> found;
			for (const std::string &key : keys)
				found.push_back(bytes(key));
			return found;
		}();
		int error = co_await transaction.fetch(all);
		for (const Bytes key : all) {
			if (error)
				co_return error;
			const std::string next = std::to_string(number_of(transaction.value(key)) + 1);
			error = transaction.write(key, bytes(next));
		}
		co_return error;
	};
}

TEST(Reconnected, AfterACutEverythingIsThere)
{
	Store store;
	Client client(store, 1, patient());
	const std::vector<std::string> keys = keys_of_all(client);
	for (unsigned round = 1; round <= 6; round++) {
		const std::size_t shard = round % 2;
		ASSERT_FALSE(connections_to(store.addresses[shard].port).empty());
		cut_all(connections_to(store.addresses[shard].port));
		const auto deadline = std::chrono::steady_clock::now() + 10s;
		do {
			EXPECT_EQ(client.run(incrementing(keys)), Outcome::committed) << client.last.error;
		} while (client.api->connection_figures().regained < round &&
			 std::chrono::steady_clock::now() < deadline);
		EXPECT_EQ(client.api->connection_figures().regained, round);
		EXPECT_EQ(client.api->connection_figures().losses, round);
	}
	EXPECT_EQ(client.get(keys[0]), client.get(keys[1]));
	EXPECT_TRUE(client.api->stats_of(0).ok());
	Client other(store);
	EXPECT_EQ(other.run(incrementing(keys)), Outcome::committed);
}

/** Cuts the connection to the shard of the decision before that is made: the transaction is run again. */
TEST(Reconnected, WhatWasPreparedIsAbortedAndRunAgain)
{
	for (const unsigned attempts : {0U, 1U}) {
		Store store;
		Client other(store, 1, patient());
		const std::vector<std::string> keys = keys_of_all(other);
		const std::vector<int> of_other = connections_to(store.addresses[1].port);
		Client open(store, 1, patient());
		Job job;
		job.max_attempts = attempts;
		prepare_on_all(open, other, keys, job);
		ASSERT_TRUE(store.comes_to_connections(1, 2));
		for (const int fd : connections_to(store.addresses[1].port)) {
			if (std::ranges::find(of_other, fd) == of_other.end())
				cut(fd);
		}
		ASSERT_TRUE(store.comes_to_connections(1, 1)) << "the shard has not noticed";
		std::array<Job *, 1> ended;
		while (open.api->poll(ended) == 0) {}
		EXPECT_EQ(job.outcome, attempts ? Outcome::conflict : Outcome::committed) << job.error;
		for (const std::string &key : keys)
			EXPECT_EQ(other.get(key), attempts ? "-" : "2");
		EXPECT_EQ(open.api->figures().found_out, 1u);
	}
}

/**
 * A client that knows where it has staged is cut off from both shards, after another one has aborted its transaction.
 * The shards find what it had staged, before it comes back and gives up.
 */
TEST(Reconnected, WhatWasStagedIsNotReleasedAgain)
{
	Store store;
	Client other(store, 1, patient());
	const std::vector<std::string> keys = keys_of_all(other);
	std::array<std::vector<int>, 2> of_other;
	for (const std::size_t shard : {0, 1})
		of_other[shard] = connections_to(store.addresses[shard].port);
	Client open(store, 1, patient());
	Job job;
	job.max_attempts = 1;
	prepare_on_all(open, other, keys, job);
	for (const std::string &key : keys)
		EXPECT_EQ(other.get(key), "-");
	std::array<Job *, 1> ended;
	const std::uint64_t requests = open.api->figures().requests;
	while (open.api->figures().requests == requests) /* it takes the answers, and posts its decision */
		ASSERT_EQ(open.api->poll(ended), 0u);
	for (const std::size_t shard : {0, 1}) {
		for (const int fd : connections_to(store.addresses[shard].port)) {
			if (std::ranges::find(of_other[shard], fd) == of_other[shard].end())
				cut(fd);
		}
	}
	for (const std::size_t shard : {0, 1}) {
		ASSERT_TRUE(store.comes_to_connections(static_cast<std::uint16_t>(shard), 1));
		EXPECT_TRUE(prism::test::wait_until([&] { return buffers_used_on(other, shard) == 0; }))
			<< "the shard does not find it";
	}
	while (open.api->poll(ended) == 0) {}
	EXPECT_EQ(job.outcome, Outcome::conflict) << job.error;
	open.api.reset(); /* reports what it has released */
	for (const std::size_t shard : {0, 1}) {
		EXPECT_TRUE(store.comes_to_connections(static_cast<std::uint16_t>(shard), 1));
		EXPECT_EQ(sum_of(other, shard, "refused"), 0u);
	}
}

/** Checks that a connection lost after a key was read does not make the key absent. */
TEST(Reconnected, WhatWasReadStaysSo)
{
	Store store;
	Client client(store, 1, patient());
	const std::vector<std::string> keys = keys_of_all(client);
	ASSERT_EQ(client.run(incrementing(keys)), Outcome::committed);
	bool lost = false;
	EXPECT_EQ(client.run([&](Transaction &transaction) -> apps::Task<int> {
		if (const int error = co_await transaction.fetch(bytes(keys[1])))
			co_return error;
		if (!lost) {
			lost = true;
			cut_all(connections_to(store.addresses[1].port));
			/* Round trips to the other shard, until the loss is noticed */
			while (!client.api->connection_figures().losses) {
				const int error = co_await transaction.fetch(bytes(keys[0]));
				if (error)
					co_return error;
				(void)client.api->stats_of(0);
			}
		}
		EXPECT_EQ(text(transaction.value(bytes(keys[1]))), "1");
		co_return 0;
	}),
		Outcome::committed);
	EXPECT_TRUE(lost);
}

/**
 * Checks that nothing is done twice or lost, however many cuts there are; a transaction is only in doubt if its writes
 * were overwritten since.
 */
TEST(Reconnected, EachTransactionIsDoneOnce)
{
	constexpr unsigned depth = 4, least_cuts = 30, most_cuts = 300;
	StoreOptions options;
	options.lanes = depth; /* places in the logs are reused, too */
	Store store(options);
	Client client(store, depth, patient());
	std::vector<std::string> keys = keys_of_all(client);
	keys.emplace_back("another");
	std::mt19937 random(3);
	std::map<std::string, std::uint64_t> least, doubts;
	struct Work {
		Job job;
		std::vector<std::string> keys;
	};
	std::array<Work, depth> works;
	const auto begin = [&](Work &work) {
		work.keys = random() % 2 ? std::vector<std::string>{keys[random() % keys.size()]}
					 : std::vector<std::string>{keys[0], keys[1]};
		work.job.body = incrementing(work.keys);
		ASSERT_EQ(client.api->start(work.job), 0);
	};
	for (Work &work : works)
		begin(work);
	unsigned ended = 0, next_cut = 20, cuts = 0, left = depth;
	const auto goes_on = [&] { /* until a cut has also hit a decision */
		return cuts < least_cuts || (cuts < most_cuts && !client.api->figures().found_out);
	};
	std::array<Job *, depth> done;
	const auto deadline = std::chrono::steady_clock::now() + 60s;
	while (left && std::chrono::steady_clock::now() < deadline) {
		if (ended >= next_cut && goes_on()) {
			cut_all(connections_to(store.addresses[random() % 2].port));
			cuts++;
			next_cut = ended + 20;
		}
		const std::size_t got = client.api->poll(done);
		for (std::size_t i = 0; i < got; i++) {
			Work &work = *std::ranges::find(works, done[i], [](Work &one) { return &one.job; });
			EXPECT_TRUE(work.job.outcome == Outcome::committed || work.job.outcome == Outcome::unknown)
				<< static_cast<int>(work.job.outcome) << ' ' << work.job.error;
			for (const std::string &key : work.keys)
				(work.job.outcome == Outcome::committed ? least : doubts)[key]++;
			EXPECT_TRUE(work.job.outcome == Outcome::committed || work.keys.size() == 1)
				<< "a decision tells how it ended";
			ended++;
			if (goes_on())
				begin(work);
			else
				left--;
		}
	}
	EXPECT_EQ(left, 0u);
	EXPECT_GE(client.api->connection_figures().losses, least_cuts / 2);
	EXPECT_GT(client.api->figures().found_out, 0u) << "no cut came while something was decided";
	for (const std::string &key : keys) {
		Client reader(store);
		const std::uint64_t value = std::stoull(reader.get(key));
		EXPECT_GE(value, least[key]) << key;
		EXPECT_LE(value, least[key] + doubts[key]) << key;
	}
}

TEST(Reconnected, NotInTimeIsAnErrorAndNothingIsChanged)
{
	Store store;
	PrismClientOptions options;
	options.reconnect_timeout = 50ms;
	Client client(store, 1, options);
	const std::vector<std::string> keys = keys_of_all(client);
	ASSERT_EQ(client.run(incrementing(keys)), Outcome::committed);
	store.end(1);
	EXPECT_NE(client.run(incrementing(keys)), Outcome::committed);
	EXPECT_EQ(client.last.error, EHOSTUNREACH);
	EXPECT_EQ(client.run(incrementing({keys[0]})), Outcome::committed);
	/*
	 * The shard comes back as another one: this client does not enter it, and so does not make it a shard of its
	 * store.
	 */
	store.begin(1);
	for (int i = 0; i < 200; i++) {
		EXPECT_EQ(client.run(incrementing({keys[0]})), Outcome::committed);
		std::this_thread::sleep_for(1ms);
	}
	EXPECT_NE(client.run(incrementing({keys[1]})), Outcome::committed);
	EXPECT_EQ(store.open_connections(1), 0u);
}

} // namespace
