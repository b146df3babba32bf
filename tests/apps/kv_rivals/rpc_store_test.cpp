/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guarantees of both stores, through the network. */
#include "support.hpp"

#include <atomic>
#include <map>
#include <random>

namespace
{

using namespace rivals;

template <typename Store>
class Stores : public testing::Test
{
};

using Both = testing::Types<Rpc, Pilaf>;
TYPED_TEST_SUITE(Stores, Both);

TYPED_TEST(Stores, PutGetErase)
{
	Served<TypeParam> served;
	auto client = served.client();
	EXPECT_EQ(get(*client, "key").outcome, Outcome::not_found);
	EXPECT_EQ(put(*client, "key", "value"), Outcome::ok);
	EXPECT_EQ(get(*client, "key").value, "value");
	EXPECT_EQ(TypeParam::objects(served.server()), 1u);
	EXPECT_EQ(erase(*client, "key"), Outcome::ok);
	EXPECT_EQ(get(*client, "key").outcome, Outcome::not_found);
	EXPECT_EQ(erase(*client, "key"), Outcome::not_found);
	EXPECT_EQ(TypeParam::objects(served.server()), 0u);
}

TYPED_TEST(Stores, KeysAndValuesAreBytes)
{
	Served<TypeParam> served;
	auto client = served.client();
	const std::string key = binary(64, 0), near = binary(63, 0), value = binary(4096, 5);
	ASSERT_EQ(put(*client, key, value), Outcome::ok);
	ASSERT_EQ(put(*client, near, std::string(3, '\0')), Outcome::ok);
	EXPECT_EQ(get(*client, key).value, value);
	EXPECT_EQ(get(*client, near).value, std::string(3, '\0'));
	EXPECT_EQ(get(*client, std::string(1, '\0')).outcome, Outcome::not_found);
}

TYPED_TEST(Stores, SizesAtAndBeyondTheLimits)
{
	Served<TypeParam> served;
	auto client = served.client();
	const auto attempt = [&](OperationKind kind, std::size_t key, std::size_t value) {
		return run(*client, kind, std::string(key, 'k'), std::string(value, 'v'));
	};
	EXPECT_EQ(attempt(OperationKind::put, 0, 1).error, EINVAL);
	EXPECT_EQ(attempt(OperationKind::get, 0, 0).error, EINVAL);
	EXPECT_EQ(attempt(OperationKind::put, 65, 1).error, EINVAL);
	EXPECT_EQ(attempt(OperationKind::erase, 65, 0).error, EINVAL);
	EXPECT_EQ(attempt(OperationKind::put, 1, 4097).error, EINVAL);
	EXPECT_EQ(attempt(OperationKind::put, 64, 4096).outcome, Outcome::ok);
	EXPECT_EQ(attempt(OperationKind::put, 1, 0).outcome, Outcome::ok);
	const Answer empty = get(*client, "k");
	EXPECT_EQ(empty.outcome, Outcome::ok);
	EXPECT_EQ(empty.length, 0u);
}

TYPED_TEST(Stores, LargestMessages)
{
	Served<TypeParam> served(16, 1 << 20, [](rpc::ServerOptions &options) {
		options.max_key_size = 512;
		options.max_value_size = 65536 - 24 - 512;
	});
	auto client = served.client(2);
	const std::string key = binary(512, 3), value = binary(65000, 9);
	ASSERT_EQ(put(*client, key, value), Outcome::ok);
	EXPECT_EQ(get(*client, key).value, value);
}

TYPED_TEST(Stores, OverwritingWithOtherSizes)
{
	Served<TypeParam> served;
	auto client = served.client();
	for (std::size_t size : {0, 1, 63, 64, 4096, 100, 0, 512, 511}) {
		ASSERT_EQ(put(*client, "key", binary(size, 1)), Outcome::ok);
		ASSERT_EQ(get(*client, "key").value, binary(size, 1));
	}
	EXPECT_EQ(TypeParam::objects(served.server()), 1u);
}

TYPED_TEST(Stores, ShortResultBuffers)
{
	Served<TypeParam> served;
	auto client = served.client();
	ASSERT_EQ(put(*client, "key", binary(500)), Outcome::ok);
	const Answer answer = run(*client, OperationKind::get, "key", {}, 10);
	EXPECT_EQ(answer.outcome, Outcome::ok);
	EXPECT_EQ(answer.length, 500u);
	EXPECT_EQ(answer.value, binary(10));
}

TYPED_TEST(Stores, FullIsAnOutcome)
{
	Served<TypeParam> served(32);
	auto client = served.client();
	unsigned stored = 0;
	while (put(*client, "key" + std::to_string(stored), "v") == Outcome::ok && stored < 100)
		stored++;
	EXPECT_GE(stored, 20u);
	EXPECT_LE(stored, 32u);
	EXPECT_EQ(TypeParam::objects(served.server()), stored);
	EXPECT_EQ(put(*client, "key3", "changed"), Outcome::ok);
	EXPECT_EQ(get(*client, "key3").value, "changed");
	for (unsigned i = 0; i < stored; i++)
		EXPECT_EQ(erase(*client, "key" + std::to_string(i)), Outcome::ok);
	EXPECT_EQ(put(*client, "again", "v"), Outcome::ok);
}

TYPED_TEST(Stores, MemoryThatIsUsedUpIsFullToo)
{
	Served<TypeParam> served(1000, 64 * 1024);
	auto client = served.client();
	unsigned stored = 0;
	while (put(*client, std::to_string(stored), binary(4000)) == Outcome::ok && stored < 100)
		stored++;
	EXPECT_GT(stored, 4u);
	EXPECT_LT(stored, 17u);
	EXPECT_EQ(get(*client, "0").value, binary(4000));
}

TYPED_TEST(Stores, ManyUnderWayAtOnce)
{
	constexpr std::uint32_t depth = 16;
	Served<TypeParam> served;
	auto client = served.client(depth);
	ASSERT_EQ(client->depth(), depth);
	keep_busy(*client, 4000, depth);
}

/** Checks that no executed call is left in doubt: its answer arrives before the connection ends. */
TYPED_TEST(Stores, StoppingAnswersWhatItHasExecuted)
{
	for (unsigned round = 0; round < 10; round++) {
		constexpr std::uint32_t depth = 16;
		Served<TypeParam> served;
		auto client = served.client(depth);
		std::vector<std::string> keys(depth);
		std::vector<Operation> operations(depth);
		std::vector<Operation *> done(depth);
		std::uint64_t answered = 0, under_way = 0;
		const auto begin = [&](Operation &operation) { under_way += client->start(operation) == 0; };
		for (std::size_t i = 0; i < depth; i++) {
			keys[i] = "key" + std::to_string(i);
			operations[i].kind = OperationKind::put;
			operations[i].key = operations[i].value = bytes_of(keys[i]);
			begin(operations[i]);
		}
		std::thread stopper;
		while (under_way) {
			const std::size_t count = client->poll(done);
			for (std::size_t n = 0; n < count; n++) {
				under_way--;
				answered += done[n]->outcome == Outcome::ok;
				if (done[n]->outcome == Outcome::ok)
					begin(*done[n]);
			}
			if (answered > 100 && !stopper.joinable())
				stopper = std::thread([&served] { served.stop(); });
		}
		ASSERT_TRUE(stopper.joinable());
		stopper.join();
		EXPECT_EQ(served.stats().requests, answered);
	}
}

TYPED_TEST(Stores, HandsBackNoMoreThanAsked)
{
	Served<TypeParam> served;
	auto client = served.client(4);
	const std::string key = "k", value = "v";
	std::array<Operation, 4> operations;
	start_puts(*client, key, value, operations);
	std::size_t ended = 0;
	Operation *done = nullptr;
	EXPECT_TRUE(wait_until([&] {
		const std::size_t count = client->poll({&done, 1});
		EXPECT_LE(count, 1u);
		EXPECT_EQ(client->poll({}), 0u);
		return (ended += count) == 4;
	}));
}

/* Values of one letter: two letters in a value show a torn read. Lengths tell versions of a writer apart. */
TYPED_TEST(Stores, ConcurrentWritersAndReaders)
{
	Served<TypeParam> served(64, 1 << 20);
	std::atomic<unsigned> reads{0};
	std::vector<std::thread> threads;
	for (unsigned t = 0; t < 4; t++) {
		threads.emplace_back([&, t] {
			auto client = served.client();
			std::mt19937 random(t);
			for (int i = 0; i < 1500; i++) {
				const std::string key = "shared" + std::to_string(random() % 4);
				if (t < 2) {
					const auto letter = static_cast<char>('a' + random() % 26);
					ASSERT_EQ(put(*client, key, std::string(1 + random() % 3000, letter)),
						Outcome::ok);
					continue;
				}
				const Answer answer = get(*client, key);
				ASSERT_NE(answer.outcome, Outcome::failed);
				if (answer.outcome != Outcome::ok)
					continue;
				ASSERT_EQ(answer.value.find_first_not_of(answer.value.front()), std::string::npos);
				reads++;
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	EXPECT_GT(reads, 100u);
}

/* A reader never sees a version older than one that it, or a finished put, has seen. */
TYPED_TEST(Stores, VersionsNeverGoBack)
{
	Served<TypeParam> served(64, 1 << 20);
	std::atomic<unsigned> installed{0};
	std::atomic<bool> over{false};
	std::thread writer([&] {
		auto client = served.client();
		for (unsigned version = 1; version <= 1500; version++) {
			ASSERT_EQ(put(*client, "key", std::to_string(version) + std::string(600, '.')), Outcome::ok);
			installed = version;
		}
		over = true;
	});
	auto client = served.client();
	unsigned last = 0;
	while (!over) {
		const unsigned before = installed;
		const Answer answer = get(*client, "key");
		if (before == 0 && answer.outcome == Outcome::not_found)
			continue;
		ASSERT_EQ(answer.outcome, Outcome::ok);
		const auto version = static_cast<unsigned>(std::stoul(answer.value));
		EXPECT_GE(version, std::max(before, last));
		last = version;
	}
	writer.join();
	EXPECT_EQ(get(*client, "key").value, "1500" + std::string(600, '.'));
}

TYPED_TEST(Stores, ManyClients)
{
	constexpr unsigned clients = 12;
	Served<TypeParam> served;
	std::vector<std::unique_ptr<typename TypeParam::Client>> all;
	for (unsigned i = 0; i < clients; i++)
		all.push_back(served.client());
	for (unsigned i = 0; i < clients; i++)
		ASSERT_EQ(put(*all[i], std::to_string(i), "of " + std::to_string(i)), Outcome::ok);
	for (unsigned i = 0; i < clients; i++)
		EXPECT_EQ(get(*all[i], std::to_string((i + 1) % clients)).value,
			"of " + std::to_string((i + 1) % clients));
	EXPECT_EQ(served.stats().open, clients);
	all.clear();
	EXPECT_TRUE(wait_until([&] { return served.stats().open == 0; }));
}

TYPED_TEST(Stores, OneClientTooMany)
{
	Served<TypeParam> served(16, 1 << 20, [](rpc::ServerOptions &options) { options.max_connections = 2; });
	auto one = served.client();
	auto two = served.client();
	ClientOptions options;
	options.timeout = 2s;
	EXPECT_FALSE(TypeParam::Client::connect(served.client_context, "127.0.0.1", served.port(), options));
	EXPECT_TRUE(wait_until([&] { return served.stats().refused == 1; }));
	EXPECT_TRUE(served.log.has("2 connections already"));
	EXPECT_EQ(put(*one, "k", "v"), Outcome::ok);
	two.reset();
	ASSERT_TRUE(wait_until([&] { return served.stats().open == 1; }));
	EXPECT_TRUE(TypeParam::Client::connect(served.client_context, "127.0.0.1", served.port(), options));
}

TYPED_TEST(Stores, CallsAreTimedIfThatIsAskedFor)
{
	for (const bool timed : {false, true}) {
		Served<TypeParam> served(16, 1 << 20, [timed](rpc::ServerOptions &options) { options.timed = timed; });
		auto client = served.client();
		ASSERT_EQ(put(*client, "k", "v"), Outcome::ok);
		ASSERT_EQ(erase(*client, "k"), Outcome::ok);
		ASSERT_TRUE(wait_until([&] { return served.stats().requests == 2; }));
		EXPECT_TRUE(wait_until([&] { return served.stats().handling.count() == (timed ? 2u : 0u); }));
		EXPECT_EQ(served.stats().handling.sum() > 0, timed);
	}
}

/* More clients than the table of connections has places, one after another: each place becomes free again. */
TYPED_TEST(Stores, ClientsComeAndGo)
{
	Served<TypeParam> served(16, 1 << 20, [](rpc::ServerOptions &options) {
		options.max_connections = 4;
		options.receive_buffers = 8;
	});
	for (unsigned i = 0; i < 40; i++) {
		ASSERT_TRUE(wait_until([&] { return served.stats().open == 0; }));
		auto client = served.client(4);
		ASSERT_EQ(put(*client, "key", std::to_string(i)), Outcome::ok);
		/* Clients that go in the middle of operations: their receive buffers come back as well. */
		const std::string key = "key", value = binary(4000);
		std::array<Operation, 4> operations;
		start_puts(*client, key, value, operations);
		client->poll({});
	}
	/* Another key: operations that a vanished client has begun may still be done. */
	auto client = served.client();
	EXPECT_EQ(put(*client, "other", "last"), Outcome::ok);
	EXPECT_EQ(get(*client, "other").value, "last");
}

TYPED_TEST(Stores, ServerStopsUnderAClient)
{
	Served<TypeParam> served;
	auto client = served.client(4);
	ASSERT_EQ(put(*client, "key", "value"), Outcome::ok);
	served.stop();
	const auto start = std::chrono::steady_clock::now();
	const Answer answer = run(*client, OperationKind::put, "key", "value");
	EXPECT_EQ(answer.outcome, Outcome::unknown) << "the call may have been served";
	EXPECT_NE(answer.error, 0);
	EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
	EXPECT_EQ(get(*client, "key").outcome, Outcome::failed) << "broken for good";
	EXPECT_EQ(served.stats().open, 0u);
	EXPECT_EQ(served.server().run().error().code, EALREADY);
}

TYPED_TEST(Stores, StopBeforeRun)
{
	ServerLog log;
	const Context context = open_context(Progress::engine_thread);
	auto server = TypeParam::create(context, small_server(log), 16, 1 << 20).value();
	server->stop();
	EXPECT_TRUE(server->run());
}

TYPED_TEST(Stores, DepthBeyondTheServers)
{
	Served<TypeParam> served;
	ClientOptions options;
	options.depth = 17;
	const auto client = TypeParam::Client::connect(served.client_context, "127.0.0.1", served.port(), options);
	ASSERT_FALSE(client);
	EXPECT_EQ(client.error().code, EINVAL);
	options.depth = 0;
	EXPECT_EQ(TypeParam::Client::connect(served.client_context, "127.0.0.1", served.port(), options).error().code,
		EINVAL);
}

TYPED_TEST(Stores, OptionsThatContradict)
{
	ServerLog log;
	const Context context = open_context(Progress::engine_thread);
	rpc::ServerOptions options = small_server(log);
	options.max_value_size = 65536;
	EXPECT_EQ(TypeParam::create(context, options, 16, 1 << 20).error().code, EINVAL);
	options = small_server(log);
	options.threads = 0;
	EXPECT_EQ(TypeParam::create(context, options, 16, 1 << 20).error().code, EINVAL);
	options = small_server(log);
	EXPECT_EQ(TypeParam::create(context, options, 0, 1 << 20).error().code, EINVAL);
	EXPECT_EQ(TypeParam::create(context, options, 16, 0).error().code, EINVAL);
}

TEST(WrongKind, IsNamed)
{
	Served<Rpc> rpc;
	Served<Pilaf> pilaf;
	const auto one = PilafClient::connect(rpc.client_context, "127.0.0.1", rpc.port());
	ASSERT_FALSE(one);
	EXPECT_EQ(one.error().code, EPROTONOSUPPORT);
	EXPECT_NE(one.error().message.find("rpc store"), std::string::npos) << one.error().message;
	const auto other = RpcStoreClient::connect(rpc.client_context, "127.0.0.1", pilaf.port());
	ASSERT_FALSE(other);
	EXPECT_NE(other.error().message.find("pilaf store"), std::string::npos) << other.error().message;
	EXPECT_TRUE(wait_until([&] { return rpc.stats().refused == 1 && pilaf.stats().refused == 1; }));
	EXPECT_TRUE(rpc.log.has("speaks for a pilaf store"));
}

TEST(RoundTrips, OneForEachCall)
{
	Served<Rpc> served;
	auto client = served.client();
	EXPECT_EQ(run(*client, OperationKind::put, "k", "v").round_trips, 1u);
	EXPECT_EQ(get(*client, "k").round_trips, 1u);
	EXPECT_EQ(get(*client, "none").round_trips, 1u);
}

} // namespace
