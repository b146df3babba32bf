/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Real UDP ports on the loopback interface: how tests open them, and send and receive by them. */
#pragma once

#include <gtest/gtest.h>

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "net/file_descriptor.hpp"
#include "net/udp/udp_port.hpp"

namespace prism::test
{

using namespace prism::soft;

using Bytes = std::vector<std::uint8_t>;

/* The whole host shares ::1. If permitted, we use a loopback interface of our own. */
class OwnNetwork final : public testing::Environment
{
	void SetUp() override
	{
		if (!is_wanted() || ::unshare(CLONE_NEWNET) != 0)
			return;
		const FileDescriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
		ifreq loopback{};
		std::strcpy(loopback.ifr_name, "lo");
		loopback.ifr_flags = IFF_UP;
		ASSERT_EQ(::ioctl(any.get(), SIOCSIFFLAGS, &loopback), 0);
	}

	/* Returns true if a test of this file runs; tests of other files in the program need the host's network. */
	static bool is_wanted()
	{
		const testing::UnitTest &all = *testing::UnitTest::GetInstance();
		for (int i = 0; i < all.total_test_suite_count(); i++) {
			const testing::TestSuite &suite = *all.GetTestSuite(i);
			if (suite.should_run() && std::string_view(suite.name()).starts_with("UdpPort"))
				return true;
		}
		return false;
	}
};

inline testing::Environment *const own_network = testing::AddGlobalTestEnvironment(new OwnNetwork);

/* Keeps all packets that arrive. */
class Arrivals final : public PacketHandler
{
public:
	void receive(const Route &route, std::span<const std::uint8_t> packet, Time) override
	{
		packets.emplace_back(packet.begin(), packet.end());
		sources.push_back(route.from);
		destinations.push_back(route.to);
		ports.push_back(route.source_port);
	}

	std::vector<Bytes> packets;
	std::vector<Address> sources;
	std::vector<Address> destinations;
	std::vector<std::uint16_t> ports;
};

inline std::unique_ptr<UdpPort> open_loopback()
{
	std::string error;
	auto port = UdpPort::open("lo", error);
	EXPECT_TRUE(port) << error;
	return port;
}

/* Makes a BTH to QP 5 of @p slot, with a serial number, filled up to @p size. */
inline Bytes make_packet(unsigned slot, std::size_t size, std::uint32_t serial)
{
	Bytes packet(size);
	for (std::size_t i = 0; i < size; i++)
		packet[i] = static_cast<std::uint8_t>(serial * 31 + i);
	const std::uint32_t qpn = slot << qpn_index_bits | 5;
	packet[5] = static_cast<std::uint8_t>(qpn >> 16);
	packet[6] = static_cast<std::uint8_t>(qpn >> 8);
	packet[7] = static_cast<std::uint8_t>(qpn);
	std::memcpy(packet.data() + 8, &serial, sizeof(serial));
	return packet;
}

inline void send(UdpPort &port, const Address &to, const Bytes &packet)
{
	std::memcpy(port.begin(to, packet.size()), packet.data(), packet.size());
	port.commit();
}

/* Receives @p packets packets; @p others receive as well, since they may have to hand packets on. */
inline void receive_until(UdpPort &port, Arrivals &inbox, std::size_t packets, std::vector<UdpPort *> others = {})
{
	Arrivals ignored;
	const Time deadline = monotonic_ns() + 2'000'000'000;
	while (inbox.packets.size() < packets && monotonic_ns() < deadline) {
		for (UdpPort *other : others)
			other->receive(ignored, monotonic_ns(), 64);
		port.receive(inbox, monotonic_ns(), 64);
	}
}

inline Address ipv6_address_of(const UdpPort &port)
{
	for (const Address &address : port.addresses())
		if (!address.is_ipv4())
			return address;
	return {};
}

} // namespace prism::test
