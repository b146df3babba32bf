/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "steering.hpp"

#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace prism::soft
{

namespace
{

constexpr std::uint8_t probe_magic[2] = {'P', 'R'};

/* In a reuseport program offset 0 is the first byte behind the UDP header: here the BTH, or a probe. */
constexpr std::uint32_t qpn_word = 4;
constexpr std::uint32_t probe_index = 4;

/* Beyond any group, so the kernel falls back to its hash. */
constexpr std::uint32_t nobody = 0xffffffff;

sock_filter jump_if_equal(std::uint32_t value, std::uint8_t otherwise)
{
	return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise);
}

/* As /proc/net/udp and udp6 print an address: each 32-bit word as a number of this host. */
std::string proc_name(const Address &address, std::uint16_t port)
{
	std::string name;
	std::array<char, 16> text{};
	for (std::size_t at = address.is_ipv4() ? 12 : 0; at < address.gid.size(); at += 4) {
		std::uint32_t word;
		std::memcpy(&word, address.gid.data() + at, sizeof(word));
		std::snprintf(text.data(), text.size(), "%08X", word);
		name += text.data();
	}
	std::snprintf(text.data(), text.size(), ":%04X", port);
	return name + text.data();
}

} // namespace

bool SteeringTable::set(unsigned slot, unsigned index)
{
	if (slot >= slot_limit || index >= slot_limit || index_of[slot] == index)
		return false;
	std::replace(index_of.begin(), index_of.end(), static_cast<std::uint16_t>(index), unknown);
	index_of[slot] = static_cast<std::uint16_t>(index);
	return true;
}

std::uint32_t SteeringTable::first_unknown(unsigned members) const
{
	for (std::uint32_t index = 0; index < members; index++)
		if (std::find(index_of.begin(), index_of.end(), index) == index_of.end())
			return index;
	return nobody;
}

bool SteeringTable::attach(int fd, unsigned members) const
{
	std::vector<sock_filter> program{
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		jump_if_equal(SteeringProbe::size, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, probe_index),
		BPF_STMT(BPF_RET | BPF_A, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, qpn_word),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xffffff),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, qpn_index_bits),
	};
	for (std::uint32_t slot = 0; slot < slot_limit; slot++) {
		if (index_of[slot] == unknown)
			continue;
		program.push_back(jump_if_equal(slot, 1));
		program.push_back(BPF_STMT(BPF_RET | BPF_K, index_of[slot]));
	}
	program.push_back(BPF_STMT(BPF_RET | BPF_K, first_unknown(members)));
	const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
	return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &all, sizeof(all)) == 0;
}

std::array<std::uint8_t, SteeringProbe::size> SteeringProbe::encode() const
{
	return {probe_magic[0], probe_magic[1], static_cast<std::uint8_t>(asker >> 8), static_cast<std::uint8_t>(asker),
		static_cast<std::uint8_t>(index >> 24), static_cast<std::uint8_t>(index >> 16),
		static_cast<std::uint8_t>(index >> 8), static_cast<std::uint8_t>(index)};
}

std::optional<SteeringProbe> SteeringProbe::decode(std::span<const std::uint8_t> datagram)
{
	if (datagram.size() != size || datagram[0] != probe_magic[0] || datagram[1] != probe_magic[1])
		return {};
	SteeringProbe probe{static_cast<std::uint16_t>(datagram[2] << 8 | datagram[3]), 0};
	for (std::size_t i = 4; i < size; i++)
		probe.index = probe.index << 8 | datagram[i];
	return probe;
}

unsigned bound_sockets(const Address &address, std::uint16_t port)
{
	std::ifstream table(address.is_ipv4() ? "/proc/thread-self/net/udp" : "/proc/thread-self/net/udp6");
	const std::string wanted = proc_name(address, port);
	unsigned count = 0;
	for (std::string line; std::getline(table, line);) {
		/* "  sl: local:port remote:port ...": only the local address may match. */
		const std::size_t colon = line.find(": ");
		count += colon != std::string::npos && line.compare(colon + 2, wanted.size(), wanted) == 0;
	}
	return count;
}

} // namespace prism::soft
