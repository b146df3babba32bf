/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Declarations that only the source files of UdpPort share. */
#pragma once

#include <sys/socket.h>

#include "udp_port.hpp"

namespace prism::soft
{

/* Returns the destination QPN of a packet that is long enough to have one. */
inline std::uint32_t qpn_of(std::span<const std::uint8_t> wire)
{
	return static_cast<std::uint32_t>(wire[5] << 16 | wire[6] << 8 | wire[7]);
}

/* Returns the number of datagrams that did not fit the socket's buffer. */
[[nodiscard]] std::uint64_t kernel_drops(int fd);

/* Most addresses of one interface in the GID table; further ones are left out. */
inline constexpr std::size_t max_own_sockets = 32;

struct UdpPort::CachedSeed {
	IcrcFlow flow;
	std::size_t size = 0;
	IcrcSeed seed{flow, size};
};

/* Header of a datagram between two processes. Both run on this host, so the compiler chooses its layout. */
struct UdpPort::Forwarded {
	static constexpr std::uint32_t expected_magic = 0x50524631;

	enum class Kind : std::uint16_t {
		packets, /* follow: one run as it came from the network, ICRCs included */
		answer,  /* to a SteeringProbe; nothing follows */
	};

	std::uint32_t magic = expected_magic;
	Kind kind = Kind::packets;
	std::uint16_t segment = 0;     /* packets: bytes of each; answer: 1 if the member takes management datagrams */
	std::uint16_t first = 0;       /* packets: position in the train */
	std::uint16_t source_port = 0; /* packets: host order */
	std::uint16_t slot = 0;        /* answer: of the member that answers */
	std::uint16_t index = 0;       /* answer: the index in the probe */
	std::uint32_t nonce = 0;       /* answer: ending of its name */
	Address from{};                /* packets: the sender */
	Address to{};                  /* the shared address */
};

struct UdpPort::SendBuffers {
	union Control {
		cmsghdr header;
		char space[CMSG_SPACE(sizeof(std::uint16_t))];
	};

	std::array<mmsghdr, TrainQueue::max_trains> message;
	std::array<SocketAddress, TrainQueue::max_trains> to;
	std::array<Control, TrainQueue::max_trains> control;
	/* Takes packets without a destination. */
	std::array<std::uint8_t, max_packet_size> discard;
};

struct UdpPort::ReceiveBuffers {
	static constexpr unsigned batch = 8;
	static constexpr std::size_t size = 65536 + sizeof(Forwarded);

	union Control {
		cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	};

	ReceiveBuffers();
	void rearm(unsigned index);
	[[nodiscard]] std::uint8_t *data(unsigned index) { return memory.get() + index * size; }

	std::unique_ptr<std::uint8_t[]> memory = std::make_unique_for_overwrite<std::uint8_t[]>(batch * size);
	std::array<mmsghdr, batch> message{};
	std::array<iovec, batch> piece;
	std::array<SocketAddress, batch> from;
	std::array<Control, batch> control;
};

} // namespace prism::soft
