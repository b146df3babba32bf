/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Several servers as one store, and the rest of the store when one is gone. */
#include "support.hpp"

#include "common/run_all.hpp"
#include "kv/store/sharded_client.hpp"

namespace
{

using namespace kv_test;

std::string parsed(const std::string &text)
{
	const Result<ServerAddress> address = ServerAddress::parse(text, 7);
	if (!address.ok()) {
		EXPECT_EQ(address.error().code, EINVAL);
		return "<wrong>";
	}
	return address->text();
}

TEST(ServerAddress, HostsAndPorts)
{
	EXPECT_EQ(parsed("host"), "host:7");
	EXPECT_EQ(parsed("host:1"), "host:1");
	EXPECT_EQ(parsed("127.0.0.1:65535"), "127.0.0.1:65535");
	EXPECT_EQ(parsed("::1"), "[::1]:7");
	EXPECT_EQ(parsed("[::1]"), "[::1]:7");
	EXPECT_EQ(parsed("[fe80::1]:99"), "[fe80::1]:99");
	for (const char *text : {"", ":1", "host:", "host:0", "host:65536", "host:1x", "host:-1", "[::1", "[]", "[]:1",
		     "[::1]x", "[::1]x:5", "[::1]:"})
		EXPECT_EQ(parsed(text), "<wrong>") << text;
}

/** GET, PUT or ERASE of each of several keys, all at once. */
struct Batch {
	Batch(OperationKind kind, unsigned count) : keys(count), rooms(count, std::string(64, ' ')), operations(count)
	{
		for (unsigned i = 0; i < count; i++) {
			keys[i] = "key " + std::to_string(i);
			operations[i].kind = kind;
			operations[i].key = operations[i].value = bytes_of(keys[i]);
			operations[i].result = std::as_writable_bytes(std::span(rooms[i]));
		}
	}

	std::vector<std::string> keys, rooms;
	std::vector<Operation> operations;
};

class Sharded : public testing::Test
{
protected:
	static constexpr unsigned keys = 200;

	static PrismServerOptions shard_of_two(std::uint16_t number, const char *store = "one")
	{
		PrismServerOptions options = small_store();
		options.shard = {number, 2, store};
		return options;
	}

	Result<std::unique_ptr<ShardedClient>> connect(const std::vector<std::uint16_t> &ports)
	{
		PrismClientOptions options;
		options.depth = 4; /* far fewer than operations */
		options.timeout = std::chrono::milliseconds(500);
		std::vector<ServerAddress> addresses;
		for (const std::uint16_t port : ports)
			addresses.push_back({"127.0.0.1", port});
		return ShardedClient::connect(context, addresses, options);
	}
	Result<std::unique_ptr<ShardedClient>> connect() { return connect({first->store->port(), second_port}); }

	void fill()
	{
		Batch puts(OperationKind::put, keys);
		const auto client = connect().value();
		ASSERT_EQ(apps::run_all(*client, puts.operations), 0);
		for (const Operation &put : puts.operations)
			ASSERT_EQ(put.outcome, Outcome::ok);
	}

	/** GETs all keys: those of the first shard are there, those of the second fail. */
	static void expect_first_alone(ShardedClient &client)
	{
		Batch gets(OperationKind::get, keys);
		EXPECT_NE(apps::run_all(client, gets.operations), 0);
		unsigned served = 0;
		for (unsigned i = 0; i < keys; i++) {
			const Operation &get = gets.operations[i];
			const bool alive = client.shard_of(get.key) == 0;
			served += alive;
			EXPECT_EQ(get.outcome, alive ? Outcome::ok : Outcome::failed) << gets.keys[i];
			EXPECT_EQ(get.error == 0, alive);
			if (alive) {
				EXPECT_EQ(gets.rooms[i].substr(0, get.length), gets.keys[i]);
			}
		}
		EXPECT_GT(served, keys / 4);
		EXPECT_LT(served, keys * 3 / 4);
	}

	Context context = Context::open("prism_lo", Progress::caller).value();
	std::unique_ptr<Server> first = std::make_unique<Server>(shard_of_two(0));
	std::unique_ptr<Server> second = std::make_unique<Server>(shard_of_two(1));
	std::uint16_t second_port = second->store->port();
};

TEST_F(Sharded, EachKeyIsOnItsShardAndManyAreReadAtOnce)
{
	fill();
	const auto client = connect().value();
	Batch gets(OperationKind::get, keys);
	EXPECT_EQ(apps::run_all(*client, gets.operations), 0);
	for (unsigned i = 0; i < keys; i++) {
		ASSERT_EQ(gets.operations[i].outcome, Outcome::ok);
		ASSERT_EQ(gets.rooms[i].substr(0, gets.operations[i].length), gets.keys[i]);
	}
	std::uint64_t on[2] = {};
	for (const Operation &get : gets.operations)
		on[client->shard_of(get.key)]++;
	first->end();
	second->end();
	EXPECT_EQ(first->store->table().count().members, on[0]);
	EXPECT_EQ(second->store->table().count().members, on[1]);
}

TEST_F(Sharded, OneThatCannotBeDoesNotStopTheOthers)
{
	fill();
	const auto client = connect().value();
	Batch gets(OperationKind::get, 10);
	const std::string too_long(257, 'k');
	gets.operations[3].key = bytes_of(too_long);
	gets.operations[5].key = {};
	EXPECT_EQ(apps::run_all(*client, gets.operations), EINVAL);
	for (unsigned i = 0; i < 10; i++)
		EXPECT_EQ(gets.operations[i].outcome, i == 3 || i == 5 ? Outcome::failed : Outcome::ok) << i;
}

TEST_F(Sharded, AServerThatDiesTakesItsKeysAlone)
{
	fill();
	const auto client = connect().value();
	second.reset();
	expect_first_alone(*client);
	expect_first_alone(*client); /* failed operations leave nothing behind */
}

TEST_F(Sharded, AServerThatIsGoneFromTheBeginning)
{
	fill();
	second.reset();
	const auto client = connect();
	ASSERT_TRUE(client.ok()) << client.error().message;
	EXPECT_EQ((*client)->client(1), nullptr);
	EXPECT_EQ((*client)->absence(1).code, ECONNREFUSED);
	EXPECT_NE((*client)->absence(1).message.find(std::to_string(second_port)), std::string::npos);
	EXPECT_EQ((*client)->absence(0).code, 0);
	expect_first_alone(**client);
}

TEST_F(Sharded, AServerThatComesLaterIsUsedThen)
{
	fill();
	second.reset();
	const auto client = connect().value();
	expect_first_alone(*client);
	PrismServerOptions options = shard_of_two(1);
	options.port = second_port;
	second = std::make_unique<Server>(options);
	const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
	while (!client->client(1) && std::chrono::steady_clock::now() < deadline)
		client->poll({});
	ASSERT_NE(client->client(1), nullptr);
	Batch puts(OperationKind::put, keys);
	EXPECT_EQ(apps::run_all(*client, puts.operations), 0);
	second->end();
	EXPECT_GT(second->store->table().count().members, keys / 4);
}

TEST_F(Sharded, ServersInAnotherOrderAreNotAnotherStore)
{
	fill();
	const auto swapped = connect({second_port, first->store->port()});
	ASSERT_FALSE(swapped.ok());
	EXPECT_EQ(swapped.error().code, EPROTONOSUPPORT);
	EXPECT_NE(swapped.error().message.find("this is shard 1 of 2 of the store 'one', not shard 0 of 2"),
		std::string::npos)
		<< swapped.error().message;
	const auto half = connect({first->store->port()});
	ASSERT_FALSE(half.ok());
	EXPECT_NE(half.error().message.find("not shard 0 of 1"), std::string::npos) << half.error().message;
	EXPECT_FALSE(connect({first->store->port(), second_port, second_port}).ok());
}

TEST_F(Sharded, ServersOfTwoStoresAreNoStore)
{
	const Server other(shard_of_two(1, "other")), nameless(shard_of_two(1, ""));
	for (const Server *server : {&other, &nameless}) {
		const auto mixed = connect({first->store->port(), server->store->port()});
		ASSERT_FALSE(mixed.ok());
		EXPECT_EQ(mixed.error().code, EPROTONOSUPPORT);
		EXPECT_NE(mixed.error().message.find("but others are of the store 'one'"), std::string::npos)
			<< mixed.error().message;
	}
}

TEST_F(Sharded, ShardsThatCannotBe)
{
	const auto refuses = [this](const ShardName &shard) {
		PrismServerOptions options = small_store();
		options.shard = shard;
		const auto made = PrismServer::create(context, options);
		return !made.ok() && made.error().code == EINVAL;
	};
	EXPECT_TRUE(refuses({0, 0, ""}));
	EXPECT_TRUE(refuses({2, 2, ""}));
	EXPECT_TRUE(refuses({0, 1, "a name"}));
	EXPECT_TRUE(refuses({0, 1, "a\033name"}));
	EXPECT_TRUE(refuses({0, 1, std::string(32, 'x')}));
	EXPECT_FALSE(refuses({0, 1, std::string(31, 'x')}));
}

TEST_F(Sharded, NoServerAtAll)
{
	EXPECT_EQ(connect({}).error().code, EINVAL);
	second.reset();
	const auto client = connect({second_port, second_port});
	ASSERT_FALSE(client.ok());
	EXPECT_EQ(client.error().code, ECONNREFUSED);
}

} // namespace
