/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guarantees of calls, for each way. */
#include "support.hpp"

namespace
{

using namespace calls;

class Ways : public ByEachWay
{
};

TEST_P(Ways, ResponsesOfAllSizes)
{
	Served served(GetParam());
	const auto link = served.connect(options());
	Caller caller(*link);
	std::uint64_t seed = 1;
	std::uint64_t sum = 0;
	std::vector<std::uint32_t> sizes{0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200, 231, 232, 233, 240, 241, 256, 1000,
		1024, 4095, 4096, 4097, longest_response - 1, longest_response};
	auto next = sizes.begin();
	caller.run(sizes.size(), [&] {
		sum += ++seed;
		return Wish{*next++, 0, seed * 0x0123456789abcdefu};
	});
	EXPECT_EQ(caller.answered, sizes.size());
	EXPECT_EQ(served.echo.executed, sizes.size());
	EXPECT_EQ(served.echo.seeds, sum * 0x0123456789abcdefu);
}

TEST_P(Ways, ManyCallsUnderWay)
{
	Served served(GetParam());
	const auto link = served.connect(options(16));
	Caller caller(*link);
	std::mt19937_64 random(1);
	std::uint64_t sum = 0;
	constexpr std::uint64_t count = 5000;
	caller.run(count, [&] {
		const std::uint64_t seed = random();
		sum += seed;
		return Wish{static_cast<std::uint32_t>(random() % 700),
			static_cast<std::uint32_t>(random() % 50 == 0 ? 30 : 0), seed};
	});
	EXPECT_EQ(link->broken(), 0);
	EXPECT_EQ(caller.answered, count);
	EXPECT_EQ(served.echo.executed, count);
	EXPECT_EQ(served.echo.seeds, sum);
}

TEST_P(Ways, ManyClients)
{
	Served served(GetParam());
	constexpr std::uint64_t clients = 8;
	constexpr std::uint64_t count = 300;
	std::vector<std::thread> threads;
	std::atomic<std::uint64_t> answered{0};
	for (std::uint64_t client = 0; client < clients; client++) {
		threads.emplace_back([&, client] {
			const auto link = served.connect(options(4));
			Caller caller(*link);
			std::mt19937_64 random(client);
			caller.run(count, [&] {
				return Wish{static_cast<std::uint32_t>(random() % 300), 0, random()};
			});
			answered += caller.answered;
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	EXPECT_EQ(answered, clients * count);
	EXPECT_EQ(served.echo.executed, clients * count);
}

TEST_P(Ways, AClientPicksItsWorker)
{
	Served served(GetParam());
	for (std::uint32_t worker = 0; worker < 2; worker++) {
		ClientOptions chosen = options();
		chosen.worker = worker;
		const auto link = served.connect(chosen);
		Caller caller(*link);
		caller.run(3, [] { return Wish{10, 0, 5}; });
		EXPECT_EQ(served.echo.last_worker, worker);
	}
	ClientOptions none = options();
	none.worker = 2;
	const auto refused = served.try_connect(none);
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, EINVAL);
}

TEST_P(Ways, AnotherWayIsRefused)
{
	Served served(GetParam());
	ClientOptions other = options();
	other.way = GetParam() == Way::two_sided ? Way::fetch : Way::two_sided;
	const auto refused = served.try_connect(other);
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, EPROTONOSUPPORT);
	EXPECT_NE(refused.error().message.find("same way"), std::string::npos) << refused.error().message;
}

/* The caller is told in time; the slot becomes free when the late response has come. */
TEST_P(Ways, ACallThatTakesTooLong)
{
	Served served(GetParam());
	ClientOptions limited = options(2);
	limited.call_limit = 50ms;
	const auto link = served.connect(limited);
	Caller caller(*link);
	served.echo.held = true;
	caller.begin(0, {100, 0, 1});
	ASSERT_TRUE(wait_until([&] {
		link->poll(caller);
		return caller.expired == 1;
	}));
	EXPECT_EQ(caller.released, 0u);
	served.echo.held = false;
	caller.finish();
	EXPECT_EQ(caller.released, 1u);
	EXPECT_EQ(caller.answered, 0u);
	caller.run(10, [] { return Wish{100, 0, 2}; });
	EXPECT_EQ(caller.answered, 10u);
	EXPECT_EQ(served.echo.executed, 11u);
}

TEST_P(Ways, ServerStops)
{
	Served served(GetParam());
	const auto link = served.connect(options(4));
	Caller caller(*link);
	caller.run(20, [] { return Wish{100, 0, 2}; });
	served.stop();
	caller.begin(0, {100, 0, 1});
	caller.finish();
	EXPECT_NE(link->broken(), 0);
}

TEST_P(Ways, ClientsComeAndGo)
{
	Served served(GetParam());
	for (int i = 0; i < 40; i++) {
		const auto link = served.connect(options(1 + i % 16));
		Caller caller(*link);
		if (i % 3)
			caller.run(3, [] { return Wish{500, 0, 9}; });
		else
			caller.begin(0, {500, 0, 9}); /* and leaves */
	}
	EXPECT_TRUE(wait_until([&] { return served.stats().open == 0; }));
	const auto link = served.connect(options());
	Caller caller(*link);
	caller.run(3, [] { return Wish{500, 0, 9}; });
	EXPECT_EQ(caller.answered, 3u);
	EXPECT_EQ(served.stats().malformed, 0u) << served.log.text();
}

/* Some of the calls under way were executed, some not; each is executed exactly once in the end. */
TEST_P(Ways, ComesBackWithCallsUnderWay)
{
	Served served(GetParam());
	ClientOptions wanted = options(8);
	wanted.resumable = true;
	auto link = served.connect(wanted);
	std::uint64_t count = 0;
	std::uint64_t sum = 0;
	std::mt19937_64 random(7);
	auto caller = std::make_unique<Caller>(*link);
	/* Until a response has been lost: on a busy machine the server may answer nothing in so many polls. */
	for (int round = 0; round < 20 || (round < 1000 && !served.stats().repeated); round++) {
		for (std::uint32_t slot = 0; slot < 8; slot++) {
			if (!caller->idle(slot))
				continue;
			const std::uint64_t seed = random();
			caller->begin(slot, Wish{static_cast<std::uint32_t>(seed % 3000), 0, seed});
			sum += seed;
			count++;
		}
		for (std::uint64_t polls = random() % 200; polls > 0; polls--)
			link->poll(*caller);
		link->break_off(ECONNRESET);
		auto next = served.resume(*link);
		ASSERT_TRUE(next) << next.error().message;
		caller->move_to(**next);
		link = *std::move(next);
	}
	caller->finish();
	EXPECT_EQ(link->broken(), 0) << served.log.text();
	EXPECT_EQ(caller->answered, count);
	EXPECT_EQ(served.echo.executed, count);
	EXPECT_EQ(served.echo.seeds, sum);
	EXPECT_GT(served.stats().repeated, 0u) << "no response was lost: the test shows nothing";
}

TEST_P(Ways, AServerThatWasStartedAgainKnowsNobody)
{
	ClientOptions wanted = options(2);
	wanted.resumable = true;
	auto first = std::make_unique<Served>(GetParam());
	auto link = first->connect(wanted);
	link->break_off(ECONNRESET);
	Served second(GetParam());
	const auto refused = second.resume(*link);
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, ESTALE);
}

/* A client that comes back takes its own place. */
TEST_P(Ways, ComesBackToAServerThatIsFull)
{
	Served served(GetParam(), [](ServerOptions &wanted) {
		wanted.max_connections = 1;
		wanted.receive_buffers = 16;
	});
	ClientOptions wanted = options(16);
	wanted.resumable = true;
	const auto lost = served.connect(wanted);
	EXPECT_EQ(served.try_connect(options()).error().code, EMFILE);
	lost->break_off(ECONNRESET);
	const auto link = served.resume(*lost);
	ASSERT_TRUE(link) << link.error().message;
	Caller caller(**link);
	caller.run(20, [] { return Wish{100, 0, 2}; });
	EXPECT_EQ(caller.answered, 20u);
}

/* A server announces at least the memory that a connection's calls take. */
TEST_P(Ways, MemoryIsPlanned)
{
	ServerOptions options;
	options.way = GetParam();
	options.max_connections = 1000;
	options.max_depth = 4;
	options.receive_buffers = 1;
	constexpr std::uint32_t longest = 8192;
	constexpr std::uint64_t calls = 4000;
	const std::uint64_t planned = Server::planned_memory(longest, options);
	const bool reads_requests_elsewhere = GetParam() == Way::two_sided || GetParam() == Way::window;
	if (GetParam() != Way::slots)
		EXPECT_GE(planned, calls * longest * (reads_requests_elsewhere ? 1 : 2));
	else
		EXPECT_LT(planned, calls * longest / 100) << "slots are for the load of all connections";
}

INSTANTIATE_TEST_SUITE_P(All, Ways, every_way(), name_of_parameter);

} // namespace
