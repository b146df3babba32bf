/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The TCP rendezvous on loopback: both sides well-behaved, and one side hostile, silent or gone. */
#include <prism/connection.hpp>

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

#include "base/descriptor.hpp"

namespace
{

using namespace prism;
using namespace std::chrono_literals;

Deadline in(std::chrono::milliseconds time)
{
	return std::chrono::steady_clock::now() + time;
}

ConnectionRecord record_of(std::uint32_t qp_num)
{
	ConnectionRecord record;
	record.endpoint.qp_num = qp_num;
	record.endpoint.gid.raw[15] = 1;
	return record;
}

/* A client that sends raw bytes, not records. */
class RawClient
{
public:
	explicit RawClient(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_port = htons(port);
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		EXPECT_EQ(connect(fd_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
	}

	void say(std::span<const std::byte> bytes)
	{
		EXPECT_EQ(
			send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
	}
	void hang_up() { fd_.close(); }

private:
	Descriptor fd_;
};

class Tcp : public testing::Test
{
protected:
	TcpListener listener = TcpListener::create(0, "127.0.0.1").value();

	/* Returns the error of the server's swap() with a client that sends @p bytes and maybe hangs up. */
	int swap_error(std::span<const std::byte> bytes, bool hang_up, std::chrono::milliseconds patience = 5s)
	{
		RawClient client(listener.port());
		client.say(bytes);
		TcpRendezvous server = listener.accept(5s).value();
		if (hang_up)
			client.hang_up();
		const Result<ConnectionRecord> got = server.swap(record_of(1), in(patience));
		return got ? 0 : got.error().code;
	}
};

TEST_F(Tcp, SwapsRecordsAndMeets)
{
	auto client = std::async(std::launch::async, [this] {
		TcpRendezvous side = TcpRendezvous::connect("localhost", listener.port(), 5s).value();
		const ConnectionRecord peer = side.swap(record_of(2), in(5s)).value();
		side.barrier(in(5s)).value();
		return peer.endpoint.qp_num;
	});
	TcpRendezvous side = listener.accept(5s).value();
	EXPECT_EQ(side.swap(record_of(1), in(5s)).value().endpoint.qp_num, 2u);
	EXPECT_TRUE(side.barrier(in(5s)).ok());
	EXPECT_EQ(client.get(), 1u);
	std::this_thread::sleep_for(50ms);
	EXPECT_TRUE(side.peer_gone());
}

TEST_F(Tcp, AllAddressesAreThoseOfBothFamilies)
{
	const TcpListener everywhere = TcpListener::create(0).value();
	EXPECT_TRUE(TcpRendezvous::connect("127.0.0.1", everywhere.port(), 5s).ok());
	if (!TcpListener::create(0, "::1"))
		GTEST_SKIP() << "this host has no IPv6";
	EXPECT_TRUE(TcpRendezvous::connect("::1", everywhere.port(), 5s).ok());
	EXPECT_FALSE(TcpListener::create(everywhere.port(), "::1"));
}

TEST_F(Tcp, LargestRecordsPassBothWays)
{
	ConnectionRecord large = record_of(3);
	large.private_data.resize(ConnectionRecord::max_private_data, std::byte{7});
	large.regions.resize(ConnectionRecord::max_regions);
	auto client = std::async(std::launch::async, [&] {
		TcpRendezvous side = TcpRendezvous::connect("127.0.0.1", listener.port(), 5s).value();
		return side.swap(large, in(5s)).value().private_data.size();
	});
	TcpRendezvous side = listener.accept(5s).value();
	EXPECT_EQ(side.swap(large, in(5s)).value().regions.size(), ConnectionRecord::max_regions);
	EXPECT_EQ(client.get(), ConnectionRecord::max_private_data);
}

/* The server is busy for a moment: a client that finds its queue full would be silently dropped for a second. */
TEST_F(Tcp, ManyConnectAtOnce)
{
	std::vector<std::unique_ptr<RawClient>> crowd;
	const auto begin = std::chrono::steady_clock::now();
	for (unsigned i = 0; i < 300; i++)
		crowd.push_back(std::make_unique<RawClient>(listener.port()));
	EXPECT_LT(std::chrono::steady_clock::now() - begin, 900ms);
}

TEST_F(Tcp, RefusesGarbage)
{
	const std::vector<std::byte> garbage(200, std::byte{'G'});
	EXPECT_EQ(swap_error(garbage, false), EBADMSG);
}

TEST_F(Tcp, RefusesHugeAnnouncementsAtOnce)
{
	std::vector<std::byte> bytes = record_of(1).serialize().value();
	bytes[8] = std::byte{0x7f};
	EXPECT_EQ(swap_error(bytes, false), EBADMSG);
}

TEST_F(Tcp, SilentPeerTimesOut)
{
	const std::vector<std::byte> bytes = record_of(1).serialize().value();
	const auto start = std::chrono::steady_clock::now();
	EXPECT_EQ(swap_error(std::span(bytes).first(20), false, 100ms), ETIMEDOUT);
	EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
}

TEST_F(Tcp, PeerThatHangsUpIsNoticed)
{
	const std::vector<std::byte> bytes = record_of(1).serialize().value();
	EXPECT_EQ(swap_error(std::span(bytes).first(20), true), ECONNRESET);
}

TEST_F(Tcp, AcceptAndConnectTimeOut)
{
	EXPECT_EQ(listener.accept(20ms).error().code, ETIMEDOUT);
	const std::uint16_t unused = TcpListener::create(0, "127.0.0.1").value().port();
	EXPECT_EQ(TcpRendezvous::connect("127.0.0.1", unused, 100ms).error().code, ECONNREFUSED);
	EXPECT_EQ(TcpRendezvous::connect("no.such.host.invalid", 1, 100ms).error().code, EHOSTUNREACH);
	EXPECT_FALSE(TcpListener::create(listener.port(), "127.0.0.1"));
}

} // namespace
