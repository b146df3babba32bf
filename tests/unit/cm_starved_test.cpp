/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One allocation fails, the first, or the second, and so on: afterwards all is as before. */
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <optional>
#include <random>
#include <variant>
#include <vector>

#include "allocations.hpp"
#include "cm/agent.hpp"
#include "cm/event_queue.hpp"

using namespace prism::cm;

namespace
{

/** Returns true if @p work succeeds with at most @p allocations allocations. */
bool succeeds_with(int allocations, const std::function<void()> &work)
{
	prism::test::allocations_left = allocations;
	bool done = true;
	try {
		work();
	} catch (const std::bad_alloc &) {
		done = false;
	}
	prism::test::allocations_left = -1;
	return done;
}

using Queue = EventQueue<int, int>;

constexpr auto all = [](int) { return true; };

/** Records the messages that it would send and the requests that it receives. */
class Process : public Carrier, public Observer
{
public:
	explicit Process(std::uint16_t number) : agent(*this, *this, number, number, std::mt19937_64(number)) {}

	bool send(const Path &, const Datagram &datagram) override
	{
		sent.push_back(datagram);
		return true;
	}
	bool is_alive(ConnectionId) override { return true; }
	void note_drop(const Arrival &) override {}
	void on_event(ConnectionId, const Event &event) override { events.push_back(event.type); }
	Reception on_request(ConnectionId id, const Incoming &, const Event &) override
	{
		requests.push_back(id);
		return Reception::pending;
	}

	Agent agent;
	std::vector<Datagram> sent;
	std::vector<ConnectionId> requests;
	std::vector<EventType> events;
};

constexpr Time second = 1'000'000'000;
constexpr std::uint16_t port = 7174;
constexpr Address here{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}};

/** Sends a request as a client of this host does, if there is memory. */
void ask(Process &client, PortSpace space)
{
	Endpoint local;
	local.path_mtu = 3;
	client.agent.connect(
		{here, here, true, make_service_id(space, port), here}, space, {here, port, here}, local, {}, second);
}

/**
 * Delivers @p from's last message to @p to, with one allocation more each time, until there is memory for all of it.
 */
void deliver(const Process &from, Process &to)
{
	const Arrival arrival{here, here, true, from.sent.back()};
	for (int enough = 0; !succeeds_with(enough, [&] { to.agent.receive(arrival, second); }); enough++)
		;
}

class StarvedRequest : public testing::TestWithParam<PortSpace>
{
};

} // namespace

TEST(StarvedCm, AnEventIsInTheQueueOrNot)
{
	Queue queue;
	queue.push(2, 20);
	int enough = 0;
	while (!succeeds_with(enough, [&] { queue.push(1, 10); })) {
		enough++;
		ASSERT_EQ(queue.size(), 1U);
		ASSERT_TRUE(queue.take(1, all).empty());
	}
	EXPECT_GT(enough, 1);
	EXPECT_EQ(queue.pop(), 20);
	EXPECT_EQ(queue.pop(), 10);
}

TEST(StarvedCm, AllOfAnOwnersEventsAreTakenOrNone)
{
	Queue queue;
	for (const int event : {10, 20, 11, 12})
		queue.push(event / 10, event);
	std::vector<int> taken;
	int enough = 0;
	while (!succeeds_with(enough, [&] { taken = queue.take(1, all); })) {
		enough++;
		ASSERT_EQ(queue.size(), 4U);
	}
	EXPECT_GT(enough, 0);
	EXPECT_EQ(taken, (std::vector<int>{10, 11, 12}));
	EXPECT_EQ(queue.pop(), 20);
}

TEST_P(StarvedRequest, IsNewWhenItComesAgain)
{
	Process client(1), server(2);
	ask(client, GetParam());
	ASSERT_EQ(client.sent.size(), 1U);
	const Arrival arrival{here, here, true, client.sent.front()};
	int enough = 0;
	while (!succeeds_with(enough, [&] { server.agent.receive(arrival, second); })) {
		enough++;
		ASSERT_TRUE(server.requests.empty());
		server.agent.expire(3 * second); /* no process is watched without need */
	}
	EXPECT_GT(enough, 2);
	EXPECT_EQ(server.requests.size(), 1U);
	server.agent.receive(arrival, second);
	EXPECT_EQ(server.requests.size(), 1U);
}

TEST_P(StarvedRequest, IsRepeatedOnlyIfItWasMade)
{
	Process client(1);
	int enough = 0;
	while (!succeeds_with(enough, [&] { ask(client, GetParam()); })) {
		enough++;
		client.sent.clear();
		ASSERT_FALSE(client.agent.next_deadline());
		client.agent.close_all();
		ASSERT_TRUE(client.sent.empty());
	}
	EXPECT_GT(enough, 1);
	EXPECT_TRUE(client.agent.next_deadline());
}

INSTANTIATE_TEST_SUITE_P(Spaces, StarvedRequest, testing::Values(PortSpace::tcp, PortSpace::udp));

TEST(StarvedCm, EachEventIsHeardOnce)
{
	Process client(1), server(2);
	ask(client, PortSpace::tcp);
	deliver(client, server);
	ASSERT_EQ(server.requests.size(), 1U);
	server.agent.accept(server.requests.front(), here, {}, {}, second);
	deliver(server, client);
	ASSERT_EQ(client.events, std::vector{EventType::connect_response});
	const ConnectionId id = std::get<Rep>(server.sent.back().message).remote_id;
	client.agent.establish(id);
	deliver(client, server);
	ASSERT_EQ(server.events, std::vector{EventType::established});
	client.agent.disconnect(id, second);
	deliver(client, server);
	ASSERT_EQ(server.events, (std::vector{EventType::established, EventType::disconnected}));
	deliver(server, client);
	ASSERT_EQ(client.events, (std::vector{EventType::connect_response, EventType::disconnected}));
}

TEST(StarvedCm, ARefusalIsHeardOnce)
{
	Process client(1), server(2);
	ask(client, PortSpace::tcp);
	deliver(client, server);
	server.agent.reject(server.requests.front(), {});
	deliver(server, client);
	EXPECT_EQ(client.events, std::vector{EventType::rejected});
}

TEST(StarvedCm, ADatagramServicesAnswerIsHeardOnce)
{
	Process client(1), server(2);
	ask(client, PortSpace::udp);
	deliver(client, server);
	server.agent.accept(server.requests.front(), here, {}, {}, second);
	deliver(server, client);
	EXPECT_EQ(client.events, std::vector{EventType::established});
}
