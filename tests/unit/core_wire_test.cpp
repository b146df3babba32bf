/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* core/'s encoding and decoding against the vectors, and its rules against their own table. */
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "random.hpp"
#include "reference.hpp"
#include "vectors.hpp"

extern "C" {
#include "prism_cas.h"
#include "prism_wire.h"
}

namespace
{

using namespace prism::test;
using prism::soft::icrc_size;

constexpr std::uint32_t max_indirect = 1 << 20;

Bytes encode_bth(const Json &fields, std::size_t size)
{
	prism_bth bth{};
	bth.opcode = fields["opcode"].get<u8>();
	bth.pad = fields["pad"].get<u8>();
	bth.solicited = fields["se"].get<int>();
	bth.ack_req = fields["ack_req"].get<int>();
	bth.flags = flags_of(fields["flags"]);
	bth.qpn = fields["qpn"].get<u32>();
	bth.psn = fields["psn"].get<u32>();
	Bytes packet(size);
	prism_bth_encode(packet.data(), &bth);
	return packet;
}

/** Returns everything but the ICRC, made from the fields. */
Bytes encode_request(const Json &fields, const prism_request &decoded)
{
	prism_request request{};
	const Json target = fields.value("caseth", fields.value("reth", Json()));
	request.op = decoded.op;
	request.first = decoded.first;
	request.last = decoded.last;
	request.flags = flags_of(fields["flags"]);
	if (!target.is_null()) {
		request.va = number(target["va"]);
		request.rkey = target["rkey"].get<u32>();
	}
	Bytes operands;
	if (fields.contains("caseth")) {
		request.cas_mode = target["mode"].get<u8>();
		request.cas_flags = target["flags"].get<u8>();
		request.cas_size = target["n"].get<u8>();
		for (const char *operand : {"compare", "swap", "compare_mask", "swap_mask"}) {
			const Bytes bytes = bytes_of(fields[operand]);
			operands.insert(operands.end(), bytes.begin(), bytes.end());
		}
		request.operands = operands.data();
	} else if (!target.is_null()) {
		request.length = target["length"].get<u32>();
	}
	if (fields.contains("aleth")) {
		request.free_list = fields["aleth"]["free_list"].get<u32>();
		request.length = fields["aleth"]["length"].get<u32>();
		request.tag = fields["aleth"]["tag"].get<u32>();
	}
	if (fields.contains("auxeth")) {
		request.aux_va = number(fields["auxeth"]["va"]);
		request.aux_rkey = fields["auxeth"]["rkey"].get<u32>();
	}
	EXPECT_EQ(prism_request_opcode(&request), fields["opcode"].get<u8>());
	const Bytes payload = fields.contains("payload") ? bytes_of(fields["payload"]) : Bytes{};
	const std::size_t header = prism_request_header_size(&request);
	Bytes packet = encode_bth(fields, header + payload.size() + fields["pad"].get<std::size_t>());
	prism_request_encode(packet.data(), &request);
	std::copy(payload.begin(), payload.end(), packet.begin() + static_cast<std::ptrdiff_t>(header));
	return packet;
}

Bytes encode_response(const Json &fields)
{
	const Bytes payload = fields.contains("payload") ? bytes_of(fields["payload"]) : Bytes{};
	const bool brief = fields.contains("rspeth"), reads = fields.contains("rdeth");
	const std::size_t header = brief   ? PRISM_RESPONSE_SIZE
				   : reads ? PRISM_READ_RESPONSE_HEADER
					   : PRISM_BTH_SIZE + PRISM_AETH_SIZE;
	Bytes packet = encode_bth(fields, header + payload.size() + fields["pad"].get<std::size_t>());
	prism_aeth_encode(
		packet.data() + PRISM_BTH_SIZE, fields["aeth"]["syndrome"].get<u8>(), fields["aeth"]["msn"].get<u32>());
	if (brief) {
		prism_response response{};
		response.status = fields["rspeth"]["status"].get<u8>();
		response.value = number(fields["rspeth"]["value"]);
		const Bytes result = bytes_of(fields["result"]);
		std::copy(result.begin(), result.end(), response.result);
		prism_response_encode(packet.data(), &response);
	} else if (reads) {
		std::uint8_t *rdeth = packet.data() + PRISM_BTH_SIZE + PRISM_AETH_SIZE;
		put_unaligned_be32(fields["rdeth"]["resolution"].get<u32>(), rdeth);
		put_unaligned_be32(fields["rdeth"]["length"].get<u32>(), rdeth + 4);
	}
	std::copy(payload.begin(), payload.end(), packet.begin() + static_cast<std::ptrdiff_t>(header));
	return packet;
}

void expect_bth(const Bytes &packet, const Json &fields)
{
	prism_bth bth;
	prism_bth_decode(packet.data(), &bth);
	EXPECT_EQ(bth.opcode, fields["opcode"].get<u8>());
	EXPECT_EQ(bth.pad, fields["pad"].get<u8>());
	EXPECT_EQ(bth.solicited, fields["se"].get<int>() == 1);
	EXPECT_EQ(bth.ack_req, fields["ack_req"].get<int>() == 1);
	EXPECT_EQ(bth.flags, flags_of(fields["flags"]));
	EXPECT_EQ(bth.qpn, fields["qpn"].get<u32>());
	EXPECT_EQ(bth.psn, fields["psn"].get<u32>());
}

void expect_request(const prism_request &request, const Json &fields)
{
	for (const char *name : {"reth", "caseth"})
		if (fields.contains(name)) {
			EXPECT_EQ(request.va, number(fields[name]["va"]));
			EXPECT_EQ(request.rkey, fields[name]["rkey"].get<u32>());
		}
	if (fields.contains("reth")) {
		EXPECT_EQ(request.length, fields["reth"]["length"].get<u32>());
	}
	if (fields.contains("caseth")) {
		EXPECT_EQ(request.cas_mode, fields["caseth"]["mode"].get<u8>());
		EXPECT_EQ(request.cas_flags, fields["caseth"]["flags"].get<u8>());
		ASSERT_EQ(request.cas_size, fields["caseth"]["n"].get<u8>());
		const std::uint8_t *operand = request.operands;
		for (const char *name : {"compare", "swap", "compare_mask", "swap_mask"}) {
			EXPECT_EQ(Bytes(operand, operand + request.cas_size), bytes_of(fields[name])) << name;
			operand += request.cas_size;
		}
	}
	if (fields.contains("aleth")) {
		EXPECT_EQ(request.free_list, fields["aleth"]["free_list"].get<u32>());
		EXPECT_EQ(request.length, fields["aleth"]["length"].get<u32>());
		EXPECT_EQ(request.tag, fields["aleth"]["tag"].get<u32>());
	}
	if (fields.contains("auxeth")) {
		EXPECT_EQ(request.aux_va, number(fields["auxeth"]["va"]));
		EXPECT_EQ(request.aux_rkey, fields["auxeth"]["rkey"].get<u32>());
	}
	const Bytes payload = fields.contains("payload") ? bytes_of(fields["payload"]) : Bytes{};
	EXPECT_EQ(Bytes(request.payload, request.payload + request.payload_length), payload);
}

TEST(WireVectors, DecodeToTheirFieldsAndEncodeToTheirBytes)
{
	for (const Json &vector : vectors()["vectors"]) {
		SCOPED_TRACE(vector["name"].get<std::string>());
		const Json &fields = vector["fields"];
		const Bytes whole = bytes_of(vector["hex"]);
		const Bytes packet(whole.begin(), whole.end() - icrc_size);
		const auto size = static_cast<u32>(packet.size());
		expect_bth(packet, fields);

		Bytes encoded;
		if (prism_opcode_is_request(packet[0])) {
			prism_request request;
			ASSERT_EQ(prism_request_decode(
					  packet.data(), size, vector["mtu"].get<u32>(), max_indirect, &request),
				PRISM_ACCEPT);
			expect_request(request, fields);
			encoded = encode_request(fields, request);
		} else {
			if (packet[0] == PRISM_OP_RESPONSE) {
				prism_response response;
				ASSERT_TRUE(prism_response_decode(packet.data(), size, &response));
				EXPECT_EQ(response.status, fields["rspeth"]["status"].get<u8>());
				EXPECT_EQ(response.value, number(fields["rspeth"]["value"]));
				EXPECT_EQ(Bytes(response.result, response.result + PRISM_RESULT_SIZE),
					bytes_of(fields["result"]));
			}
			encoded = encode_response(fields);
		}
		const auto id = vector["flow"].value("ip_id", std::uint16_t{0});
		const std::uint32_t icrc = prism::soft::icrc(flow_of(vector["flow"]), encoded, id);
		EXPECT_EQ(icrc, fields["icrc"].get<std::uint32_t>());
		encoded.resize(encoded.size() + icrc_size);
		prism::soft::store_icrc(encoded.data() + encoded.size() - icrc_size, icrc);
		EXPECT_EQ(encoded, whole);
	}
}

TEST(WireVectors, InvalidRequestsAreRefusedForTheRightReason)
{
	const std::map<std::string, prism_reject> reasons{{"bad_format", PRISM_BAD_FORMAT},
		{"bad_flags", PRISM_BAD_FLAGS}, {"bad_operand", PRISM_BAD_OPERAND},
		{"bad_alignment", PRISM_BAD_ALIGNMENT}, {"unknown_opcode", PRISM_BAD_OPCODE}};
	for (const Json &vector : vectors()["invalid"]) {
		SCOPED_TRACE(vector["name"].get<std::string>());
		const Bytes whole = bytes_of(vector["hex"]);
		EXPECT_EQ(prism::soft::check_icrc(flow_of(vector["flow"]), whole), prism::soft::IcrcVerdict::exact);
		if (vector["kind"] != "request")
			continue; /* core_vectors_engine_test.cpp */
		prism_request request;
		EXPECT_EQ(prism_request_decode(whole.data(), static_cast<u32>(whole.size() - icrc_size),
				  vector["mtu"].get<u32>(), max_indirect, &request),
			reasons.at(vector["reject"]));
	}
}

TEST(WireVectors, IcrcVerdicts)
{
	const std::map<std::string, prism::soft::IcrcVerdict> verdicts{{"exact", prism::soft::IcrcVerdict::exact},
		{"id_unknown", prism::soft::IcrcVerdict::id_unknown}, {"bad", prism::soft::IcrcVerdict::bad}};
	for (const Json &vector : vectors()["icrc"])
		EXPECT_EQ(prism::soft::check_icrc(flow_of(vector["flow"]), bytes_of(vector["hex"])),
			verdicts.at(vector["verdict"]))
			<< vector["name"];
}

TEST(WireVectors, Cas)
{
	for (const Json &vector : vectors()["cas"]) {
		SCOPED_TRACE(vector["name"].get<std::string>());
		const Bytes compare = bytes_of(vector["compare"]), swap = bytes_of(vector["swap"]);
		const Bytes compare_mask = bytes_of(vector["compare_mask"]), swap_mask = bytes_of(vector["swap_mask"]);
		Bytes target = bytes_of(vector["target_before"]);
		const prism_cas cas{vector["mode"].get<u8>(), vector["n"].get<u8>(), compare.data(), swap.data(),
			compare_mask.data(), swap_mask.data()};
		const bool holds = prism_cas_holds(&cas, target.data());
		EXPECT_EQ(holds, vector["expect_success"].get<bool>());
		if (holds)
			prism_cas_swap(&cas, target.data());
		EXPECT_EQ(target, bytes_of(vector["target_after"]));
	}
}

TEST(WireVectors, FlagTable)
{
	ASSERT_EQ(vectors()["flag_table"].size(), 32u);
	for (const Json &row : vectors()["flag_table"]) {
		const auto flags = row["bits"].get<u8>();
		EXPECT_EQ(flags, flags_of(row["flags"]));
		EXPECT_EQ(prism_flags_legal(PRISM_READ, flags), row["READ"].get<bool>());
		EXPECT_EQ(prism_flags_legal(PRISM_WRITE, flags), row["WRITE"].get<bool>());
		EXPECT_EQ(prism_flags_legal(PRISM_CAS, flags), row["CAS"].get<bool>());
		EXPECT_EQ(prism_flags_legal(PRISM_ALLOCATE, flags), row["ALLOCATE"].get<bool>());
	}
}

/** All operations with all 32 combinations of flags, against the reference's own rules. */
TEST(Wire, FlagCombinationsAgainstTheReference)
{
	using namespace prism::reference;
	constexpr u8 bits[] = {PRISM_FLAG_T, PRISM_FLAG_D, PRISM_FLAG_B, PRISM_FLAG_C, PRISM_FLAG_R};
	int legal_ones = 0;
	for (unsigned op = 0; op < 4; op++)
		for (unsigned modifiers = 0; modifiers < 32; modifiers++) {
			u8 flags = 0;
			for (unsigned i = 0; i < 5; i++)
				flags |= modifiers >> i & 1 ? bits[i] : 0;
			const bool allowed = legal(static_cast<Op>(op), modifiers);
			EXPECT_EQ(prism_flags_legal(static_cast<prism_op>(op), flags), allowed)
				<< "op " << op << " flags " << std::hex << unsigned{flags};
			legal_ones += allowed;
		}
	EXPECT_EQ(legal_ones, 12 + 12 + 8 + 6);
}

TEST(Wire, EveryOpcodeIsOneThing)
{
	int requests = 0, responses = 0;
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const bool request = prism_opcode_is_request(static_cast<u8>(opcode));
		const bool response = prism_opcode_is_response(static_cast<u8>(opcode));
		EXPECT_FALSE(request && response);
		EXPECT_TRUE(opcode >= 0xc0 || (!request && !response));
		requests += request;
		responses += response;
	}
	EXPECT_EQ(requests, 10);
	EXPECT_EQ(responses, 5);
}

TEST(Wire, PsnsOfARequest)
{
	prism_request request{};
	const auto psns = [&request](prism_op op, u8 flags, u32 length) {
		request.op = static_cast<u8>(op);
		request.flags = flags;
		request.length = length;
		return prism_request_psns(&request, 256);
	};
	EXPECT_EQ(psns(PRISM_READ, 0, 0), 1u);
	EXPECT_EQ(psns(PRISM_READ, 0, 256), 1u);
	EXPECT_EQ(psns(PRISM_READ, PRISM_FLAG_T | PRISM_FLAG_B, 257), 2u) << "by the requested length";
	EXPECT_EQ(psns(PRISM_READ, PRISM_FLAG_R, 4096), 1u);
	EXPECT_EQ(psns(PRISM_READ, 0, 1 << 20), 4096u);
	EXPECT_EQ(psns(PRISM_WRITE, 0, 4096), 1u);
	EXPECT_EQ(psns(PRISM_ALLOCATE, 0, 4096), 1u);
}

/** Not even an empty packet of several is accepted. */
TEST(Wire, AWriteThatLoadsItsDataIsOnePacket)
{
	for (const u8 opcode : {PRISM_OP_WRITE_FIRST, PRISM_OP_WRITE_MIDDLE, PRISM_OP_WRITE_LAST}) {
		Bytes packet(PRISM_BTH_SIZE);
		if (opcode == PRISM_OP_WRITE_FIRST)
			packet.resize(PRISM_BTH_SIZE + PRISM_RETH_SIZE + PRISM_AUXETH_SIZE);
		prism_bth bth{};
		bth.opcode = opcode;
		bth.flags = PRISM_FLAG_D;
		prism_bth_encode(packet.data(), &bth);
		prism_request request;
		EXPECT_EQ(prism_request_decode(
				  packet.data(), static_cast<u32>(packet.size()), 256, max_indirect, &request),
			PRISM_BAD_FORMAT);
	}
}

/** All operations with all combinations of modifiers and all statuses: the table of W.6.4. */
TEST(Wire, ResponsesFitTheirRequests)
{
	for (unsigned op = 0; op < 4; op++)
		for (unsigned flags = 0; flags <= PRISM_FLAG_MASK; flags += PRISM_FLAG_R)
			for (unsigned status = 0; status < 8; status++) {
				prism_request request{};
				request.op = static_cast<u8>(op);
				request.flags = static_cast<u8>(flags);
				if (!prism_flags_legal(static_cast<prism_op>(op), request.flags))
					continue;
				prism_response response{};
				response.status = static_cast<u8>(status);
				const bool data = op == PRISM_READ && !(flags & PRISM_FLAG_R);
				const bool fits[] = {!data, op == PRISM_CAS, (flags & PRISM_FLAG_T) != 0,
					op == PRISM_ALLOCATE, (flags & PRISM_FLAG_C) != 0};
				if (status < std::size(fits)) {
					EXPECT_EQ(prism_response_fits(&request, &response), fits[status])
						<< "op " << op << " flags " << flags << " status " << status;
				}
			}
}

TEST(Wire, EffectiveLengthsFitTheirRequests)
{
	prism_request request{};
	request.op = PRISM_WRITE;
	request.length = 100;
	for (const u8 flags : {0, PRISM_FLAG_T, PRISM_FLAG_T | PRISM_FLAG_B}) {
		request.flags = flags;
		const bool bounded = flags & PRISM_FLAG_B;
		for (const u64 length : {u64{0}, u64{99}, u64{100}, u64{101}, u64{1} << 32}) {
			const bool fits = bounded ? length <= 100 : length == 100;
			prism_response response{};
			response.value = length;
			EXPECT_EQ(prism_length_fits(&request, length), fits) << length;
			EXPECT_EQ(prism_response_fits(&request, &response), fits) << length;
		}
	}
}

TEST(Wire, ReservedStatusesAndOtherSizesAreNoResponse)
{
	prism_response response;
	for (unsigned status = 0; status < 256; status++) {
		Bytes packet(PRISM_RESPONSE_SIZE + 4);
		packet[PRISM_BTH_SIZE + PRISM_AETH_SIZE] = static_cast<u8>(status);
		EXPECT_EQ(prism_response_decode(packet.data(), PRISM_RESPONSE_SIZE, &response),
			status <= PRISM_STATUS_SKIPPED);
		EXPECT_FALSE(prism_response_decode(packet.data(), PRISM_RESPONSE_SIZE + 4, &response));
		EXPECT_FALSE(prism_response_decode(packet.data(), PRISM_RESPONSE_SIZE - 4, &response));
	}
}

/** Decoding reads nothing outside the packet, whatever it contains: the sanitizers would tell. */
TEST(Wire, NoiseIsDecodedOrRefused)
{
	Random random(1);
	for (int i = 0; i < 300'000; i++) {
		Bytes packet(random.below(300));
		for (std::uint8_t &byte : packet)
			byte = static_cast<std::uint8_t>(random.bits());
		if (!packet.empty() && random.chance(90))
			packet[0] = static_cast<std::uint8_t>(0xc0 + random.below(24));
		const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[packet.size()]);
		std::copy(packet.begin(), packet.end(), exact.get());
		const auto size = static_cast<u32>(packet.size());
		prism_request request;
		if (prism_request_decode(exact.get(), size, 256, max_indirect, &request) == PRISM_ACCEPT) {
			EXPECT_LE(request.payload + request.payload_length, exact.get() + size);
			EXPECT_LE(request.payload_length, 256u);
		}
		prism_response response;
		if (size >= PRISM_BTH_SIZE && prism_response_decode(exact.get(), size, &response)) {
			EXPECT_EQ(size, PRISM_RESPONSE_SIZE);
		}
	}
}

} // namespace
