/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Pilaf's own features: READs, checksums, and keys that move. */
#include "support.hpp"

#include "service/key_hash.hpp"

#include <atomic>

namespace
{

using namespace rivals;

using pilaf::Damage;

TEST(PilafReads, TwoRoundTripsForTheFirstPlace)
{
	Served<Pilaf> served;
	auto client = served.client();
	ASSERT_EQ(put(*client, "key", "value"), Outcome::ok);
	const std::uint64_t requests = served.stats().requests;
	const Answer answer = get(*client, "key");
	EXPECT_EQ(answer.value, "value");
	EXPECT_EQ(answer.round_trips, 2u);
	EXPECT_EQ(client->stats().reads, 2u);
	EXPECT_EQ(served.stats().requests, requests) << "the server's CPU has no part in it";
}

TEST(PilafReads, MissesAreConfirmedByTheServer)
{
	Served<Pilaf> served;
	auto client = served.client();
	const Answer answer = get(*client, "none");
	EXPECT_EQ(answer.outcome, Outcome::not_found);
	EXPECT_EQ(answer.round_trips, 4u);
	EXPECT_EQ(client->stats().misses, 1u);
	EXPECT_EQ(served.stats().requests, 1u);
}

/* Three keys that share their first place, in a table where two of them went elsewhere. */
TEST(PilafReads, GoesOnToTheOtherPlaces)
{
	constexpr std::uint64_t entries = 64;
	Served<Pilaf> served(entries);
	auto client = served.client();
	const auto first_place = [](const std::string &key) {
		return pilaf::candidates(apps::hash_key(bytes_of(key), pilaf::CuckooOptions{}.seed), entries)[0];
	};
	std::vector<std::string> keys{"key"};
	for (unsigned i = 0; keys.size() < 3; i++) {
		if (first_place(std::to_string(i)) == first_place(keys[0]))
			keys.push_back(std::to_string(i));
	}
	for (const std::string &key : keys)
		ASSERT_EQ(put(*client, key, "of " + key), Outcome::ok);
	std::vector<std::uint32_t> trips;
	for (const std::string &key : keys) {
		const Answer answer = get(*client, key);
		EXPECT_EQ(answer.value, "of " + key);
		trips.push_back(answer.round_trips);
	}
	EXPECT_EQ(trips[0], 2u);
	EXPECT_EQ(trips[1], 4u);
	EXPECT_GE(trips[2], 4u);
	EXPECT_EQ(client->stats().misses, 0u);
}

TEST(PilafChecksums, DamagedExtentsAreNeverTakenForGood)
{
	Served<Pilaf> served;
	auto client = served.client();
	ASSERT_EQ(put(*client, "key", binary(512)), Outcome::ok);
	ASSERT_TRUE(served.server().damage(bytes_of("key"), Damage::extent));
	const Answer answer = get(*client, "key");
	EXPECT_EQ(client->stats().torn_extents, PilafClient::torn_limit);
	EXPECT_EQ(client->stats().gave_up, 1u) << "in the end the server is asked";
	EXPECT_EQ(answer.round_trips, 2 * PilafClient::torn_limit + 1);
	EXPECT_NE(answer.value, binary(512)) << "the bit was changed indeed";
	ASSERT_TRUE(served.server().damage(bytes_of("key"), Damage::extent));
	EXPECT_EQ(get(*client, "key").value, binary(512));
	EXPECT_EQ(client->stats().gave_up, 1u);
}

TEST(PilafChecksums, DamagedEntriesAreNeverFollowed)
{
	Served<Pilaf> served;
	auto client = served.client();
	ASSERT_EQ(put(*client, "key", "value"), Outcome::ok);
	ASSERT_TRUE(served.server().damage(bytes_of("key"), Damage::entry));
	const Answer answer = get(*client, "key");
	EXPECT_EQ(answer.value, "value");
	EXPECT_EQ(client->stats().torn_entries, PilafClient::torn_limit);
	EXPECT_EQ(client->stats().torn_extents, 0u);
	EXPECT_EQ(client->stats().gave_up, 1u);
	EXPECT_EQ(answer.round_trips, PilafClient::torn_limit + 1);
}

/* Damage that comes and goes under a reader, like torn reads: no wrong value, and seldom a call. */
TEST(PilafChecksums, PassingDamageIsReadAgain)
{
	Served<Pilaf> served;
	auto client = served.client();
	const std::string value = binary(512);
	ASSERT_EQ(put(*client, "key", value), Outcome::ok);
	std::atomic<bool> over{false};
	std::thread vandal([&] {
		while (!over) {
			for (const Damage part : {Damage::extent, Damage::entry}) {
				served.server().damage(bytes_of("key"), part);
				std::this_thread::sleep_for(1us);
				served.server().damage(bytes_of("key"), part);
				std::this_thread::sleep_for(100us);
			}
		}
	});
	std::uint64_t by_reads = 0;
	const auto end = std::chrono::steady_clock::now() + test::patience;
	const auto seen_enough = [&] {
		return client->stats().torn_extents + client->stats().torn_entries >= 5 && by_reads > 0;
	};
	while (!seen_enough() && std::chrono::steady_clock::now() < end) {
		const std::uint64_t calls = client->stats().gave_up;
		const Answer answer = get(*client, "key");
		ASSERT_EQ(answer.outcome, Outcome::ok);
		if (client->stats().gave_up != calls)
			continue; /* the server reads damaged memory as it is */
		by_reads++;
		ASSERT_EQ(answer.value, value);
	}
	over = true;
	vandal.join();
	EXPECT_GE(client->stats().torn_extents + client->stats().torn_entries, 5u);
	EXPECT_GT(by_reads, 0u);
}

/* Entries move while others are inserted; existing keys are found all the time. */
TEST(PilafMoves, NoKeyIsMissedWhileItMoves)
{
	constexpr unsigned entries = 600, stable = 150;
	Served<Pilaf> served(entries);
	{
		auto client = served.client();
		for (unsigned i = 0; i < stable; i++)
			ASSERT_EQ(put(*client, "stable" + std::to_string(i), "v" + std::to_string(i)), Outcome::ok);
	}
	std::atomic<bool> over{false};
	std::thread mover([&] {
		auto client = served.client();
		for (unsigned round = 0; round < 6; round++) {
			const std::string prefix = std::to_string(round) + "-";
			unsigned stored = 0;
			while (put(*client, prefix + std::to_string(stored), "x") == Outcome::ok)
				stored++;
			for (unsigned i = 0; i < stored; i++)
				ASSERT_EQ(erase(*client, prefix + std::to_string(i)), Outcome::ok);
		}
		over = true;
	});
	auto client = served.client();
	std::uint64_t gets = 0;
	for (; !over; gets++) {
		const unsigned i = static_cast<unsigned>(gets % stable);
		const Answer answer = get(*client, "stable" + std::to_string(i));
		ASSERT_EQ(answer.outcome, Outcome::ok) << i;
		ASSERT_EQ(answer.value, "v" + std::to_string(i));
	}
	mover.join();
	EXPECT_GT(served.server().stats().table.moves, 100u);
	EXPECT_GT(gets, 100u);
}

/* Extents that are reused at once: the checksum in the entry shows that they belong to another pair by now. */
TEST(PilafExtents, ReuseWithoutRestIsSeen)
{
	ServerLog log;
	const Context context = open_context(Progress::engine_thread),
		      client_context = open_context(Progress::engine_thread);
	PilafOptions options;
	options.server = small_server(log);
	options.table.entries = 64;
	options.table.memory = 24 * 1024;
	options.table.rest = 0us;
	auto server = PilafServer::create(context, options).value();
	std::thread thread([&] { EXPECT_TRUE(server->run()); });
	std::atomic<bool> over{false};
	std::thread writer([&] {
		auto client = PilafClient::connect(client_context, "127.0.0.1", server->port()).value();
		for (unsigned i = 0; i < 3000; i++) {
			const auto letter = static_cast<char>('a' + i % 26);
			ASSERT_EQ(put(*client, "key" + std::to_string(i % 3), std::string(2000, letter)), Outcome::ok);
		}
		over = true;
	});
	auto client = PilafClient::connect(client_context, "127.0.0.1", server->port()).value();
	for (unsigned i = 0; !over; i++) {
		const Answer answer = get(*client, "key" + std::to_string(i % 3));
		if (answer.outcome == Outcome::not_found)
			continue;
		ASSERT_EQ(answer.outcome, Outcome::ok);
		ASSERT_EQ(answer.value, std::string(2000, answer.value.at(0)));
	}
	writer.join();
	server->stop();
	thread.join();
}

} // namespace
