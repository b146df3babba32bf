/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shards that have come back empty and are taken in, and transactions that were decided on them. */
#include "support.hpp"

#include <cerrno>

namespace
{

using namespace tx_test;

PrismClientOptions adopting(std::vector<std::size_t> shards)
{
	PrismClientOptions options;
	options.adopt = std::move(shards);
	return options;
}

Error error_of(const Store &store, const PrismClientOptions &options = {})
{
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const auto made = PrismClient::connect(context, store.addresses, options);
	return made ? Error{} : made.error();
}

bool says(const Error &error, const std::string &text)
{
	return error.message.find(text) != std::string::npos;
}

TEST(Adopt, TwoShardsAtOnce)
{
	StoreOptions options;
	options.shards = 3;
	Store store(options);
	std::vector<std::string> keys;
	{
		Client client(store);
		keys = keys_of_all(client, 3);
		for (const std::string &key : keys)
			ASSERT_EQ(client.put(key, "1"), Outcome::committed);
	}
	for (const std::uint16_t lost : {1, 2}) {
		store.end(lost);
		store.begin(lost);
	}
	for (const PrismClientOptions &wrong : {PrismClientOptions{}, adopting({1}), adopting({2})}) {
		const Error error = error_of(store, wrong);
		EXPECT_EQ(error.code, ESTALE);
		EXPECT_TRUE(says(error, "shards 1, 2 have lost their memory")) << error.message;
		EXPECT_TRUE(says(error, "prism-tx SHARDS adopt 1 2")) << error.message;
	}
	{
		Client adopter(store, 1, adopting({1, 2}));
		EXPECT_EQ(adopter.get(keys[0]), "1");
		EXPECT_EQ(adopter.get(keys[1]), "-");
		EXPECT_EQ(adopter.get(keys[2]), "-");
	}
	Client later(store);
	for (const std::string &key : keys)
		EXPECT_EQ(later.put(key, "2"), Outcome::committed);
}

TEST(Adopt, ShardsThatAreNotLostOrAreNone)
{
	Store store;
	EXPECT_EQ(error_of(store).code, 0);
	const Error alive = error_of(store, adopting({1}));
	EXPECT_EQ(alive.code, EINVAL);
	EXPECT_TRUE(says(alive, "cannot take in shard 1: it has not lost its memory")) << alive.message;
	const Error none = error_of(store, adopting({7}));
	EXPECT_EQ(none.code, EINVAL);
	EXPECT_TRUE(says(none, "the store has 2 shards")) << none.message;
	EXPECT_EQ(error_of(store, adopting({0})).code, EINVAL);
	EXPECT_EQ(error_of(store).code, 0);
}

/**
 * Store of three shards. A transaction that writes a key of each was decided on shard 1 and is installed on shard 0; on
 * shard 2 it is prepared. Then shard 1 is lost.
 */
class HalfInstalled : public testing::Test
{
protected:
	HalfInstalled() : store(three()), other(store), keys(keys_of_all(other, 3))
	{
		for (const std::string &key : keys)
			EXPECT_EQ(other.put(key, "1"), Outcome::committed);
		const std::uint16_t port = store.addresses[2].port;
		const std::vector<int> of_others = connections_to(port);
		PrismClientOptions once;
		once.reconnect_timeout = 0ms;
		auto open = std::make_unique<Client>(store, 1, once);
		Job job;
		job.max_attempts = 1;
		prepare_on_all(*open, other, keys, job);
		EXPECT_TRUE(store.comes_to_connections(2, 2));
		for (const int fd : connections_to(port)) {
			if (std::ranges::find(of_others, fd) == of_others.end())
				cut(fd);
		}
		/* The other clients do not poll: they would be asked to end the prepared transaction. */
		EXPECT_TRUE(store.comes_to_connections(2, 1));
		std::array<Job *, 1> ended;
		while (open->api->poll(ended) == 0) {}
		EXPECT_EQ(job.outcome, Outcome::committed);
		open.reset();
		store.end(1);
	}

	static StoreOptions three()
	{
		StoreOptions options;
		options.shards = 3;
		return options;
	}

	Store store;
	Client other;
	const std::vector<std::string> keys;
};

TEST_F(HalfInstalled, IsCommittedWhereItsDecisionIsLost)
{
	store.begin(1);
	Client adopter(store, 1, adopting({1}));
	EXPECT_EQ(adopter.get(keys[0]), "2");
	EXPECT_EQ(adopter.get(keys[1]), "-");
	EXPECT_EQ(adopter.get(keys[2]), "2");
}

TEST_F(HalfInstalled, CannotBeDecidedIfWhatItHasInstalledIsOverwritten)
{
	EXPECT_EQ(other.put(keys[0], "3"), Outcome::committed);
	store.begin(1);
	const Error error = error_of(store, adopting({1}));
	EXPECT_EQ(error.code, ENOTRECOVERABLE);
	EXPECT_TRUE(says(error, "cannot take in shard 1")) << error.message;
	EXPECT_TRUE(says(error, "start all servers anew")) << error.message;
	EXPECT_EQ(error_of(store).code, ESTALE) << "it is not taken in";
}

/** Returns a key of @p shard in another cell than that of @p key. */
std::string another_key(Client &client, const std::string &key, std::size_t shard)
{
	KeyPlace taken, place;
	EXPECT_EQ(client.api->place_of(bytes(key), taken), 0);
	for (unsigned number = 0;; number++) {
		const std::string other = "other " + std::to_string(number);
		if (!client.api->place_of(bytes(other), place) && place.shard == shard && place.cell != taken.cell)
			return other;
	}
}

/* One of the clients gets the dead client's number; that client's entries in the logs show the decision. */
TEST_F(HalfInstalled, IsLeftToTheAdopterByAllWhoComeBefore)
{
	PrismClientOptions brief;
	brief.setup_timeout = 150ms;
	const std::string key = another_key(other, keys[0], 0);
	{
		std::vector<std::unique_ptr<Client>> all;
		while (all.size() < store.options.clients - 1) {
			all.push_back(std::make_unique<Client>(store, 1, brief));
			for (unsigned i = 0; i < 3; i++)
				EXPECT_EQ(all.back()->put(key, std::to_string(all.size())), Outcome::committed)
					<< all.back()->last.error;
		}
	}
	EXPECT_TRUE(store.comes_to_connections(0, 1) && store.comes_to_connections(2, 1));
	store.begin(1);
	Client adopter(store, 1, adopting({1}));
	EXPECT_EQ(adopter.get(keys[0]), "2");
	EXPECT_EQ(adopter.get(keys[1]), "-");
	EXPECT_EQ(adopter.get(keys[2]), "2");
	EXPECT_EQ(adopter.get(key), std::to_string(store.options.clients - 1));
}

} // namespace
