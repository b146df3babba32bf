/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The ICRC against two oracles: constants that scapy's RoCE layer computed (IPv6: zlib's CRC over the masked packet,
 * because that layer knows IPv4 only), and a CRC that goes bit by bit over a pseudo header written out here.
 */
#include "net/icrc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace prism::soft;

namespace
{

using Bytes = std::vector<std::uint8_t>;

Address ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d)
{
	return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}};
}

const Address v4_source = ipv4(192, 168, 0, 7);
const Address v4_destination = ipv4(10, 1, 2, 3);
const Address v6_source{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0xff, 0xfe, 0x56, 0x78, 0x9a}};
const Address v6_destination{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x77}};

IcrcFlow flow_of(bool v4, std::uint16_t port)
{
	return {v4 ? v4_source : v6_source, v4 ? v4_destination : v6_destination, port, 4791};
}

struct Vector {
	bool v4;
	std::uint16_t id;
	std::uint16_t source_port;
	std::size_t payload;
	std::uint8_t ecn; /* BTH byte 4 */
	std::uint32_t icrc;
};

constexpr Vector vectors[] = {
	{true, 0x0000, 49152, 0, 0x00, 0xcca3daae},
	{true, 0x0001, 49153, 16, 0x00, 0x70800ba9},
	{true, 0x003f, 49154, 64, 0x00, 0x40c90d77},
	{true, 0xbeef, 49155, 0, 0x80, 0xb19658ab},
	{true, 0x1234, 49156, 1024, 0x80, 0x144211ca},
	{false, 0x0000, 49157, 0, 0x00, 0x85887abc},
	{false, 0x0000, 49158, 64, 0x80, 0x48c7c53a},
	{false, 0x0000, 49159, 1024, 0x00, 0xa410dc3e},
};

Bytes packet_of(const Vector &vector, std::uint8_t n)
{
	Bytes packet{static_cast<std::uint8_t>(vector.payload ? 10 : 17), 0, 0xff, 0xff, vector.ecn, 0, 0x40,
		static_cast<std::uint8_t>(1 + n), 0x80, 0x12, 0x34, static_cast<std::uint8_t>(0x56 + n)};
	for (std::size_t i = 0; i < vector.payload; i++)
		packet.push_back(static_cast<std::uint8_t>(i * 7 + n));
	return packet;
}

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

void put16(Bytes &bytes, std::size_t value)
{
	bytes.push_back(static_cast<std::uint8_t>(value >> 8));
	bytes.push_back(static_cast<std::uint8_t>(value));
}

void put_address(Bytes &bytes, const Address &address)
{
	bytes.insert(bytes.end(), address.gid.begin() + (address.is_ipv4() ? 12 : 0), address.gid.end());
}

std::uint32_t reference_icrc(const IcrcFlow &flow, const Bytes &packet, std::uint16_t id)
{
	Bytes covered(8, 0xff);
	const std::size_t udp = 8 + packet.size() + 4;
	if (flow.source.is_ipv4()) {
		covered.insert(covered.end(), {0x45, 0xff});
		put16(covered, 20 + udp);
		put16(covered, id);
		covered.insert(covered.end(), {0x40, 0x00, 0xff, 17, 0xff, 0xff});
	} else {
		covered.insert(covered.end(), {0x6f, 0xff, 0xff, 0xff});
		put16(covered, udp);
		covered.insert(covered.end(), {17, 0xff});
	}
	put_address(covered, flow.source);
	put_address(covered, flow.destination);
	put16(covered, flow.source_port);
	put16(covered, flow.destination_port);
	put16(covered, udp);
	put16(covered, 0xffff);
	const std::size_t bth = covered.size();
	covered.insert(covered.end(), packet.begin(), packet.end());
	covered[bth + 4] = 0xff;
	return crc_bit_by_bit(covered);
}

class Icrc : public testing::Test
{
protected:
	Bytes random_packet(std::size_t payload)
	{
		Bytes packet(bth_size + payload);
		std::generate(packet.begin(), packet.end(), [&] { return static_cast<std::uint8_t>(random()); });
		return packet;
	}

	Bytes sealed(const IcrcFlow &flow, Bytes packet, std::uint16_t id)
	{
		const std::uint32_t value = icrc(flow, packet, id);
		packet.resize(packet.size() + icrc_size);
		store_icrc(packet.data() + packet.size() - icrc_size, value);
		return packet;
	}

	std::mt19937 random{20211026};
};

} // namespace

TEST_F(Icrc, MatchesKnownVectors)
{
	std::uint8_t n = 0;
	for (const Vector &vector : vectors) {
		const Bytes packet = packet_of(vector, n);
		const IcrcFlow flow = flow_of(vector.v4, vector.source_port);
		EXPECT_EQ(icrc(flow, packet, vector.id), vector.icrc) << "vector " << int(n);
		EXPECT_EQ(reference_icrc(flow, packet, vector.id), vector.icrc) << "vector " << int(n);
		n++;
	}
}

TEST_F(Icrc, MatchesBitByBitForEveryLength)
{
	for (std::size_t payload = 0; payload <= 1100; payload++) {
		const bool v4 = random() & 1;
		const IcrcFlow flow = flow_of(v4, static_cast<std::uint16_t>(random()));
		const auto id = static_cast<std::uint16_t>(random());
		const Bytes packet = random_packet(payload);
		ASSERT_EQ(icrc(flow, packet, id), reference_icrc(flow, packet, id)) << payload;
	}
}

TEST_F(Icrc, CongestionBitsAreNotCovered)
{
	const IcrcFlow flow = flow_of(true, 50000);
	Bytes packet = sealed(flow, random_packet(40), 0);
	for (int value = 0; value < 256; value++) {
		packet[4] = static_cast<std::uint8_t>(value);
		EXPECT_EQ(check_icrc(flow, packet), IcrcVerdict::exact);
	}
}

TEST_F(Icrc, EveryIdentificationIsExplained)
{
	const IcrcFlow flow = flow_of(true, 50001);
	for (std::uint32_t id = 0; id < 65536; id++) {
		const Bytes packet = sealed(flow, random_packet(id % 97), static_cast<std::uint16_t>(id));
		const IcrcVerdict expected = id ? IcrcVerdict::id_unknown : IcrcVerdict::exact;
		ASSERT_EQ(check_icrc(flow, packet), expected) << id;
		ASSERT_EQ(check_icrc(flow, packet, static_cast<std::uint16_t>(id)), IcrcVerdict::exact) << id;
	}
}

TEST_F(Icrc, LongestPacketIsExplained)
{
	const IcrcFlow flow = flow_of(true, 50001);
	const Bytes packet = sealed(flow, random_packet(max_packet_size - bth_size), 0xffff);
	EXPECT_EQ(check_icrc(flow, packet), IcrcVerdict::id_unknown);
}

/* Random damage passes for a foreign identification once in 2^16: about 30 times in two million. */
TEST_F(Icrc, CorruptionIsRejectedAtSixteenBits)
{
	const IcrcFlow flow = flow_of(true, 50002);
	constexpr int tries = 2'000'000;
	int accepted = 0;
	Bytes packet = sealed(flow, random_packet(64), 0);
	const std::size_t tail = packet.size() - icrc_size;
	for (int i = 0; i < tries; i++) {
		store_icrc(packet.data() + tail, static_cast<std::uint32_t>(random()));
		accepted += check_icrc(flow, packet) != IcrcVerdict::bad;
	}
	EXPECT_GT(accepted, 10);
	EXPECT_LT(accepted, 45);
}

TEST_F(Icrc, SingleBitErrorsAreBad)
{
	for (const bool v4 : {true, false}) {
		const IcrcFlow flow = flow_of(v4, 50003);
		Bytes packet = sealed(flow, random_packet(32), 5);
		if (!v4)
			packet = sealed(flow, random_packet(32), 0);
		for (std::size_t bit = 0; bit < packet.size() * 8; bit++) {
			if (bit / 8 == 4)
				continue;
			packet[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
			EXPECT_EQ(check_icrc(flow, packet, 5), IcrcVerdict::bad) << bit;
			packet[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
		}
	}
}

TEST_F(Icrc, Ipv6IgnoresTheIdentification)
{
	const IcrcFlow flow = flow_of(false, 50004);
	const Bytes packet = random_packet(100);
	EXPECT_EQ(icrc(flow, packet, 0), icrc(flow, packet, 0x4321));
}

/* Over IPv6 a wrong ICRC is not accepted because another identification would explain it over IPv4. */
TEST_F(Icrc, Ipv6HasNoIdentificationToExplainAnything)
{
	const IcrcFlow v4 = flow_of(true, 50004), v6 = flow_of(false, 50004);
	const Bytes packet = random_packet(100);
	const std::uint32_t effect = icrc(v4, packet, 0) ^ icrc(v4, packet, 0x4321);
	Bytes damaged = sealed(v6, packet, 0);
	store_icrc(damaged.data() + packet.size(), icrc(v6, packet, 0) ^ effect);
	EXPECT_EQ(check_icrc(v6, damaged), IcrcVerdict::bad);
}

TEST_F(Icrc, TooShortIsBad)
{
	const IcrcFlow flow = flow_of(true, 50005);
	for (std::size_t size = 0; size < bth_size + icrc_size; size++)
		EXPECT_EQ(check_icrc(flow, Bytes(size)), IcrcVerdict::bad);
}
