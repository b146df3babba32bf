/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets that really leave the host: between two network namespaces over a veth pair, whose far side can be made to
 * see the packets of a train one by one. Needs root; all of it happens in a child, whose namespaces end with it.
 */
#include "net/udp/udp_port.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "base/clock.hpp"
#include "net/socket_address.hpp"

using namespace prism::soft;
using prism::monotonic_ns;

namespace
{

using Bytes = std::vector<std::uint8_t>;

void require(bool holds, const std::string &what)
{
	if (!holds)
		throw std::runtime_error(what);
}

void run(const std::string &command)
{
	require(std::system((command + " >/dev/null").c_str()) == 0, command);
}

FileDescriptor new_namespace()
{
	require(::unshare(CLONE_NEWNET) == 0, "unshare");
	return FileDescriptor(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
}

void enter(const FileDescriptor &space)
{
	require(::setns(space.get(), CLONE_NEWNET) == 0, "setns");
}

/* The kernel may take up to a second to let packets through a link that has just come up. */
void await_running(const char *interface)
{
	const FileDescriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	ifreq request{};
	std::strcpy(request.ifr_name, interface);
	for (int i = 0; i < 500; i++) {
		if (::ioctl(any.get(), SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING))
			return;
		::poll(nullptr, 0, 10);
	}
	require(false, std::string(interface) + " does not come up");
}

/* The far side: "far0" with 10.47.0.1 and fd47::1; the near side: "near0" with 10.47.0.2 and fd47::2. */
struct Wire {
	Wire() : far(new_namespace()), near(new_namespace())
	{
		std::ostringstream path;
		path << "/proc/" << ::getpid() << "/fd/" << far.get();
		run("ip link add near0 type veth peer name far0");
		run("ip link set far0 netns " + path.str());
		configure("near0", "2");
		enter(far);
		configure("far0", "1");
		await_running("far0");
		enter(near);
		await_running("near0");
		enter(far);
	}

	static void configure(const std::string &name, const std::string &host)
	{
		run("ip addr add 10.47.0." + host + "/24 dev " + name);
		run("ip addr add fd47::" + host + "/64 dev " + name + " nodad");
		run("ip link set " + name + " up");
	}

	FileDescriptor far;
	FileDescriptor near;
};

const Address far_v4{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 47, 0, 1}};
const Address far_v6{{0xfd, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

/* Captures IP packets as they arrive at an interface. */
class Capture
{
public:
	explicit Capture(const char *interface) : fd_(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL)))
	{
		sockaddr_ll name{};
		name.sll_family = AF_PACKET;
		name.sll_protocol = htons(ETH_P_ALL);
		name.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
		require(::bind(fd_.get(), reinterpret_cast<const sockaddr *>(&name), sizeof(name)) == 0,
			"bind capture");
	}

	/* Returns the next packet to UDP port 4791, from its IP header on; empty if none arrives. */
	Bytes next() const
	{
		for (;;) {
			pollfd ready{fd_.get(), POLLIN, 0};
			if (::poll(&ready, 1, 500) <= 0)
				return {};
			Bytes packet(65536);
			sockaddr_ll from{};
			socklen_t size = sizeof(from);
			const ssize_t got = ::recvfrom(
				fd_.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr *>(&from), &size);
			if (got < 48 || from.sll_pkttype == PACKET_OUTGOING)
				continue;
			packet.resize(static_cast<std::size_t>(got));
			const std::size_t udp = packet[0] >> 4 == 4 ? 20 : 40;
			const bool is_udp = packet[udp == 20 ? 9 : 6] == 17;
			if (is_udp && (packet[udp + 2] << 8 | packet[udp + 3]) == roce_port)
				return packet;
		}
	}

private:
	FileDescriptor fd_;
};

std::uint32_t crc_bit_by_bit(const Bytes &bytes)
{
	std::uint32_t crc = 0xffffffff;
	for (const std::uint8_t byte : bytes)
		for (int bit = 0; bit < 8; bit++) {
			const std::uint32_t carry = (crc ^ (byte >> bit)) & 1;
			crc = (crc >> 1) ^ (carry ? 0xedb88320 : 0);
		}
	return ~crc;
}

/* Computes the ICRC from nothing but the bytes on the wire. */
std::uint32_t icrc_of(const Bytes &wire)
{
	Bytes covered(8 + wire.size() - icrc_size, 0xff);
	std::copy(wire.begin(), wire.end() - icrc_size, covered.begin() + 8);
	const bool v4 = wire[0] >> 4 == 4;
	const std::size_t udp = 8 + (v4 ? 20 : 40);
	if (v4)
		for (const std::size_t masked : {1, 8, 10, 11})
			covered[8 + masked] = 0xff;
	else
		for (const std::size_t masked : {1, 2, 3, 7})
			covered[8 + masked] = 0xff;
	if (!v4)
		covered[8] |= 0x0f;
	covered[udp + 6] = covered[udp + 7] = covered[udp + 8 + 4] = 0xff;
	return crc_bit_by_bit(covered);
}

void send(UdpPort &port, const Address &to, std::size_t size, std::uint32_t serial)
{
	std::uint8_t *packet = port.begin(to, size);
	for (std::size_t i = 0; i < size; i++)
		packet[i] = static_cast<std::uint8_t>(serial + i);
	packet[5] = packet[6] = packet[7] = 0; /* QPN 0: any receiver */
	port.commit();
}

std::unique_ptr<UdpPort> open_port(const std::string &interface)
{
	std::string error;
	auto port = UdpPort::open(interface, error);
	require(port != nullptr, error);
	return port;
}

/* 150 equal packets and a short one: two full trains and part of a third, with identifications from 0 in each. */
void trains_are_cut_up_with_right_icrcs(const Address &to)
{
	const Wire wire;
	const Capture capture("far0");
	enter(wire.near);
	/* Newer kernels let a train cross a veth pair whole; with so small a limit it is cut up first, as for a real
	 * link. */
	run("ip link set near0 gso_max_segs 1");
	const auto port = open_port("near0");
	for (std::uint32_t i = 0; i < 150; i++)
		send(*port, to, 100, i);
	send(*port, to, 40, 150);
	port->flush();
	require(port->counters().tx_trains == 3, "three trains expected");
	for (unsigned i = 0; i <= 150; i++) {
		const Bytes packet = capture.next();
		const std::string which = "packet " + std::to_string(i) + ": ";
		require(!packet.empty(), which + "missing");
		const std::size_t headers = to.is_ipv4() ? 28 : 48;
		require(packet.size() == headers + (i < 150 ? 100 : 40) + icrc_size, which + "not by itself");
		if (to.is_ipv4()) {
			require((packet[4] << 8 | packet[5]) == static_cast<int>(i % max_train_packets),
				which + "IP ID");
			require(packet[6] == 0x40 && packet[7] == 0, which + "DF");
		}
		std::uint32_t carried;
		std::memcpy(&carried, packet.data() + packet.size() - icrc_size, icrc_size);
		require(carried == icrc_of(packet), which + "ICRC");
	}
}

struct Counter final : PacketHandler {
	void receive(const Route &, std::span<const std::uint8_t>, Time) override { packets++; }
	unsigned packets = 0;
};

void trains_arrive(const Address &to)
{
	const Wire wire;
	const auto receiver = open_port("far0");
	enter(wire.near);
	const auto port = open_port("near0");
	for (std::uint32_t i = 0; i < 500; i++)
		send(*port, to, 512, i);
	port->flush();
	Counter counter;
	while (counter.packets < 500 && receiver->wait(500'000'000, -1))
		receiver->receive(counter, monotonic_ns(), 64);
	require(counter.packets == 500, std::to_string(counter.packets) + " of 500 packets arrived");
	require(receiver->counters().rx_bad_icrc == 0, "bad ICRCs");
}

void oversized_packets_are_counted()
{
	const Wire wire;
	enter(wire.near);
	const auto port = open_port("near0");
	send(*port, far_v4, 4096, 0);
	for (std::uint32_t i = 0; i < 8; i++)
		send(*port, far_v6, 4096, i);
	port->flush();
	const UdpCounters counters = port->counters();
	require(counters.tx_errors == 9 && counters.tx_packets == 0, "nothing of 4096 bytes fits a link of 1500");
	require(counters.tx_too_big == 9, "they were too big");
}

void no_address_for_the_peer()
{
	const Wire wire;
	enter(wire.near);
	run("ip addr flush dev near0 scope global");
	run("ip -6 addr flush dev near0");
	run("ip addr add 10.47.0.2/24 dev near0");
	const auto port = open_port("near0");
	require(port->addresses().size() == 1, "one address");
	send(*port, far_v6, 64, 0);
	port->flush();
	require(port->counters().tx_no_route == 1 && port->counters().tx_errors == 1, "no IPv6 address to send from");
}

void port_in_use_is_said()
{
	const Wire wire;
	const FileDescriptor other(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	const SocketAddress name = to_socket_address(far_v4, roce_port, 0);
	require(::bind(other.get(), &name.any, name.size()) == 0, "bind");
	std::string error;
	require(!UdpPort::open("far0", error), "opened a port that is taken");
	require(error.find("in use") != std::string::npos, "error text: " + error);
}

/* Runs @p test in a child of its own and reports an exception that it threw. */
template <class Test>
void in_child(Test test)
{
	int ends[2];
	ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
	const pid_t child = ::fork();
	if (child == 0) {
		std::string text;
		try {
			test();
		} catch (const std::exception &error) {
			text = error.what();
		}
		(void)!::write(ends[1], text.data(), text.size());
		::_exit(text.empty() ? 0 : 1);
	}
	::close(ends[1]);
	char text[512] = {};
	(void)!::read(ends[0], text, sizeof(text) - 1);
	::close(ends[0]);
	int status = 0;
	ASSERT_EQ(::waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0) << text;
}

class UdpWire : public testing::Test
{
protected:
	void SetUp() override
	{
		if (::geteuid() != 0)
			GTEST_SKIP() << "network namespaces need root";
		if (std::system("ip -V >/dev/null 2>&1") != 0)
			GTEST_SKIP() << "no ip command (iproute2)";
	}
};

} // namespace

TEST_F(UdpWire, TrainsAreCutUpOverIpv4)
{
	in_child([] { trains_are_cut_up_with_right_icrcs(far_v4); });
}

TEST_F(UdpWire, TrainsAreCutUpOverIpv6)
{
	in_child([] { trains_are_cut_up_with_right_icrcs(far_v6); });
}

TEST_F(UdpWire, TrainsArriveOverIpv4)
{
	in_child([] { trains_arrive(far_v4); });
}

TEST_F(UdpWire, TrainsArriveOverIpv6)
{
	in_child([] { trains_arrive(far_v6); });
}

TEST_F(UdpWire, OversizedPacketsAreCounted)
{
	in_child(oversized_packets_are_counted);
}

TEST_F(UdpWire, NoAddressForThePeer)
{
	in_child(no_address_for_the_peer);
}

TEST_F(UdpWire, PortInUseIsSaid)
{
	in_child(port_in_use_is_said);
}
