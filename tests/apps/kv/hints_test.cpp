/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Remembered places of keys, counted in round trips, which are the same on every machine. */
#include "support.hpp"

#include <cmath>
#include <random>

#include "kv/store/hints.hpp"

namespace
{

using namespace kv_test;

/* Half of small_store()'s slots */
constexpr unsigned keys = 256;

Fingerprint print_of(std::uint64_t number)
{
	return fingerprint_of(HashKey{1, 2, 3}, std::as_bytes(std::span(&number, 1)));
}

TEST(Hints, TellWhatWasNotedLast)
{
	Hints hints(64);
	EXPECT_EQ(hints.capacity(), 64u);
	EXPECT_FALSE(hints.find(print_of(1)));
	hints.note(print_of(1), 0);
	hints.note(print_of(2), 31);
	EXPECT_EQ(hints.find(print_of(1)), 0u);
	EXPECT_EQ(hints.find(print_of(2)), 31u);
	hints.note(print_of(1), 17);
	EXPECT_EQ(hints.find(print_of(1)), 17u);
	hints.forget(print_of(1));
	EXPECT_FALSE(hints.find(print_of(1)));
	EXPECT_EQ(hints.find(print_of(2)), 31u);
	hints.clear();
	EXPECT_FALSE(hints.find(print_of(2)));
}

TEST(Hints, WhatIsOfUseStays)
{
	Hints hints(8); /* one set */
	for (std::uint64_t number = 0; number < 8; number++)
		hints.note(print_of(number), static_cast<std::uint32_t>(number));
	hints.suggest(print_of(100), 1);
	EXPECT_FALSE(hints.find(print_of(100))) << "nobody has asked for it";
	EXPECT_TRUE(hints.find(print_of(0)));
	for (std::uint64_t number = 8; number < 15; number++)
		hints.note(print_of(number), 1);
	EXPECT_TRUE(hints.find(print_of(0))) << "which was of use later than seven others";
	EXPECT_FALSE(hints.find(print_of(1)));
	hints.forget(print_of(0));
	hints.suggest(print_of(100), 9);
	EXPECT_EQ(hints.find(print_of(100)), 9u) << "there was room";
}

TEST(Hints, NoneAtAll)
{
	Hints hints(0);
	EXPECT_EQ(hints.capacity(), 0u);
	hints.note(print_of(1), 1);
	hints.suggest(print_of(1), 1);
	hints.forget(print_of(1));
	EXPECT_FALSE(hints.find(print_of(1)));
}

/** Table that is half full, and a client that has met none of its keys. */
class Hinted : public testing::Test
{
protected:
	Hinted()
	{
		Client loader(server, 1);
		for (unsigned i = 0; i < keys; i++)
			EXPECT_EQ(loader.put(key(i), value(i)), Outcome::ok);
	}

	static std::string key(std::uint64_t number) { return "key " + std::to_string(number); }
	static std::string value(std::uint64_t number) { return "value " + std::to_string(number); }

	static std::unique_ptr<PrismClient> connect(const Client &like, const Server &server, std::size_t hints)
	{
		PrismClientOptions options;
		options.hints = hints;
		return PrismClient::connect(like.context, "127.0.0.1", server.store->port(), options).value();
	}

	/** Returns the number of round trips of one GET of each key. */
	static unsigned read_all(Client &client)
	{
		unsigned round_trips = 0;
		for (unsigned i = 0; i < keys; i++) {
			EXPECT_EQ(client.get(key(i)), value(i));
			round_trips += client.last.round_trips;
		}
		return round_trips;
	}

	Server server;
};

TEST_F(Hinted, AKeyThatWasMetTakesOneRoundTrip)
{
	Client client(server);
	const unsigned first = read_all(client);
	EXPECT_GT(first, keys) << "not all keys are at home";
	EXPECT_LT(first, keys * 14 / 10) << "buckets that were read tell of other keys too";
	EXPECT_EQ(read_all(client), keys);
	for (unsigned i = 0; i < keys; i++) {
		ASSERT_EQ(client.put(key(i), value(i)), Outcome::ok);
		ASSERT_EQ(client.last.round_trips, 1u);
	}
	EXPECT_EQ(client.api->hint_figures().wrong, 0u);
	for (unsigned i = 0; i < keys; i++) {
		ASSERT_EQ(client.erase(key(i)), Outcome::ok);
		ASSERT_EQ(client.last.round_trips, 1u);
	}
}

TEST_F(Hinted, WhatAClientHasStoredItself)
{
	Client client(server), writer(server);
	for (unsigned i = 0; i < 50; i++) {
		ASSERT_EQ(writer.put("mine " + std::to_string(i), "value"), Outcome::ok);
		ASSERT_EQ(writer.get("mine " + std::to_string(i)), "value");
		ASSERT_EQ(writer.last.round_trips, 1u);
	}
}

/**
 * Does GETs and PUTs by turns, after as many to learn. Returns the mean number of round trips of one. @p theta: Zipf's;
 * 0: uniform.
 */
double mean_of(Client &client, double theta)
{
	std::vector<double> weights;
	for (unsigned rank = 1; rank <= keys; rank++)
		weights.push_back(std::pow(rank, -theta));
	std::mt19937 random(1);
	std::discrete_distribution<unsigned> choose(weights.begin(), weights.end());
	constexpr unsigned count = 2000;
	unsigned round_trips = 0;
	for (unsigned i = 0; i < 2 * count; i++) {
		const unsigned number = choose(random);
		const std::string key = "key " + std::to_string(number), value = "value " + std::to_string(number);
		if (i % 2) {
			EXPECT_EQ(client.get(key), value);
		} else {
			EXPECT_EQ(client.put(key, value), Outcome::ok);
		}
		round_trips += i < count ? 0 : client.last.round_trips;
	}
	return static_cast<double>(round_trips) / count;
}

TEST_F(Hinted, UnderAnyDistribution)
{
	for (const double theta : {0.0, 0.99}) {
		Client client(server);
		EXPECT_LE(mean_of(client, theta), 1.05) << theta;
	}
}

TEST_F(Hinted, FewerHintsThanKeysCostRoundTripsAlone)
{
	constexpr double uniform = 0;
	Client client(server), none(server);
	client.api = connect(client, server, 8);
	none.api = connect(none, server, 0);
	EXPECT_GT(mean_of(none, uniform), 1.2);
	EXPECT_LE(mean_of(client, uniform), mean_of(none, uniform));
	read_all(client);
	read_all(none);
}

TEST_F(Hinted, WrongHintsCostOneMissAndAreMended)
{
	Client client(server), other(server);
	read_all(client);
	/* All keys move to slots that the others leave free. */
	std::vector<unsigned> order;
	for (unsigned i = 0; i < keys; i++)
		order.push_back(i * 37 % keys);
	for (const unsigned i : order)
		ASSERT_EQ(other.erase(key(i)), Outcome::ok);
	for (const unsigned i : order)
		ASSERT_EQ(other.put(key(i), value(i)), Outcome::ok);
	for (unsigned i = 0; i < keys; i++) {
		const std::uint64_t wrong = client.api->hint_figures().wrong;
		ASSERT_EQ(client.get(key(i)), value(i)) << "never a wrong answer";
		const bool misled = client.api->hint_figures().wrong != wrong;
		/* Home, both buckets, the object; before them the slot of the hint */
		ASSERT_LE(client.last.round_trips, misled ? 4u : 3u);
	}
	EXPECT_GT(client.api->hint_figures().wrong, 0u) << "no key has moved";
	EXPECT_EQ(read_all(client), keys);
	ASSERT_EQ(other.erase(key(0)), Outcome::ok);
	EXPECT_EQ(client.get(key(0)), "<not found>");
	EXPECT_EQ(client.erase(key(0)), Outcome::not_found);
	EXPECT_EQ(client.put(key(0), value(0)), Outcome::ok);
	EXPECT_EQ(other.get(key(0)), value(0));
}

} // namespace
