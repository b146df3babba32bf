/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The invariant CRC of RoCEv2 (IBTA annex A17.3.3): CRC-32 over IP header, UDP header and everything from the BTH to
 * the pad, behind eight bytes of ones in place of an LRH. Fields that a router may change count as ones: IPv4 TOS, TTL
 * and header checksum, IPv6 traffic class, flow label and hop limit, the UDP checksum, and the BTH byte with FECN/BECN.
 *
 * All functions here are pure and may run on any thread.
 */
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "packet.hpp"

namespace prism::soft
{

inline constexpr std::size_t icrc_size = 4;

/** Input of the ICRC besides the packet itself. Both addresses are of one family. */
struct IcrcFlow {
	Address source;
	Address destination;
	std::uint16_t source_port = 0;      /**< host order */
	std::uint16_t destination_port = 0; /**< host order */

	bool operator==(const IcrcFlow &) const = default;
};

enum class IcrcVerdict {
	exact,      /**< right, and over IPv4 with the expected identification */
	id_unknown, /**< IPv4: right for some other identification, so 16 bits of protection remain */
	bad,
};

/**
 * State of the CRC after the pseudo header of one flow and one packet size. The packets of a train share it, so that
 * each costs one pass over its own bytes and two table look-ups.
 */
class IcrcSeed
{
public:
	/** Makes the seed for packets of @p packet_size bytes from BTH to pad, without the ICRC. */
	IcrcSeed(const IcrcFlow &flow, std::size_t packet_size);

	/**
	 * @param packet at least a BTH, as long as the seed was made for, without ICRC
	 * @param ip_id IPv4 identification in host order, ignored over IPv6
	 * @return the value, which goes on the wire with its least significant byte first
	 */
	[[nodiscard]] std::uint32_t icrc(std::span<const std::uint8_t> packet, std::uint16_t ip_id) const;

	/**
	 * @param packet a packet with its ICRC; icrc_size bytes longer than the seed was made for
	 * @param likely_id the identification to expect: 0, or the position in a train
	 */
	[[nodiscard]] IcrcVerdict check(std::span<const std::uint8_t> packet, std::uint16_t likely_id) const;

private:
	std::uint32_t state_;
	bool ipv4_;
};

/** Returns one packet's ICRC; parameters as for IcrcSeed. */
[[nodiscard]] std::uint32_t icrc(
	const IcrcFlow &flow, std::span<const std::uint8_t> packet_without_icrc, std::uint16_t ip_id);

/** Checks one packet. A packet too short for a BTH and an ICRC is bad. */
[[nodiscard]] IcrcVerdict check_icrc(
	const IcrcFlow &flow, std::span<const std::uint8_t> packet_with_icrc, std::uint16_t likely_id = 0);

/** Writes @p value in wire order. */
inline void store_icrc(std::uint8_t *to, std::uint32_t value)
{
	for (std::size_t i = 0; i < icrc_size; i++)
		to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

} // namespace prism::soft
