/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Metrics of a server or a long-running client, as Prometheus finds them. */
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../descriptor_limit.hpp"
#include "base/descriptor.hpp"
#include "service/http_server.hpp"
#include "service/metrics.hpp"

namespace
{

using namespace prism;
using namespace prism::apps;
using namespace std::chrono_literals;

class Connection
{
public:
	explicit Connection(std::uint16_t port)
	{
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_port = htons(port);
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
	}

	/** Sends @p text. Returns false if the server has ended the connection. */
	bool say(const std::string &text)
	{
		return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
	}
	/** Returns all until the server ends the connection. */
	std::string hear()
	{
		std::string text;
		std::array<char, 4096> part;
		ssize_t got = 0;
		while ((got = ::recv(fd_.get(), part.data(), part.size(), 0)) > 0)
			text.append(part.data(), static_cast<std::size_t>(got));
		was_reset = got < 0;
		std::erase(text, '\r');
		return text;
	}

	bool was_reset = false; /* kind of the end */

private:
	Descriptor fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

std::string ask(std::uint16_t port, const std::string &request)
{
	Connection connection(port);
	EXPECT_TRUE(connection.say(request));
	return connection.hear();
}

/** Returns the answer to GET /metrics, with its head. */
std::string scrape(const MetricsEndpoint &endpoint)
{
	return ask(endpoint.port(), "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

#define EXPECT_LINE(text, line) EXPECT_NE((text).find(std::string("\n") + (line) + "\n"), std::string::npos) << (text)

std::unique_ptr<MetricsEndpoint> endpoint()
{
	return MetricsEndpoint::create("127.0.0.1:0").value();
}

TEST(Metrics, AreWhatSourcesTellNow)
{
	const auto metrics = endpoint();
	std::atomic<unsigned> calls{6};
	const auto source = [&calls](std::vector<Metric> &into) {
		into.push_back({Metric::Kind::counter, "test_calls_total", "Calls", static_cast<double>(calls), {}});
		into.push_back({Metric::Kind::gauge, "test_buffers", "Buffers", 1.5, {{"size", "64"}}});
	};
	metrics->add(source, {{"store", "kv"}});
	std::string text = scrape(*metrics);
	EXPECT_EQ(text.find("HTTP/1.1 200 OK"), 0u) << text;
	EXPECT_LINE(text, "# HELP test_calls_total Calls");
	EXPECT_LINE(text, "# TYPE test_calls_total counter");
	EXPECT_LINE(text, "test_calls_total{store=\"kv\"} 6");
	EXPECT_LINE(text, "# TYPE test_buffers gauge");
	EXPECT_LINE(text, "test_buffers{store=\"kv\",size=\"64\"} 1.5");
	calls++;
	text = scrape(*metrics);
	EXPECT_LINE(text, "test_calls_total{store=\"kv\"} 7");
}

TEST(Metrics, OfSeveralStoresAreOneFamily)
{
	const auto metrics = endpoint();
	for (const char *number : {"0", "1"}) {
		const auto source = [](std::vector<Metric> &into) {
			into.push_back({Metric::Kind::gauge, "test_open", "Open", 2, {}});
		};
		metrics->add(source, {{"replica", number}});
	}
	const std::string text = scrape(*metrics);
	EXPECT_LINE(text, "test_open{replica=\"0\"} 2");
	EXPECT_LINE(text, "test_open{replica=\"1\"} 2");
	EXPECT_EQ(text.find("# TYPE test_open"), text.rfind("# TYPE test_open"));
}

TEST(Metrics, HaveDurationsInBuckets)
{
	const auto metrics = endpoint();
	Histogram get(buckets::durations);
	Histogram put(buckets::durations);
	const auto source = [&](std::vector<Metric> &into) {
		for (const auto &[name, histogram] : {std::pair{"get", &get}, std::pair{"put", &put}})
			into.push_back(histogram_metric("test_seconds", "Time", *histogram, {{"operation", name}}));
	};
	metrics->add(source, {{"store", "kv"}});
	get.add(1500ns);
	get.add(3ms);
	put.add(1000s);
	put.add(-1ns); /* as if the clock went back */
	const std::string text = scrape(*metrics);
	EXPECT_LINE(text, "# TYPE test_seconds histogram");
	EXPECT_LINE(text, "test_seconds_count{store=\"kv\",operation=\"get\"} 2");
	EXPECT_LINE(text, "test_seconds_sum{store=\"kv\",operation=\"get\"} 0.0030015");
	EXPECT_LINE(text, "test_seconds_bucket{store=\"kv\",operation=\"get\",le=\"1e-06\"} 0");
	EXPECT_LINE(text, "test_seconds_bucket{store=\"kv\",operation=\"get\",le=\"2e-06\"} 1");
	EXPECT_LINE(text, "test_seconds_bucket{store=\"kv\",operation=\"get\",le=\"0.005\"} 2");
	EXPECT_LINE(text, "test_seconds_bucket{store=\"kv\",operation=\"put\",le=\"1e-07\"} 1");
	EXPECT_LINE(text, "test_seconds_bucket{store=\"kv\",operation=\"put\",le=\"100\"} 1");
	EXPECT_LINE(text, "test_seconds_bucket{store=\"kv\",operation=\"put\",le=\"+Inf\"} 2");
}

TEST(Histogram, ALimitBelongsToItsBucketAndSumsMayBeAdded)
{
	Histogram one(buckets::small_numbers);
	one.add(1);
	one.add(2);
	one.add(7);
	one.add(51);
	Histogram all(one);
	all += one;
	EXPECT_EQ(one.count_of(0), 1u);
	EXPECT_EQ(one.count_of(1), 1u);
	EXPECT_EQ(one.count_of(6), 1u) << "7 is above 6, and not above 8";
	EXPECT_EQ(one.count_of(buckets::small_number_limits.size()), 1u);
	EXPECT_EQ(one.count(), 4u);
	EXPECT_EQ(all.count(), 8u);
	EXPECT_EQ(all.sum(), 122u);
}

TEST(Metrics, HaveTheCountersOfTheDevice)
{
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const auto metrics = endpoint();
	metrics->add_device(context);
	EXPECT_NE(scrape(*metrics).find("\nprism_device_total{device=\"prism_lo\",counter=\"rx_packets\"} "),
		std::string::npos)
		<< scrape(*metrics);
}

TEST(Metrics, AreServedWhateverStrangersDo)
{
	const auto metrics = endpoint();
	std::vector<Connection> dripping;
	for (std::size_t i = 0; i < 3 * HttpServer::max_connections; i++) {
		dripping.emplace_back(metrics->port()).say("GET /metrics HTTP/1.1\r\n");
		for (Connection &one : dripping)
			(void)one.say("X-a: b\r\n");
		if (i % 16 == 1) {
			EXPECT_EQ(scrape(*metrics).find("HTTP/1.1 200 OK"), 0u) << i;
		}
	}
	EXPECT_EQ(dripping.front().hear(), "") << "the oldest has made room";
	EXPECT_TRUE(dripping.back().say("\r\n"));
	EXPECT_EQ(dripping.back().hear().find("HTTP/1.1 200 OK"), 0u) << "a slow one is served while there is room";
}

TEST(HttpServer, EndsWhoDripsOrDoesNotRead)
{
	const std::string large(std::size_t{64} << 20, 'x'); /* more than the sockets' buffers hold */
	const auto server = HttpServer::create(
		"127.0.0.1", 0, "/page", [&] { return large; }, 300ms)
				    .value();
	Connection silent(server->port());
	Connection dripping(server->port());
	Connection deaf(server->port());
	ASSERT_TRUE(deaf.say("GET /page HTTP/1.1\r\n\r\n"));
	const auto start = std::chrono::steady_clock::now();
	while (dripping.say("G"))
		std::this_thread::sleep_for(10ms);
	EXPECT_EQ(silent.hear(), "");
	EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
	EXPECT_LT(deaf.hear().size(), large.size());
}

TEST(HttpServer, TheIdleMakeRoomWhereDescriptorsAreShort)
{
	const auto server = HttpServer::create(
		"127.0.0.1", 0, "/page", [] { return "text\n"; }, 10min)
				    .value();
	Connection idle(server->port());
	ASSERT_NE(ask(server->port(), "GET /page HTTP/1.1\r\n\r\n"), "") << "the idle one has been accepted before";
	std::this_thread::sleep_for(100ms); /* until the server has closed the other one */
	Descriptor for_the_next(::dup(0));
	std::optional<prism::test::DescriptorLimit> none(std::in_place);
	for_the_next.close();
	const std::string answer = ask(server->port(), "GET /page HTTP/1.1\r\n\r\n");
	none.reset();
	EXPECT_NE(answer.find("text"), std::string::npos) << answer;
}

TEST(HttpServer, TheIdleLeaveDescriptorsToOtherPorts)
{
	std::optional<prism::test::DescriptorLimit> few(64);
	const auto server = HttpServer::create(
		"127.0.0.1", 0, "/page", [] { return "text\n"; }, 10min);
	few.reset();
	ASSERT_TRUE(server);
	std::vector<std::unique_ptr<Connection>> idle;
	for (int i = 0; i < 5; i++)
		idle.push_back(std::make_unique<Connection>((*server)->port()));
	EXPECT_EQ(idle.front()->hear(), "") << "the fifth has taken its place";
}

TEST(HttpServer, AnswersWhatIsNoRequestOfThePage)
{
	const auto server = HttpServer::create("127.0.0.1", 0, "/page", [] { return "text\n"; }).value();
	const std::vector<std::pair<std::string, std::string>> answers = {
		{"GET /page?x=1 HTTP/1.0\r\nA: b\r\n\r\n", "200 OK"}, {"HEAD /page HTTP/1.1\r\n\r\n", "200 OK"},
		{"POST /page HTTP/1.1\r\n\r\n", "405 "}, {"GET / HTTP/1.1\r\n\r\n", "404 "},
		{"GET /page\r\n\r\n", "400 "}, {"\r\n\r\n", "400 "}, {std::string(8192, 'x'), "431 "}};
	for (const auto &[request, status] : answers)
		EXPECT_EQ(ask(server->port(), request).find("HTTP/1.1 " + status), 0u) << request.substr(0, 40);
	const std::string head = ask(server->port(), "HEAD /page HTTP/1.1\r\n\r\n");
	EXPECT_NE(head.find("\nContent-Length: 5\n"), std::string::npos) << head;
	EXPECT_TRUE(head.ends_with("\n\n")) << head;
	EXPECT_TRUE(ask(server->port(), "GET /page HTTP/1.1\r\n\r\n").ends_with("\n\ntext\n"));
}

/* A connection that is closed while there are bytes to read is reset, and the answer is lost with it. */
TEST(HttpServer, HearsOutWhoSaysTooMuchButNotForEver)
{
	const auto server = HttpServer::create("127.0.0.1", 0, "/page", [] { return "text\n"; }).value();
	const std::string much(500'000, 'x');
	for (const auto &[request, answer] :
		{std::pair(much, "too long"), std::pair("GET /page HTTP/1.1\r\n\r\n" + much, "text")}) {
		Connection connection(server->port());
		EXPECT_TRUE(connection.say(request));
		EXPECT_NE(connection.hear().find(answer), std::string::npos);
		EXPECT_FALSE(connection.was_reset) << answer;
	}
	Connection endless(server->port());
	std::size_t said = 0;
	while (said < 20 * HttpServer::most_dropped && endless.say(std::string(100'000, 'x')))
		said += 100'000;
	EXPECT_LT(said, 20 * HttpServer::most_dropped);
}

TEST(Metrics, AreNotServedWhereNobodyCanListen)
{
	const auto taken = endpoint();
	for (const std::string &address :
		{"127.0.0.1:" + std::to_string(taken->port()), std::string("192.0.2.1:0"), std::string("nonsense")}) {
		const auto made = MetricsEndpoint::create(address);
		ASSERT_FALSE(made.ok()) << address;
		EXPECT_NE(made.error().message.find("'" + address + "'"), std::string::npos) << made.error().message;
	}
}

} // namespace
