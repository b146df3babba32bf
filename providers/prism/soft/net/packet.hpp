/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The boundary between the protocol and the carriers of its packets.
 *
 * The protocol (soft/protocol) sees packets from the first byte of the BTH to the last byte of payload and pad: the
 * ICRC belongs to the carrier, because it covers IP and UDP headers that only the carrier knows. Carriers are the UDP
 * port (soft/net/udp), the rings between processes of one host (soft/net/local), the simulator and the fuzzers
 * (tests/).
 */
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace prism::soft
{

/** Nanoseconds on a monotonic clock. The carrier supplies it; the protocol never reads a clock of its own. */
using Time = std::uint64_t;

/** An endpoint's IP address in the form of a RoCEv2 GID: IPv6, or IPv4 as ::ffff:a.b.c.d (IBTA annex A17). */
struct Address {
	std::array<std::uint8_t, 16> gid{};

	/* Compared for every packet: by two words, without a call. */
	bool operator==(const Address &other) const
	{
		std::array<std::uint64_t, 2> a, b;
		std::memcpy(a.data(), gid.data(), sizeof(a));
		std::memcpy(b.data(), other.gid.data(), sizeof(b));
		return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
	}
	auto operator<=>(const Address &) const = default;

	[[nodiscard]] bool is_ipv4() const
	{
		static constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
		return std::memcmp(gid.data(), prefix.data(), prefix.size()) == 0;
	}

	/** Returns true for 224.0.0.0/4 and ff00::/8: a group that queue pairs of any host may be in. */
	[[nodiscard]] bool is_multicast() const { return is_ipv4() ? gid[12] >> 4 == 0xe : gid[0] == 0xff; }
};

/** The addresses that a packet came from and to. */
struct Route {
	Address from;
	Address to;
	std::uint16_t source_port = 0; /**< UDP's; a carrier may have none */
};

/** Destination QPN of packets to a group (IBTA 9.2, 10.5). */
inline constexpr std::uint32_t multicast_qpn = 0xffffff;

/** Destination QPN of management datagrams, for the connection managers of all processes (IBTA 3.5.9). */
inline constexpr std::uint32_t gsi_qpn = 1;

/** Size of the Base Transport Header, the shortest packet. */
inline constexpr std::size_t bth_size = 12;

/** Size of the longest packet that crosses this boundary: headers of the largest request, a 4096-byte MTU and its
 * pad. */
inline constexpr std::size_t max_packet_size = 4096 + 256;

/** Room for one more packet, as far as a carrier knows. */
enum class Room {
	unknown, /**< it accepts all packets and may lose some, so senders pace themselves */
	yes,     /**< it loses nothing, and delivers packet by packet, in order */
	no,      /**< as yes, but there is no room now */
};

/**
 * Destination of outgoing packets, in order. A carrier may gather packets into trains; it sends nothing before flush()
 * unless it runs out of space.
 */
class PacketSink
{
public:
	virtual ~PacketSink() = default;

	/**
	 * Returns room for one packet of exactly @p size bytes (at most max_packet_size) to @p peer. The caller fills
	 * it and calls commit() before it asks for the next. Never fails: a carrier that cannot send loses the packet,
	 * as a network may.
	 */
	virtual std::uint8_t *begin(const Address &peer, std::size_t size) = 0;

	/**
	 * Does the same from one of the carrier's own addresses, by its index in the GID table. A carrier may have just
	 * one.
	 * @param qpn the queue pair at @p peer, by which a carrier may choose the path; 0: a group, no queue pair
	 */
	virtual std::uint8_t *begin_from(unsigned source, const Address &peer, std::uint32_t qpn, std::size_t size)
	{
		static_cast<void>(source);
		static_cast<void>(qpn);
		return begin(peer, size);
	}

	/** Returns the room on the path of begin_from(). A sender that may wait asks before each packet, and again
	 * at the next progress(). */
	virtual Room room(unsigned source, const Address &peer, std::uint32_t qpn)
	{
		static_cast<void>(source);
		static_cast<void>(peer);
		static_cast<void>(qpn);
		return Room::unknown;
	}

	/**
	 * Tells the carrier that a message waits for room() which nobody would retransmit.
	 * @return true if it has waited long enough and is lost; the carrier has counted it
	 */
	virtual bool loses(unsigned source, const Address &peer, std::uint32_t qpn, Time now)
	{
		static_cast<void>(source);
		static_cast<void>(peer);
		static_cast<void>(qpn);
		static_cast<void>(now);
		return false;
	}

	/** Returns true if room() will soon say more than unknown: a path that loses nothing is being prepared. */
	virtual bool prepares(std::uint32_t qpn, Time now)
	{
		static_cast<void>(qpn);
		static_cast<void>(now);
		return false;
	}

	/** Completes the packet last begun. */
	virtual void commit() = 0;

	/** Sends everything committed now. */
	virtual void flush() = 0;
};

/** Destination of incoming packets with a right ICRC. */
class PacketHandler
{
public:
	virtual ~PacketHandler() = default;

	/** @p packet stays valid only during the call. */
	virtual void receive(const Route &route, std::span<const std::uint8_t> packet, Time now) = 0;

	/**
	 * Returns true if the last packet in @p train, which had to be last as it is shorter than the others of @p
	 * segment bytes each, should be received before them. No ICRC has been checked yet.
	 */
	[[nodiscard]] virtual bool last_overtakes(std::span<const std::uint8_t> train, std::size_t segment) const
	{
		static_cast<void>(train);
		static_cast<void>(segment);
		return false;
	}
};

} // namespace prism::soft
