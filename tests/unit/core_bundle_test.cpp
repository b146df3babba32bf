/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* core/'s bundles against the vectors (W.12): taken apart, put together, refused. */
#include <algorithm>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "random.hpp"
#include "vectors.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace
{

using namespace prism::test;
using prism::soft::icrc_size;

constexpr std::uint32_t max_indirect = 1 << 20;

/** A packet from BTH to the last pad, in a buffer of exactly that size: the sanitizers detect reads behind it. */
class Exact
{
public:
	Exact(const std::uint8_t *data, std::size_t size)
		: bytes_(new std::uint8_t[size]), size_(static_cast<u32>(size))
	{
		std::copy(data, data + size, bytes_.get());
	}
	explicit Exact(const Json &hex) : Exact(bytes_of(hex)) {}

	[[nodiscard]] const std::uint8_t *data() const { return bytes_.get(); }
	[[nodiscard]] u32 size() const { return size_; }

private:
	explicit Exact(const Bytes &whole) : Exact(whole.data(), whole.size() - icrc_size) {}

	std::unique_ptr<std::uint8_t[]> bytes_;
	u32 size_;
};

/** Returns the next entry as a packet, in a buffer of the most that it ever needs; empty behind the last. */
Bytes next(prism_bundle &bundle, u32 mtu)
{
	const std::unique_ptr<std::uint8_t[]> packet(new std::uint8_t[PRISM_MAX_ENTRY_PACKET(mtu)]);
	const u32 size = prism_bundle_next(&bundle, packet.get());
	return {packet.get(), packet.get() + size};
}

/** Returns true if a bundle with opcode @p opcode may have the packet as an entry. */
bool allowed(u8 opcode, const Bytes &packet, u32 mtu)
{
	return prism_bundle_opcode_of(packet[0]) == opcode &&
	       prism_bundle_takes(packet.data(), static_cast<u32>(packet.size()), mtu);
}

prism_reject refusal(u8 opcode, const Bytes &packet, u32 mtu)
{
	if (!allowed(opcode, packet, mtu))
		return PRISM_BAD_FORMAT;
	prism_request request;
	return prism_request_decode(packet.data(), static_cast<u32>(packet.size()), mtu, max_indirect, &request);
}

/** Returns true if the packet is an answer as W.6 requires it, as far as that can be told without its request. */
bool answers(u8 opcode, const Bytes &packet, u32 mtu)
{
	if (!allowed(opcode, packet, mtu))
		return false;
	if (packet[0] == PRISM_OP_RESPONSE) {
		prism_response response;
		return prism_response_decode(packet.data(), static_cast<u32>(packet.size()), &response);
	}
	const std::size_t headers = PRISM_READ_RESPONSE_HEADER, pad = packet[1] >> 4 & 3;
	return packet.size() >= headers + pad && get_unaligned_be32(packet.data() + PRISM_BTH_SIZE + PRISM_AETH_SIZE +
								    4) == packet.size() - headers - pad;
}

TEST(BundleVectors, AreTakenApartIntoTheirEntries)
{
	for (const Json &vector : vectors()["bundles"]) {
		SCOPED_TRACE(vector["name"].get<std::string>());
		const u32 mtu = vector["mtu"].get<u32>();
		const Bytes whole = bytes_of(vector["hex"]);
		EXPECT_EQ(prism::soft::check_icrc(flow_of(vector["flow"]), whole), prism::soft::IcrcVerdict::exact);
		EXPECT_TRUE(prism_opcode_is_bundle(whole[0]));
		EXPECT_FALSE(prism_opcode_is_request(whole[0]) || prism_opcode_is_response(whole[0]));

		const Exact packet(vector["hex"]);
		prism_bundle bundle;
		ASSERT_TRUE(prism_bundle_open(&bundle, packet.data(), packet.size(), mtu));
		for (const Json &entry : vector["entries"]) {
			const Bytes taken = next(bundle, mtu);
			EXPECT_EQ(taken, bytes_of(entry["hex"]));
			ASSERT_FALSE(taken.empty());
			EXPECT_TRUE(allowed(whole[0], taken, mtu));
			if (whole[0] == PRISM_OP_BUNDLE) {
				EXPECT_EQ(refusal(whole[0], taken, mtu), PRISM_ACCEPT);
			} else {
				EXPECT_TRUE(answers(whole[0], taken, mtu));
			}
		}
		EXPECT_TRUE(next(bundle, mtu).empty()) << "no further entry";
	}
}

TEST(BundleVectors, ArePutTogetherFromTheirEntries)
{
	int compared = 0;
	for (const Json &vector : vectors()["bundles"]) {
		if (!vector["canonical"].get<bool>())
			continue;
		SCOPED_TRACE(vector["name"].get<std::string>());
		Bytes made(PRISM_BTH_SIZE);
		prism_bundle_put_header(made.data(), bytes_of(vector["entries"][0]["hex"]).data());
		for (const Json &entry : vector["entries"]) {
			const Bytes packet = bytes_of(entry["hex"]);
			const auto size = static_cast<u32>(packet.size());
			const std::size_t at = made.size();
			made.resize(at + prism_bundle_entry_size(packet.data(), size), 0xee);
			prism_bundle_put_entry(made.data() + at, packet.data(), size);
		}
		Bytes expected = bytes_of(vector["hex"]);
		expected.resize(expected.size() - icrc_size);
		EXPECT_EQ(made, expected);
		compared++;
	}
	EXPECT_GT(compared, 20);
}

TEST(BundleVectors, InvalidRequestsAreRefusedAtTheRightEntry)
{
	const std::map<std::string, prism_reject> reasons{{"bad_format", PRISM_BAD_FORMAT},
		{"bad_flags", PRISM_BAD_FLAGS}, {"bad_operand", PRISM_BAD_OPERAND},
		{"bad_alignment", PRISM_BAD_ALIGNMENT}};
	for (const Json &vector : vectors()["invalid_bundles"]) {
		if (vector["kind"] != "request")
			continue;
		SCOPED_TRACE(vector["name"].get<std::string>());
		const u32 mtu = vector["mtu"].get<u32>();
		const Exact packet(vector["hex"]);
		prism_reject reject = PRISM_BAD_FORMAT;
		int executed = 0;
		prism_bundle bundle;
		if (prism_bundle_open(&bundle, packet.data(), packet.size(), mtu))
			for (Bytes entry; !(entry = next(bundle, mtu)).empty(); executed++) {
				reject = refusal(packet.data()[0], entry, mtu);
				if (reject != PRISM_ACCEPT)
					break;
			}
		EXPECT_EQ(reject, reasons.at(vector["reject"]));
		EXPECT_EQ(executed, vector["executed"].get<int>());
	}
}

TEST(BundleVectors, InvalidAnswersAreDroppedFromTheRightEntryOn)
{
	for (const Json &vector : vectors()["invalid_bundles"]) {
		if (vector["kind"] != "response")
			continue;
		SCOPED_TRACE(vector["name"].get<std::string>());
		const u32 mtu = vector["mtu"].get<u32>();
		const Exact packet(vector["hex"]);
		int accepted = 0;
		prism_bundle bundle;
		const bool opened = prism_bundle_open(&bundle, packet.data(), packet.size(), mtu);
		if (opened)
			for (Bytes entry; !(entry = next(bundle, mtu)).empty(); accepted++)
				if (!answers(packet.data()[0], entry, mtu))
					break;
		EXPECT_EQ(accepted, vector["executed"].get<int>());
	}
}

/** A bundle that is cut at any byte is a bundle of fewer entries, or none. */
TEST(Bundle, IsNotWellFormedWhenCut)
{
	for (const Json &vector : vectors()["bundles"]) {
		SCOPED_TRACE(vector["name"].get<std::string>());
		const Bytes whole = bytes_of(vector["hex"]);
		std::vector<std::size_t> ends; /* of all entries but the last, from the second on */
		std::size_t at = PRISM_BTH_SIZE;
		for (const Json &entry : vector["entries"])
			ends.push_back(
				at += PRISM_ENTRY_HEADER_SIZE + (entry["length"].get<std::size_t>() + 3) / 4 * 4);
		ends.erase(ends.begin());
		for (std::size_t size = 0; size < whole.size() - icrc_size; size++) {
			const Exact packet(whole.data(), size);
			prism_bundle bundle;
			const bool whole_entries = std::ranges::find(ends, size) != ends.end();
			EXPECT_EQ(prism_bundle_open(&bundle, packet.data(), packet.size(), vector["mtu"].get<u32>()),
				whole_entries)
				<< "cut to " << size;
		}
	}
}

TEST(Bundle, IsAtMostTheMtuAnd36BytesLong)
{
	for (const u32 mtu : {256u, 512u, 1024u, 2048u, 4096u})
		for (const u32 more : {0u, 4u}) {
			Bytes packet(mtu + 36 + more);
			packet[0] = PRISM_OP_BUNDLE;
			const std::size_t rest = packet.size() - PRISM_BTH_SIZE - 2 * PRISM_ENTRY_HEADER_SIZE;
			packet[PRISM_BTH_SIZE] = packet[PRISM_BTH_SIZE + PRISM_ENTRY_HEADER_SIZE] = PRISM_OP_WRITE_ONLY;
			packet[PRISM_BTH_SIZE + PRISM_ENTRY_HEADER_SIZE + 2] = static_cast<std::uint8_t>(rest >> 8);
			packet[PRISM_BTH_SIZE + PRISM_ENTRY_HEADER_SIZE + 3] = static_cast<std::uint8_t>(rest);
			const Exact exact(packet.data(), packet.size());
			prism_bundle bundle;
			ASSERT_EQ(prism_bundle_open(&bundle, exact.data(), exact.size(), mtu), more == 0) << mtu;
			if (more)
				continue;
			EXPECT_EQ(next(bundle, mtu).size(), std::size_t{PRISM_BTH_SIZE});
			EXPECT_EQ(next(bundle, mtu).size(), PRISM_BTH_SIZE + rest);
		}
}

TEST(Bundle, EveryOpcodeIsAnEntryOfAtMostOneBundle)
{
	int requests = 0, replies = 0;
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const u8 bundle = prism_bundle_opcode_of(static_cast<u8>(opcode));
		const bool request = bundle == PRISM_OP_BUNDLE, reply = bundle == PRISM_OP_BUNDLE_RESPONSE;
		EXPECT_TRUE(request || reply || bundle == 0);
		EXPECT_TRUE(!request || prism_opcode_is_request(static_cast<u8>(opcode)));
		EXPECT_TRUE(!reply || prism_opcode_is_response(static_cast<u8>(opcode)));
		requests += request;
		replies += reply;
	}
	EXPECT_EQ(requests, 4);
	EXPECT_EQ(replies, 2);
}

/** Returns bytes behind a bundle's BTH that begin as entries more often than chance would have it. */
Bytes noise(Random &random)
{
	Bytes packet(random.below(330));
	for (std::uint8_t &byte : packet)
		byte = static_cast<std::uint8_t>(random.bits());
	if (packet.empty() || random.chance(5))
		return packet;
	packet[0] = random.chance(50) ? PRISM_OP_BUNDLE : PRISM_OP_BUNDLE_RESPONSE;
	for (std::size_t at = PRISM_BTH_SIZE; at + PRISM_ENTRY_HEADER_SIZE <= packet.size();) {
		const std::size_t room = packet.size() - at - PRISM_ENTRY_HEADER_SIZE;
		const std::size_t length = random.chance(15) ? room : random.below(100);
		packet[at] = static_cast<std::uint8_t>(0xc0 + random.below(24));
		packet[at + 2] = static_cast<std::uint8_t>(length >> 8);
		packet[at + 3] = static_cast<std::uint8_t>(length);
		at += PRISM_ENTRY_HEADER_SIZE + (length + 3) / 4 * 4;
	}
	return packet;
}

/** Nothing outside the bundle is read and nothing outside the packet written: the sanitizers would tell. */
TEST(Bundle, NoiseIsTakenApartOrRefused)
{
	constexpr u32 mtu = 256;
	Random random(2);
	int opened = 0;
	for (int i = 0; i < 200'000; i++) {
		const Bytes bytes = noise(random);
		const Exact packet(bytes.data(), bytes.size());
		prism_bundle bundle;
		if (!prism_bundle_open(&bundle, packet.data(), packet.size(), mtu))
			continue;
		opened++;
		std::size_t entries = 0;
		for (Bytes entry; !(entry = next(bundle, mtu)).empty(); entries++) {
			ASSERT_GE(entry.size(), std::size_t{PRISM_BTH_SIZE});
			ASSERT_LE(entry.size(), std::size_t{PRISM_MAX_ENTRY_PACKET(mtu)});
			(void)refusal(packet.data()[0], entry, mtu);
			(void)answers(packet.data()[0], entry, mtu);
		}
		ASSERT_GE(entries, 2u);
		ASSERT_LE(entries, 16u);
	}
	EXPECT_GT(opened, 10'000);
}

} // namespace
