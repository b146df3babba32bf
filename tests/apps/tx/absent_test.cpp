/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Clients that connect while a shard is gone: the others serve them. */
#include "support.hpp"

#include <cerrno>

namespace
{

using namespace tx_test;

PrismClientOptions brief()
{
	PrismClientOptions options;
	options.setup_timeout = 200ms;
	return options;
}

Body writing(std::vector<std::string> keys, std::string value)
{
	return [keys = std::move(keys), value = std::move(value)](Transaction &transaction) -> apps::Task<int> {
		int error = 0;
		for (const std::string &key : keys)
			error = error ? error : transaction.write(bytes(key), bytes(value));
		co_return error;
	};
}

/** Tests that the other shards' keys can be used while a shard is gone. */
class AbsentShard : public testing::TestWithParam<bool>
{
protected:
	AbsentShard() : store(options())
	{
		Client before(store);
		if (GetParam())
			keys = {numbered_key(0), numbered_key(1), numbered_key(2)};
		else
			keys = keys_of_all(before, 3);
		for (const std::string &key : keys)
			EXPECT_EQ(before.put(key, "1"), Outcome::committed);
		before.api.reset();
		store.end(1);
	}

	static StoreOptions options()
	{
		StoreOptions options;
		options.shards = 3;
		options.numbered = GetParam();
		return options;
	}

	Store store;
	std::vector<std::string> keys;
};

INSTANTIATE_TEST_SUITE_P(Hashed, AbsentShard, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Numbered, AbsentShard, testing::Values(true));

TEST_P(AbsentShard, TheOthersServe)
{
	Client client(store, 4, brief());
	EXPECT_EQ(client.get(keys[0]), "1");
	EXPECT_EQ(client.run(writing({keys[0], keys[2]}, "2")), Outcome::committed);
	EXPECT_EQ(client.get(keys[0]), "2");
	EXPECT_EQ(client.get(keys[2]), "2");
}

TEST_P(AbsentShard, ItsKeysAreAnErrorAndNothingIsChanged)
{
	Client client(store, 4, brief());
	EXPECT_EQ(client.get(keys[1]), "?");
	EXPECT_EQ(client.last.error, EHOSTUNREACH);
	EXPECT_EQ(client.run(writing({keys[0], keys[1], keys[2]}, "2")), Outcome::rolled_back);
	EXPECT_EQ(client.last.error, EHOSTUNREACH);
	EXPECT_EQ(client.get(keys[0]), "1");
	EXPECT_EQ(client.get(keys[2]), "1");
	EXPECT_EQ(client.api->stats_of(1).error().code, ENOTCONN);
	/* The shard comes back without its memory: this client does not enter it. */
	store.begin(1);
	EXPECT_EQ(client.get(keys[1]), "?");
	EXPECT_EQ(client.get(keys[0]), "1");
	EXPECT_EQ(store.open_connections(1), 0u);
}

TEST_P(AbsentShard, NobodyIsTakenInMeanwhile)
{
	store.end(2);
	store.begin(2);
	const Context context = Context::open("prism_lo", Progress::caller).value();
	EXPECT_EQ(PrismClient::connect(context, store.addresses, brief()).error().code, ESTALE)
		<< "shard 2 has lost its memory";
	PrismClientOptions options = brief();
	options.adopt = {2};
	const auto adopting = PrismClient::connect(context, store.addresses, options);
	ASSERT_FALSE(adopting.ok());
	EXPECT_EQ(adopting.error().code, ECONNREFUSED) << adopting.error().message;
	EXPECT_NE(adopting.error().message.find("shard 1 at"), std::string::npos) << adopting.error().message;
}

TEST_P(AbsentShard, Number0IsNeeded)
{
	store.end(0);
	const Context context = Context::open("prism_lo", Progress::caller).value();
	EXPECT_EQ(PrismClient::connect(context, store.addresses, brief()).error().code, ECONNREFUSED);
}

/**
 * A silent shard may be alive, and its log may be needed: numbers of its clients are not given to others before it is
 * cleared.
 */
TEST(SilentShard, IsNotTakenForGone)
{
	Store store;
	Client before(store);
	store.end(1);
	const TcpListener silent = TcpListener::create(store.addresses[1].port, "127.0.0.1").value();
	const Context context = Context::open("prism_lo", Progress::caller).value();
	EXPECT_EQ(PrismClient::connect(context, store.addresses, brief()).error().code, ETIMEDOUT);
}

} // namespace
