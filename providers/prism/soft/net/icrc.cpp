/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "icrc.hpp"

#include <isa-l/crc.h>

#include <algorithm>

#include "base/wire.hpp"

namespace prism::soft
{

namespace
{

/*
 * The CRC register holds a polynomial modulo P, bit-reflected: bit 31 is x^0. Feeding a byte multiplies by x^8, and
 * everything is linear: a difference d in the register becomes d * x^8n after n more bytes, whatever they are.
 */
constexpr std::uint32_t polynomial = 0xedb88320;

constexpr std::uint32_t times_x8(std::uint32_t value)
{
	for (int bit = 0; bit < 8; bit++)
		value = (value >> 1) ^ (value & 1 ? polynomial : 0);
	return value;
}

/* The inverse exists because P has a constant term, which is the top bit of the reflected form. */
constexpr std::uint32_t over_x8(std::uint32_t value)
{
	for (int bit = 0; bit < 8; bit++)
		value = value >> 31 ? ((value ^ polynomial) << 1) | 1 : value << 1;
	return value;
}

constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b)
{
	std::uint32_t product = 0;
	for (int bit = 31; bit >= 0; bit--) {
		product ^= (0 - ((a >> bit) & 1)) & b;
		b = (b >> 1) ^ ((0 - (b & 1)) & polynomial);
	}
	return product;
}

constexpr std::size_t lrh_substitute_size = 8;
constexpr std::size_t ipv4_header_size = 20;
constexpr std::size_t ipv6_header_size = 40;
constexpr std::size_t udp_header_size = 8;
constexpr std::size_t bth_masked_byte = 4;

/* From the first byte of the IPv4 identification to the first byte of the BTH. */
constexpr std::size_t id_to_bth = ipv4_header_size - 4 + udp_header_size;

using ByteTable = std::array<std::uint32_t, 256>;

/* Returns the effect of each byte, exclusive-ored into the stream `distance` bytes before a point, on the register
 * at that point. */
constexpr ByteTable effect_before(std::size_t distance)
{
	ByteTable table{};
	for (std::uint32_t byte = 0; byte < table.size(); byte++) {
		std::uint32_t value = byte;
		for (std::size_t i = 0; i < distance; i++)
			value = times_x8(value);
		table[byte] = value;
	}
	return table;
}

/*
 * Returns, for each value b of the masked BTH byte, the difference to apply to the register at the end of the seed,
 * before that byte. It changes the byte to ones without touching the packet: when the byte's turn comes, the difference
 * has become ~b.
 */
constexpr ByteTable mask_ahead()
{
	ByteTable table{};
	for (std::uint32_t byte = 0; byte < table.size(); byte++) {
		std::uint32_t value = byte ^ 0xff;
		for (std::size_t i = 0; i < bth_masked_byte; i++)
			value = over_x8(value);
		table[byte] = value;
	}
	return table;
}

constexpr ByteTable id_high_effect = effect_before(id_to_bth);
constexpr ByteTable id_low_effect = effect_before(id_to_bth - 1);
constexpr ByteTable mask_effect = mask_ahead();

/* x^-8n for every n from the identification to the end of a packet. */
constexpr auto make_unshift()
{
	std::array<std::uint32_t, id_to_bth + max_packet_size + 1> table{};
	std::uint32_t value = 0x80000000;
	for (auto &entry : table) {
		entry = value;
		value = over_x8(value);
	}
	return table;
}

constexpr auto unshift = make_unshift();

std::uint32_t load_icrc(const std::uint8_t *from)
{
	std::uint32_t value = 0;
	for (std::size_t i = 0; i < icrc_size; i++)
		value |= static_cast<std::uint32_t>(from[i]) << (8 * i);
	return value;
}

/* The identification stays 0 here: its effect is added per packet. */
std::uint8_t *put_ipv4(std::uint8_t *header, const IcrcFlow &flow, std::size_t udp_size)
{
	header[0] = 0x45;
	store(header + 2, static_cast<std::uint16_t>(ipv4_header_size + udp_size));
	header[4] = header[5] = 0;
	header[6] = 0x40; /* DF */
	header[7] = 0;
	header[9] = 17; /* UDP */
	std::copy_n(flow.source.gid.begin() + 12, 4, header + 12);
	std::copy_n(flow.destination.gid.begin() + 12, 4, header + 16);
	return header + ipv4_header_size;
}

std::uint8_t *put_ipv6(std::uint8_t *header, const IcrcFlow &flow, std::size_t udp_size)
{
	header[0] = 0x6f; /* version; traffic class begins in the low half and is masked, as is the flow label */
	store(header + 4, static_cast<std::uint16_t>(udp_size));
	header[6] = 17; /* UDP */
	std::copy_n(flow.source.gid.begin(), 16, header + 8);
	std::copy_n(flow.destination.gid.begin(), 16, header + 24);
	return header + ipv6_header_size;
}

/*
 * Returns true if some IPv4 identification explains `difference`, which lies between the ICRC found and that for
 * another identification: carried back to the place of the identification, such a difference has only its 16 bits set.
 */
bool some_id_explains(std::uint32_t difference, std::size_t packet_size)
{
	return multiply(difference, unshift[id_to_bth + packet_size]) >> 16 == 0;
}

} // namespace

IcrcSeed::IcrcSeed(const IcrcFlow &flow, std::size_t packet_size) : ipv4_(flow.source.is_ipv4())
{
	std::array<std::uint8_t, lrh_substitute_size + ipv6_header_size + udp_header_size> pseudo;
	pseudo.fill(0xff); /* for the masked fields, unless overwritten */
	const std::size_t udp_size = udp_header_size + packet_size + icrc_size;
	std::uint8_t *ip = pseudo.data() + lrh_substitute_size;
	std::uint8_t *udp = ipv4_ ? put_ipv4(ip, flow, udp_size) : put_ipv6(ip, flow, udp_size);
	store(udp, flow.source_port);
	store(udp + 2, flow.destination_port);
	store(udp + 4, static_cast<std::uint16_t>(udp_size));
	/* isa-l complements on the way in and out, so we keep the complement of the register. */
	state_ = crc32_gzip_refl(0, pseudo.data(), static_cast<std::uint64_t>(udp + udp_header_size - pseudo.data()));
}

std::uint32_t IcrcSeed::icrc(std::span<const std::uint8_t> packet, std::uint16_t ip_id) const
{
	std::uint32_t start = state_ ^ mask_effect[packet[bth_masked_byte]];
	if (ipv4_)
		start ^= id_high_effect[ip_id >> 8] ^ id_low_effect[ip_id & 0xff];
	return crc32_gzip_refl(start, packet.data(), packet.size());
}

IcrcVerdict IcrcSeed::check(std::span<const std::uint8_t> packet, std::uint16_t likely_id) const
{
	const auto covered = packet.first(packet.size() - icrc_size);
	const std::uint32_t difference = load_icrc(packet.data() + covered.size()) ^ icrc(covered, likely_id);
	if (difference == 0)
		return IcrcVerdict::exact;
	if (ipv4_ && covered.size() <= max_packet_size && some_id_explains(difference, covered.size()))
		return IcrcVerdict::id_unknown;
	return IcrcVerdict::bad;
}

std::uint32_t icrc(const IcrcFlow &flow, std::span<const std::uint8_t> packet_without_icrc, std::uint16_t ip_id)
{
	return IcrcSeed(flow, packet_without_icrc.size()).icrc(packet_without_icrc, ip_id);
}

IcrcVerdict check_icrc(const IcrcFlow &flow, std::span<const std::uint8_t> packet_with_icrc, std::uint16_t likely_id)
{
	if (packet_with_icrc.size() < bth_size + icrc_size)
		return IcrcVerdict::bad;
	return IcrcSeed(flow, packet_with_icrc.size() - icrc_size).check(packet_with_icrc, likely_id);
}

} // namespace prism::soft
