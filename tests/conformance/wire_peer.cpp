/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "wire_peer.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/wire.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace prism::conformance
{

namespace
{

constexpr std::uint32_t largest_mtu = 4096;
constexpr std::size_t bth_bytes = PRISM_BTH_SIZE;

constexpr std::uint16_t roce_port = 4791;
constexpr std::size_t ipv4_header = 20, ipv6_header = 40, udp_header = 8;
constexpr int buffer_bytes = 32 << 20; /* nothing that the device sends may be lost here */

[[noreturn]] void fail(const char *what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

int must(int result, const char *what)
{
	if (result < 0)
		fail(what);
	return result;
}

struct SocketAddress {
	sockaddr_storage storage{};
	socklen_t length = 0;
	[[nodiscard]] const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
};

SocketAddress to_socket_address(const ibv_gid &gid, bool ipv6, std::uint16_t port)
{
	SocketAddress address;
	if (ipv6) {
		sockaddr_in6 in6{};
		in6.sin6_family = AF_INET6;
		in6.sin6_port = htons(port);
		std::memcpy(&in6.sin6_addr, gid.raw, 16);
		std::memcpy(&address.storage, &in6, sizeof(in6));
		address.length = sizeof(in6);
	} else {
		sockaddr_in in{};
		in.sin_family = AF_INET;
		in.sin_port = htons(port);
		std::memcpy(&in.sin_addr, gid.raw + 12, 4);
		std::memcpy(&address.storage, &in, sizeof(in));
		address.length = sizeof(in);
	}
	return address;
}

soft::Address soft_address(const ibv_gid &gid)
{
	soft::Address address{};
	std::copy_n(gid.raw, 16, address.gid.begin());
	return address;
}

/**
 * Pins the thread: a packet over a veth pair waits at the processor that sent it. If a sender changes the processor in
 * between, its packets overtake each other, on a busy machine often.
 */
void stay_on_this_processor()
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(must(sched_getcpu(), "sched_getcpu"), &one);
	must(sched_setaffinity(0, sizeof(one), &one), "sched_setaffinity");
}

} // namespace

ibv_gid to_gid(const std::string &address)
{
	ibv_gid gid{};
	gid.raw[10] = gid.raw[11] = 0xff;
	if (inet_pton(AF_INET, address.c_str(), gid.raw + 12) == 1 ||
		inet_pton(AF_INET6, address.c_str(), gid.raw) == 1)
		return gid;
	throw std::runtime_error("not an address: " + address);
}

Descriptor socket_in(const std::string &network_namespace, int family, int type, int protocol)
{
	const Descriptor here(must(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "own namespace"));
	const Descriptor there(
		must(open(("/run/netns/" + network_namespace).c_str(), O_RDONLY | O_CLOEXEC), "namespace"));
	must(setns(there.get(), CLONE_NEWNET), "setns");
	Descriptor made(socket(family, type | SOCK_CLOEXEC, protocol));
	const int error = errno;
	must(setns(here.get(), CLONE_NEWNET), "setns back");
	errno = error;
	must(made.get(), "socket");
	return made;
}

/* Bound, so that the namespace answers the device's packets with no ICMP. It is never read. */
WirePeer::WirePeer(const WirePath &path, std::uint16_t port)
	: own_(to_gid(path.peer)),
	  device_(to_gid(path.device)), flow_{soft_address(own_), soft_address(device_), port, roce_port},
	  socket_(socket_in(path.network_namespace, ipv6() ? AF_INET6 : AF_INET, SOCK_DGRAM, 0)),
	  tap_(socket_in(path.network_namespace, AF_PACKET, SOCK_DGRAM, htons(ipv6() ? ETH_P_IPV6 : ETH_P_IP))),
	  network_namespace_(path.network_namespace)
{
	stay_on_this_processor();
	const int discover = IP_PMTUDISC_DO;
	if (!ipv6())
		must(setsockopt(socket_.get(), IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover)), "DF");
	const SocketAddress address = to_socket_address(own_, ipv6(), port);
	must(bind(socket_.get(), address.get(), address.length), "bind");
	must(setsockopt(tap_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof(buffer_bytes)), "SO_RCVBUFFORCE");
}

std::uint32_t WirePeer::icrc_of(const Packet &packet, std::uint16_t ip_id) const
{
	return soft::icrc(flow_, packet, ip_id);
}

void WirePeer::send(const Packet &packet) const
{
	Packet datagram = packet;
	datagram.resize(packet.size() + soft::icrc_size);
	soft::store_icrc(datagram.data() + packet.size(), icrc_of(packet));
	send_raw(datagram);
}

void WirePeer::send_raw(std::span<const std::uint8_t> datagram) const
{
	const SocketAddress to = to_socket_address(device_, ipv6(), roce_port);
	must(static_cast<int>(sendto(socket_.get(), datagram.data(), datagram.size(), 0, to.get(), to.length)),
		"sendto");
}

void WirePeer::send_without_length(const Packet &packet) const
{
	const Descriptor raw = socket_in(network_namespace_, AF_INET6, SOCK_RAW, IPPROTO_UDP);
	const SocketAddress from = to_socket_address(own_, true, 0);
	must(bind(raw.get(), from.get(), from.length), "bind");
	const int checksum_at = 6; /* in the UDP header: the kernel fills it in */
	must(setsockopt(raw.get(), IPPROTO_IPV6, IPV6_CHECKSUM, &checksum_at, sizeof(checksum_at)), "IPV6_CHECKSUM");
	Packet datagram(udp_header);
	store(datagram.data(), flow_.source_port);
	store(datagram.data() + 2, roce_port);
	datagram.insert(datagram.end(), packet.begin(), packet.end());
	datagram.resize(datagram.size() + soft::icrc_size);
	soft::store_icrc(datagram.data() + udp_header + packet.size(), icrc_of(packet));
	const SocketAddress to = to_socket_address(device_, true, 0);
	must(static_cast<int>(sendto(raw.get(), datagram.data(), datagram.size(), 0, to.get(), to.length)), "sendto");
}

void WirePeer::send_train(std::span<const Packet> packets) const
{
	Packet train;
	for (std::size_t i = 0; i < packets.size(); i++) {
		const std::size_t at = train.size() + packets[i].size();
		train.insert(train.end(), packets[i].begin(), packets[i].end());
		train.resize(at + soft::icrc_size);
		soft::store_icrc(train.data() + at, icrc_of(packets[i], static_cast<std::uint16_t>(i)));
	}
	const int size = static_cast<int>(packets[0].size() + soft::icrc_size);
	must(setsockopt(socket_.get(), IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)), "UDP_SEGMENT");
	send_raw(train);
	const int none = 0;
	must(setsockopt(socket_.get(), IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none)), "UDP_SEGMENT");
}

/** Returns the device's RoCEv2 packet to us, or nothing. */
std::optional<Packet> WirePeer::check_datagram(std::span<const std::uint8_t> datagram)
{
	const std::size_t ip_size = ipv6() ? ipv6_header : ipv4_header;
	const std::uint8_t *ip = datagram.data(), *udp = ip + ip_size;
	const std::size_t addresses = ipv6() ? 8 : 12, length = ipv6() ? 16 : 4;
	if (datagram.size() < ip_size + udp_header || ip[ipv6() ? 6 : 9] != IPPROTO_UDP ||
		load<std::uint16_t>(udp + 2) != roce_port ||
		std::memcmp(ip + addresses, device_.raw + 16 - length, length) != 0 ||
		std::memcmp(ip + addresses + length, own_.raw + 16 - length, length) != 0)
		return {};
	const std::size_t size = load<std::uint16_t>(udp + 4);
	if (size < udp_header || datagram.size() < ip_size + size) {
		complaint_ = "a UDP length that is wrong";
		return {};
	}
	const unsigned id = ipv6() ? 0 : load<std::uint16_t>(ip + 4);
	if (id || (!ipv6() && load<std::uint16_t>(ip + 6) != 0x4000))
		complaint_ = "an IPv4 identification other than 0, or no DF";
	const soft::IcrcFlow back{flow_.destination, flow_.source, load<std::uint16_t>(udp), roce_port};
	const auto packet = datagram.subspan(ip_size + udp_header, size - udp_header);
	if (check_icrc(back, packet, 0) != soft::IcrcVerdict::exact)
		complaint_ = "a wrong ICRC";
	if (packet.size() < soft::icrc_size)
		return {};
	return Packet(packet.begin(), packet.end() - static_cast<std::ptrdiff_t>(soft::icrc_size));
}

/** Takes a bundle apart; each packet must be allowed as an entry, and bundling them again must give the same bytes. */
void WirePeer::take_apart(const Packet &packet)
{
	prism_bundle bundle{};
	if (!prism_bundle_open(&bundle, packet.data(), static_cast<std::uint32_t>(packet.size()), largest_mtu)) {
		complaint_ = "a bundle that is not well formed";
		return;
	}
	Packet again(bth_bytes);
	Packet entry(PRISM_MAX_ENTRY_PACKET(largest_mtu));
	std::size_t count = 0;
	while (const std::uint32_t size = prism_bundle_next(&bundle, entry.data())) {
		if (!count++)
			prism_bundle_put_header(again.data(), entry.data());
		if (!prism_bundle_takes(entry.data(), size, largest_mtu))
			complaint_ = "an entry that may not be one";
		const std::size_t at = again.size();
		again.resize(at + prism_bundle_entry_size(entry.data(), size));
		prism_bundle_put_entry(again.data() + at, entry.data(), size);
		entries_.emplace_back(entry.begin(), entry.begin() + size);
	}
	if (again != packet)
		complaint_ = "a bundle that should be other bytes";
	bundles_.push_back(count);
}

std::optional<Packet> WirePeer::receive(std::chrono::milliseconds limit)
{
	while (entries_.empty()) {
		std::optional<Packet> packet = receive_packet(limit);
		if (!packet || packet->empty() || !prism_opcode_is_bundle(packet->front()))
			return packet;
		take_apart(*packet);
	}
	Packet packet = std::move(entries_.front());
	entries_.pop_front();
	return packet;
}

std::optional<Packet> WirePeer::receive_packet(std::chrono::milliseconds limit)
{
	std::array<std::uint8_t, 9216> buffer;
	const auto deadline = std::chrono::steady_clock::now() + limit;
	for (;;) {
		pollfd ready{tap_.get(), POLLIN, 0};
		if (poll(&ready, 1, static_cast<int>(time_left(deadline).count())) <= 0)
			return {};
		const ssize_t size = recv(tap_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
		if (size <= 0)
			continue;
		if (auto packet = check_datagram({buffer.data(), static_cast<std::size_t>(size)}))
			return packet;
	}
}

std::size_t WirePeer::drop_received()
{
	std::size_t count = 0;
	while (receive(std::chrono::milliseconds(0)))
		count++;
	return count;
}

} // namespace prism::conformance
