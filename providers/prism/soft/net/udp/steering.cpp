/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "steering.hpp"

#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

namespace prism::soft
{

namespace
{

constexpr std::uint8_t probe_magic[2] = {'P', 'R'};

/* In a reuseport program offset 0 is the first byte behind the UDP header: here the BTH, or a probe. */
constexpr std::uint32_t qpn_word = 4;
constexpr std::uint32_t probe_index = 4;
constexpr std::uint32_t probe_nonce = 8;

/* Index beyond any group: the kernel then falls back to its hash. */
constexpr std::uint32_t no_socket = 0xffffffff;

sock_filter jump_if_equal(std::uint32_t value, std::uint8_t otherwise)
{
	return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise);
}

} // namespace

bool SteeringTable::set(unsigned slot, unsigned index)
{
	if (slot >= slot_limit || index >= slot_limit || index_of_[slot] == index)
		return false;
	std::replace(index_of_.begin(), index_of_.end(), static_cast<std::uint16_t>(index), unknown);
	index_of_[slot] = static_cast<std::uint16_t>(index);
	return true;
}

bool SteeringTable::attach(int fd, unsigned otherwise) const
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
		if (index_of_[slot] == unknown)
			continue;
		program.push_back(jump_if_equal(slot, 1));
		program.push_back(BPF_STMT(BPF_RET | BPF_K, index_of_[slot]));
	}
	program.push_back(
		BPF_STMT(BPF_RET | BPF_K, index_of_[otherwise] == unknown ? no_socket : index_of_[otherwise]));
	const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
	return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &all, sizeof(all)) == 0;
}

std::array<std::uint8_t, SteeringProbe::size> SteeringProbe::encode() const
{
	std::array<std::uint8_t, size> datagram{probe_magic[0], probe_magic[1], static_cast<std::uint8_t>(asker >> 8),
		static_cast<std::uint8_t>(asker)};
	for (std::size_t i = 0; i < 4; i++) {
		datagram[probe_index + i] = static_cast<std::uint8_t>(index >> (24 - 8 * i));
		datagram[probe_nonce + i] = static_cast<std::uint8_t>(nonce >> (24 - 8 * i));
	}
	return datagram;
}

std::optional<SteeringProbe> SteeringProbe::decode(std::span<const std::uint8_t> datagram)
{
	if (datagram.size() != size || datagram[0] != probe_magic[0] || datagram[1] != probe_magic[1])
		return {};
	SteeringProbe probe{static_cast<std::uint16_t>(datagram[2] << 8 | datagram[3]), 0, 0};
	for (std::size_t i = 0; i < 4; i++) {
		probe.index = probe.index << 8 | datagram[probe_index + i];
		probe.nonce = probe.nonce << 8 | datagram[probe_nonce + i];
	}
	return probe;
}

} // namespace prism::soft
