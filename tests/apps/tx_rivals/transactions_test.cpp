/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guarantees of both stores to one client, over one shard and over several. */
#include "support.hpp"

#include <array>
#include <cerrno>

namespace
{

using namespace tx_rivals;

template <typename Store>
class Transactions : public testing::Test
{
};

using Both = testing::Types<Farm, Locking>;
TYPED_TEST_SUITE(Transactions, Both);

TYPED_TEST(Transactions, WriteReadErase)
{
	Served<TypeParam> served(3);
	auto client = served.client();
	EXPECT_EQ(get(*client, "key"), std::nullopt);
	EXPECT_EQ(put(*client, "key", "value"), Outcome::committed);
	EXPECT_EQ(get(*client, "key"), "value");
	EXPECT_EQ(put(*client, "key", std::string(1024, 'v')), Outcome::committed);
	EXPECT_EQ(get(*client, "key"), std::string(1024, 'v'));
	EXPECT_EQ(put(*client, "key", ""), Outcome::committed);
	EXPECT_EQ(get(*client, "key"), "");
	EXPECT_EQ(erase(*client, "key"), Outcome::committed);
	EXPECT_EQ(get(*client, "key"), std::nullopt);
	EXPECT_EQ(erase(*client, "key"), Outcome::committed);
	EXPECT_EQ(get(*client, "key"), std::nullopt);
}

TYPED_TEST(Transactions, SeesItsOwnChanges)
{
	Served<TypeParam> served(2);
	auto client = served.client();
	ASSERT_EQ(put(*client, "old", "1"), Outcome::committed);
	const Body body = [](Transaction &t) -> apps::Task<int> {
		const std::string old = "old", fresh = "fresh", passing = "passing";
		const std::array keys{bytes_of(old), bytes_of(fresh), bytes_of(passing)};
		if (const int error = co_await t.fetch(keys))
			co_return error;
		EXPECT_EQ(text_of(*t.value(keys[0])), "1");
		EXPECT_EQ(t.insert(keys[0], bytes_of("2")), EEXIST);
		EXPECT_EQ(t.insert(keys[1], bytes_of("3")), 0);
		EXPECT_EQ(t.insert(keys[1], bytes_of("3")), EEXIST);
		EXPECT_EQ(t.write(keys[2], bytes_of("4")), 0);
		EXPECT_EQ(t.erase(keys[2]), 0);
		EXPECT_FALSE(t.value(keys[2]));
		EXPECT_EQ(t.erase(keys[0]), 0);
		EXPECT_FALSE(t.value(keys[0]));
		EXPECT_EQ(co_await t.fetch(keys), 0);
		EXPECT_FALSE(t.value(keys[0]));
		EXPECT_EQ(text_of(*t.value(keys[1])), "3");
		/* An old value may be written as a new one */
		EXPECT_EQ(t.write(keys[0], *t.value(keys[1])), 0);
		co_return 0;
	};
	EXPECT_EQ(run(*client, body), Outcome::committed);
	EXPECT_EQ(get(*client, "old"), "3");
	EXPECT_EQ(get(*client, "fresh"), "3");
	EXPECT_EQ(get(*client, "passing"), std::nullopt);
}

TYPED_TEST(Transactions, RolledBackChangesNothing)
{
	Served<TypeParam> served(2);
	auto client = served.client();
	ASSERT_EQ(put(*client, "key", "before"), Outcome::committed);
	Job job;
	const Body body = [](Transaction &t) -> apps::Task<int> {
		const std::string key = "key";
		if (const int error = co_await t.fetch(bytes_of(key)))
			co_return error;
		EXPECT_EQ(t.write(bytes_of(key), bytes_of("after")), 0);
		EXPECT_EQ(t.write(bytes_of("other"), bytes_of("after")), 0);
		co_return ENOTSUP;
	};
	EXPECT_EQ(run(*client, body, 0, &job), Outcome::rolled_back);
	EXPECT_EQ(job.error, ENOTSUP);
	/* Another client finds no lock once the release has arrived. */
	auto other = served.client();
	EXPECT_EQ(put(*other, "key", "other"), Outcome::committed);
	EXPECT_EQ(get(*client, "key"), "other");
	EXPECT_EQ(get(*client, "other"), std::nullopt);
}

TYPED_TEST(Transactions, ManyKeysAtOnce)
{
	constexpr unsigned count = 300;
	Served<TypeParam> served(3);
	auto client = served.client();
	std::vector<std::string> names;
	for (unsigned i = 0; i < count; i++)
		names.push_back("key" + std::to_string(i));
	std::vector<Bytes> keys;
	for (const std::string &name : names)
		keys.push_back(bytes_of(name));
	const Body load = [&](Transaction &t) -> apps::Task<int> {
		if (const int error = co_await t.fetch(keys))
			co_return error;
		for (unsigned i = 0; i < count; i++)
			EXPECT_EQ(t.insert(keys[i], bytes_of("of " + names[i])), 0);
		co_return 0;
	};
	const Body check = [&](Transaction &t) -> apps::Task<int> {
		if (const int error = co_await t.fetch(keys))
			co_return error;
		for (unsigned i = 0; i < count; i++)
			EXPECT_EQ(text_of(t.value(keys[i]).value_or(Bytes{})), "of " + names[i]);
		EXPECT_FALSE(t.value(bytes_of("none")));
		co_return 0;
	};
	EXPECT_EQ(run(*client, load), Outcome::committed);
	EXPECT_EQ(run(*client, check), Outcome::committed);
	EXPECT_TRUE(comes_to_objects(served, count));
	for (std::uint32_t shard = 0; shard < 3; shard++)
		EXPECT_GT(served.server(shard).stats().objects, 50u) << "keys are spread";
	const Body clear = [&](Transaction &t) -> apps::Task<int> {
		for (const Bytes key : keys)
			EXPECT_EQ(t.erase(key), 0);
		co_return 0;
	};
	EXPECT_EQ(run(*client, clear), Outcome::committed);
	EXPECT_TRUE(comes_to_objects(served, 0));
}

TYPED_TEST(Transactions, SizesBeyondTheLimits)
{
	Served<TypeParam> served(2);
	auto client = served.client();
	const Body body = [](Transaction &t) -> apps::Task<int> {
		const std::string long_key(longest_key + 1, 'k'), none;
		EXPECT_EQ(co_await t.fetch(bytes_of(long_key)), EINVAL);
		EXPECT_EQ(co_await t.fetch(bytes_of(none)), EINVAL);
		EXPECT_EQ(t.write(bytes_of(long_key), {}), EINVAL);
		EXPECT_EQ(t.write({}, {}), EINVAL);
		EXPECT_EQ(t.erase(bytes_of(long_key)), EINVAL);
		EXPECT_EQ(t.write(bytes_of("key"), bytes_of(std::string(1025, 'v'))), EINVAL);
		EXPECT_EQ(t.write(bytes_of(std::string(longest_key, 'k')), bytes_of(std::string(1024, 'v'))), 0);
		co_return 0;
	};
	EXPECT_EQ(run(*client, body), Outcome::committed);
	EXPECT_EQ(get(*client, std::string(longest_key, 'k')), std::string(1024, 'v'));
}

TYPED_TEST(Transactions, TooLarge)
{
	Served<TypeParam> served;
	auto client = served.client();
	unsigned written = 0;
	const Body bytes = [&](Transaction &t) -> apps::Task<int> {
		const std::string value(1024, 'v');
		for (written = 0; written < 1000; written++) {
			if (const int error = t.write(bytes_of("key" + std::to_string(written)), bytes_of(value)))
				co_return error;
		}
		co_return 0;
	};
	Job job;
	EXPECT_EQ(run(*client, bytes, 0, &job), Outcome::rolled_back);
	EXPECT_EQ(job.error, E2BIG);
	EXPECT_GE(written, 30u);
	EXPECT_LE(written, 32u) << "what fits a message of 32 KiB";
	const Body keys = [&](Transaction &t) -> apps::Task<int> {
		for (unsigned i = 0; i <= max_transaction_keys; i++) {
			const std::string key = std::to_string(i);
			if (const int error = co_await t.fetch(bytes_of(key)))
				co_return i == max_transaction_keys ? error : 1;
		}
		co_return 0;
	};
	EXPECT_EQ(run(*client, keys, 0, &job), Outcome::rolled_back);
	EXPECT_EQ(job.error, E2BIG);
	EXPECT_TRUE(comes_to_objects(served, 0));
	EXPECT_EQ(put(*client, "still", "there"), Outcome::committed);
}

TYPED_TEST(Transactions, FullFailsAndChangesNothing)
{
	Served<TypeParam> served(2, 8);
	auto client = served.client();
	Job job;
	unsigned stored = 0;
	while (stored < 100 && put(*client, "key" + std::to_string(stored), "v", &job) == Outcome::committed)
		stored++;
	EXPECT_GE(stored, 8u);
	EXPECT_LE(stored, 16u);
	EXPECT_EQ(job.outcome, Outcome::failed);
	EXPECT_EQ(job.error, ENOSPC);
	/* Several keys, one of which finds no room: none is stored. */
	const Body body = [](Transaction &t) -> apps::Task<int> {
		for (int i = 0; i < 20; i++)
			EXPECT_EQ(t.write(bytes_of("more" + std::to_string(i)), bytes_of("v")), 0);
		co_return 0;
	};
	EXPECT_EQ(run(*client, body, 0, &job), Outcome::failed);
	EXPECT_EQ(job.error, ENOSPC);
	EXPECT_TRUE(comes_to_objects(served, stored));
	for (unsigned i = 0; i < stored; i++)
		EXPECT_EQ(erase(*client, "key" + std::to_string(i)), Outcome::committed);
	EXPECT_EQ(put(*client, "again", "v"), Outcome::committed);
	EXPECT_EQ(get(*client, "again"), "v");
}

TYPED_TEST(Transactions, ShardThatIsGone)
{
	Served<TypeParam> served(2);
	auto client = served.client();
	const std::array<std::string, 2> of_shard = keys_of_two_shards();
	ASSERT_EQ(put(*client, of_shard[0], "0"), Outcome::committed);
	ASSERT_EQ(put(*client, of_shard[1], "1"), Outcome::committed);
	served.stop(1);
	const Body both = [&](Transaction &t) -> apps::Task<int> {
		EXPECT_EQ(t.write(bytes_of(of_shard[0]), bytes_of("2")), 0);
		EXPECT_EQ(t.write(bytes_of(of_shard[1]), bytes_of("2")), 0);
		co_return 0;
	};
	Job job;
	EXPECT_EQ(run(*client, both, 0, &job), Outcome::failed);
	EXPECT_NE(job.error, 0);
	const Body read = [&](Transaction &t) -> apps::Task<int> { co_return co_await t.fetch(bytes_of(of_shard[1])); };
	EXPECT_NE(run(*client, read, 0, &job), Outcome::committed);
	EXPECT_NE(job.error, 0);
	/* The locks on the other shard were released. */
	EXPECT_EQ(get(*client, of_shard[0]), "0");
	EXPECT_EQ(put(*client, of_shard[0], "3"), Outcome::committed);
	EXPECT_EQ(get(*client, of_shard[0]), "3");
}

TYPED_TEST(Transactions, ShardsOutOfOrderAreRefused)
{
	Served<TypeParam> served(2);
	const Context context = Context::open("prism_lo", Progress::caller).value();
	std::swap(served.addresses[0], served.addresses[1]);
	const auto swapped = TypeParam::Client::connect(context, served.addresses);
	ASSERT_FALSE(swapped);
	EXPECT_EQ(swapped.error().code, EBADMSG);
	EXPECT_NE(swapped.error().message.find("is shard 1 of 2, and was named as shard 0 of 2"), std::string::npos)
		<< swapped.error().message;
	served.addresses.pop_back();
	EXPECT_FALSE(TypeParam::Client::connect(context, served.addresses));
	EXPECT_FALSE(TypeParam::Client::connect(context, {}));
}

TYPED_TEST(Transactions, AnotherStoreIsRefused)
{
	using Other = std::conditional_t<std::is_same_v<TypeParam, Farm>, Locking, Farm>;
	Served<Other> served;
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const auto client = TypeParam::Client::connect(context, served.addresses);
	ASSERT_FALSE(client);
	EXPECT_EQ(client.error().code, EPROTONOSUPPORT);
}

TYPED_TEST(Transactions, OptionsThatContradictEachOther)
{
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const auto refused = [&](const std::function<void(CalledShardOptions &)> &adjust) {
		CalledShardOptions options;
		options.server.address = "127.0.0.1";
		options.objects = 10;
		adjust(options);
		const auto server = TypeParam::Server::create(context, options);
		return !server && server.error().code == EINVAL;
	};
	EXPECT_TRUE(refused([](auto &options) { options.objects = 0; }));
	EXPECT_TRUE(refused([](auto &options) { options.value_size = 65000; }));
	EXPECT_TRUE(refused([](auto &options) { options.message_size = 100; }));
	EXPECT_TRUE(refused([](auto &options) { options.message_size = 70000; }));
	EXPECT_TRUE(refused([](auto &options) { options.shard = 1; }));
	EXPECT_TRUE(refused([](auto &options) { options.server.threads = 0; }));
	EXPECT_FALSE(refused([](auto &) {}));
}

} // namespace
