/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Real UDP ports on the loopback interface: packets, trains, and what a hostile peer sends. */
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>

#include "net/socket_address.hpp"
#include "udp_ports.hpp"

using namespace prism::soft;
using namespace prism::test;
using prism::monotonic_ns;

TEST(UdpPort, UnknownInterfaceIsAnError)
{
	std::string error;
	EXPECT_FALSE(UdpPort::open("nosuch0", error));
	EXPECT_NE(error.find("nosuch0"), std::string::npos);
}

TEST(UdpPort, LoopbackIsListed)
{
	bool found = false;
	for (const InterfaceInfo &info : list_interfaces())
		if (info.name == "lo") {
			found = true;
			EXPECT_TRUE(info.is_loopback);
			EXPECT_GT(info.index, 0U);
			EXPECT_GE(info.mtu, 1500U);
			EXPECT_FALSE(info.addresses.empty());
		}
	EXPECT_TRUE(found);
}

TEST(UdpPort, AddressNamesTheSlot)
{
	const auto port = open_loopback();
	const Address own = port->addresses().at(0);
	EXPECT_TRUE(own.is_ipv4());
	EXPECT_EQ(own.gid[12], 127);
	EXPECT_EQ(own.gid[14] << 8 | own.gid[15], static_cast<int>(port->slot()));
}

/* Nobody else can take that port, so it identifies the sender. */
TEST(UdpPort, SendsFromThePortOfItsSlot)
{
	const auto a = open_loopback();
	const auto b = open_loopback();
	send(*a, b->addresses()[0], make_packet(b->slot(), 64, 1));
	a->flush();
	Arrivals inbox;
	receive_until(*b, inbox, 1);
	ASSERT_EQ(inbox.ports.size(), 1U);
	EXPECT_EQ(inbox.ports[0], source_port_of(a->slot()));
}

TEST(UdpPort, EmptyReceiveFindsNothing)
{
	const auto port = open_loopback();
	Arrivals inbox;
	EXPECT_EQ(port->receive(inbox, monotonic_ns(), 64), 0);
	EXPECT_FALSE(port->wait(0, -1));
}

TEST(UdpPort, NothingLeavesBeforeFlush)
{
	const auto a = open_loopback();
	const auto b = open_loopback();
	send(*a, b->addresses()[0], make_packet(b->slot(), 64, 1));
	EXPECT_FALSE(b->wait(1'000'000, -1));
	a->flush();
	EXPECT_TRUE(b->wait(1'000'000'000, -1));
}

TEST(UdpPort, EqualPacketsTravelAsTrains)
{
	const auto a = open_loopback();
	const auto b = open_loopback();
	std::vector<Bytes> sent;
	for (std::uint32_t i = 0; i < 200; i++) {
		sent.push_back(make_packet(b->slot(), 80, i));
		send(*a, b->addresses()[0], sent.back());
	}
	a->flush();
	Arrivals inbox;
	receive_until(*b, inbox, sent.size());
	EXPECT_TRUE(inbox.packets == sent);
	for (const Address &source : inbox.sources)
		EXPECT_EQ(source, a->addresses()[0]);
	EXPECT_EQ(a->counters().tx_trains, 4U);
	EXPECT_EQ(a->counters().tx_packets, 200U);
	EXPECT_EQ(b->counters().rx_packets, 200U);
	/* Each identification was the expected one. */
	EXPECT_EQ(b->counters().rx_icrc_id_unknown, 0U);
	EXPECT_EQ(b->counters().rx_bad_icrc, 0U);
}

TEST(UdpPort, MixedSizesKeepTheirOrder)
{
	for (const bool ipv6 : {false, true}) {
		const auto a = open_loopback();
		const auto b = open_loopback();
		const Address to = ipv6 ? ipv6_address_of(*b) : b->addresses()[0];
		std::vector<Bytes> sent;
		for (std::uint32_t i = 0; i < 2000; i++) {
			const std::size_t size = i % 7 == 3 ? max_packet_size : 12 + (i * 37 / 5) % 3 * 52;
			sent.push_back(make_packet(b->slot(), size, i));
			send(*a, to, sent.back());
		}
		a->flush();
		Arrivals inbox;
		receive_until(*b, inbox, sent.size(), {a.get()});
		EXPECT_EQ(inbox.packets.size(), sent.size());
		EXPECT_TRUE(inbox.packets == sent);
		EXPECT_EQ(a->counters().tx_errors, 0U);
	}
}

TEST(UdpPort, ManyDestinationsInterleaved)
{
	const auto a = open_loopback();
	std::vector<std::unique_ptr<UdpPort>> peers;
	for (int i = 0; i < 20; i++)
		peers.push_back(open_loopback());
	std::map<unsigned, std::vector<Bytes>> sent;
	for (std::uint32_t i = 0; i < 1000; i++) {
		UdpPort &peer = *peers[i * 7 % peers.size()];
		sent[peer.slot()].push_back(make_packet(peer.slot(), 40 + i % 3, i));
		send(*a, peer.addresses()[0], sent[peer.slot()].back());
	}
	a->flush();
	for (const auto &peer : peers) {
		Arrivals inbox;
		receive_until(*peer, inbox, sent[peer->slot()].size());
		EXPECT_TRUE(inbox.packets == sent[peer->slot()]);
	}
}

TEST(UdpPort, RoomRunsOutWithoutLoss)
{
	const auto a = open_loopback();
	const auto b = open_loopback();
	Arrivals inbox;
	std::uint32_t sent = 0;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 100; i++)
			send(*a, b->addresses()[0], make_packet(b->slot(), 4096, sent++));
		a->flush();
		receive_until(*b, inbox, sent);
	}
	EXPECT_EQ(inbox.packets.size(), sent);
	EXPECT_EQ(b->counters().rx_socket_drops, 0U);
}

/* Counters only grow (semantics.md S.12). */
TEST(UdpPort, DropsOfAGroupAreCountedAfterItIsLeft)
{
	const auto a = open_loopback();
	const auto b = open_loopback();
	Address group{};
	const std::array<std::uint8_t, 6> low{0xff, 0xff, 239, 47, 2, static_cast<std::uint8_t>(::getpid())};
	std::ranges::copy(low, group.gid.begin() + 10);
	ASSERT_EQ(b->join(group), 0);
	EXPECT_EQ(b->groups(), std::vector<Address>{group});
	for (int i = 0; i < 2000 && !b->counters().rx_socket_drops; i++) {
		for (unsigned packet = 0; packet < 64; packet++)
			send(*a, group, make_packet(b->slot(), 64, packet));
		a->flush();
	}
	const std::uint64_t dropped = b->counters().rx_socket_drops;
	EXPECT_GT(dropped, 0U);
	b->leave(group);
	EXPECT_EQ(b->counters().rx_socket_drops, dropped);
}

TEST(UdpPort, WaitSeesTheWakeDescriptorAndTheTimeout)
{
	const auto port = open_loopback();
	int ends[2];
	ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
	const FileDescriptor reader(ends[0]);
	const FileDescriptor writer(ends[1]);
	const Time start = monotonic_ns();
	EXPECT_FALSE(port->wait(5'000'000, reader.get()));
	EXPECT_GE(monotonic_ns() - start, 5'000'000U);
	std::thread waker([&] { EXPECT_EQ(::write(writer.get(), "x", 1), 1); });
	EXPECT_TRUE(port->wait(-1, reader.get()));
	waker.join();
}

/* Sends raw datagrams from a socket of our own: anything that a hostile peer may send. */
class Hostile : public testing::Test
{
protected:
	void SetUp() override
	{
		port = open_loopback();
		ASSERT_TRUE(port);
		socket = FileDescriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
		const SocketAddress from = to_socket_address(source, 0, 0);
		ASSERT_EQ(::bind(socket.get(), &from.any, from.size()), 0);
		SocketAddress bound{};
		socklen_t size = sizeof(bound);
		ASSERT_EQ(::getsockname(socket.get(), &bound.any, &size), 0);
		source_port = bound.port();
	}

	void shoot(const Bytes &datagram)
	{
		const SocketAddress to = to_socket_address(port->addresses()[0], roce_port, 0);
		ASSERT_EQ(::sendto(socket.get(), datagram.data(), datagram.size(), 0, &to.any, to.size()),
			static_cast<ssize_t>(datagram.size()));
		port->receive(inbox, monotonic_ns(), 64);
	}

	Bytes sealed(Bytes packet, std::uint16_t id) const
	{
		const IcrcFlow flow{source, port->addresses()[0], source_port, roce_port};
		const std::uint32_t value = icrc(flow, packet, id);
		packet.resize(packet.size() + icrc_size);
		store_icrc(packet.data() + packet.size() - icrc_size, value);
		return packet;
	}

	std::unique_ptr<UdpPort> port;
	FileDescriptor socket;
	Address source{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}};
	std::uint16_t source_port = 0;
	Arrivals inbox;
};

TEST_F(Hostile, ShortDatagramsAreCounted)
{
	for (std::size_t size = 0; size < bth_size + icrc_size; size++)
		shoot(Bytes(size, 0xff));
	EXPECT_EQ(port->counters().rx_too_short, bth_size + icrc_size);
	EXPECT_TRUE(inbox.packets.empty());
}

TEST_F(Hostile, LongDatagramsAreCounted)
{
	shoot(sealed(make_packet(port->slot(), max_packet_size + 1, 0), 0));
	shoot(Bytes(65507));
	EXPECT_EQ(port->counters().rx_too_long, 2U);
	EXPECT_TRUE(inbox.packets.empty());
}

TEST_F(Hostile, WrongIcrcIsCounted)
{
	Bytes wire = sealed(make_packet(port->slot(), 64, 0), 0);
	wire[20] ^= 1;
	shoot(wire);
	EXPECT_EQ(port->counters().rx_bad_icrc, 1U);
	EXPECT_TRUE(inbox.packets.empty());
}

TEST_F(Hostile, ForeignIdentificationIsAcceptedAndCounted)
{
	const Bytes packet = make_packet(port->slot(), 64, 0);
	shoot(sealed(packet, 0));
	EXPECT_EQ(port->counters().rx_icrc_id_unknown, 0U);
	shoot(sealed(packet, 0x7777));
	EXPECT_EQ(port->counters().rx_icrc_id_unknown, 1U);
	EXPECT_TRUE(inbox.packets == (std::vector<Bytes>{packet, packet}));
}

TEST_F(Hostile, ForeignSlotIsDroppedOnAnAddressOfOurOwn)
{
	shoot(sealed(make_packet(port->slot() ^ 1, 64, 0), 0));
	EXPECT_EQ(port->counters().rx_misdirected_dropped, 1U);
	EXPECT_TRUE(inbox.packets.empty());
}

TEST_F(Hostile, DatagramsToTheSlotSocketAreChecked)
{
	const auto other = Slot::claim(slot_limit - 1);
	ASSERT_TRUE(other);
	std::mt19937 random{1};
	for (std::size_t size = 0; size < 300; size++) {
		Bytes junk(size);
		for (auto &byte : junk)
			byte = static_cast<std::uint8_t>(random());
		const std::uint32_t magic = 0x50524631;
		if (size >= 8 && size % 2)
			std::memcpy(junk.data(), &magic, sizeof(magic));
		if (size % 4 == 1 && size >= 60)
			std::memset(junk.data() + 4, 0, 56);
		iovec part{junk.data(), junk.size()};
		other->tell(port->slot(), 0, {&part, 1});
		while (port->wait(0, -1))
			port->receive(inbox, monotonic_ns(), 64);
	}
	EXPECT_TRUE(inbox.packets.empty());
}
