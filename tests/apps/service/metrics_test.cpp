/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What Prometheus finds, as a server or a long-running client tells it. */
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/metrics.hpp"

namespace
{

using namespace prism;
using namespace prism::apps;
using namespace std::chrono_literals;

/** The answer to GET /metrics, with its head. */
std::string scrape(const MetricsEndpoint &endpoint)
{
	const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_port = htons(endpoint.port());
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
	const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
	std::string text;
	std::array<char, 4096> part;
	for (ssize_t got = 0; (got = ::recv(fd, part.data(), part.size(), 0)) > 0;)
		text.append(part.data(), static_cast<std::size_t>(got));
	::close(fd);
	std::erase(text, '\r');
	return text;
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
	put.add(-1ns); /* a clock that went back */
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
