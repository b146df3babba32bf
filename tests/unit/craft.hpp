/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packets that no peer of ours would send, or not at that time. */
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "node.hpp"
#include "protocol/standard_wire.hpp"

namespace prism::test
{

/** Returns @p size bytes from the BTH to the pad, zeros behind the BTH. */
inline std::vector<std::uint8_t> craft(
	const soft::QueuePair &to, std::uint8_t opcode, std::uint32_t psn, std::size_t size, std::uint8_t flags = 0)
{
	std::vector<std::uint8_t> packet(size);
	prism_bth bth{};
	bth.opcode = opcode;
	bth.flags = flags;
	bth.qpn = to.qpn;
	bth.psn = psn;
	prism_bth_encode(packet.data(), &bth);
	return packet;
}

/** Returns a request; the operands of a CAS are zeros: it compares nothing and swaps nothing. */
inline std::vector<std::uint8_t> craft_request(
	const soft::QueuePair &to, std::uint32_t psn, prism_request request, std::size_t payload = 0)
{
	static constexpr std::uint8_t zeros[4 * PRISM_MAX_CAS] = {};
	request.operands = zeros;
	const std::size_t header = prism_request_header_size(&request);
	std::vector<std::uint8_t> packet =
		craft(to, prism_request_opcode(&request), psn, header + payload, request.flags);
	prism_request_encode(packet.data(), &request);
	return packet;
}

inline std::vector<std::uint8_t> craft_response(
	const soft::QueuePair &to, std::uint32_t psn, prism_status status, std::uint64_t value = 0)
{
	std::vector<std::uint8_t> packet = craft(to, PRISM_OP_RESPONSE, psn, PRISM_RESPONSE_SIZE);
	prism_response response{};
	response.status = static_cast<u8>(status);
	response.value = value;
	prism_aeth_encode(packet.data() + PRISM_BTH_SIZE, soft::syndrome_ack, 1);
	prism_response_encode(packet.data(), &response);
	return packet;
}

/** Returns a READ response with @p payload bytes of @p fill. */
inline std::vector<std::uint8_t> craft_data(const soft::QueuePair &to, prism_opcode opcode, std::uint32_t psn,
	std::uint32_t resolution, std::uint32_t length, std::size_t payload, std::uint8_t fill = 0)
{
	const std::size_t header = PRISM_READ_RESPONSE_HEADER;
	std::vector<std::uint8_t> packet = craft(to, static_cast<std::uint8_t>(opcode), psn, header + payload);
	prism_aeth_encode(packet.data() + PRISM_BTH_SIZE, soft::syndrome_ack, 1);
	put_unaligned_be32(resolution, packet.data() + PRISM_BTH_SIZE + PRISM_AETH_SIZE);
	put_unaligned_be32(length, packet.data() + PRISM_BTH_SIZE + PRISM_AETH_SIZE + 4);
	std::fill(packet.begin() + header, packet.end(), fill);
	return packet;
}

inline std::vector<std::uint8_t> craft_acknowledge(
	const soft::QueuePair &to, std::uint32_t psn, std::uint8_t syndrome = soft::syndrome_ack)
{
	std::vector<std::uint8_t> packet = craft(to, soft::rc_acknowledge, psn, PRISM_BTH_SIZE + PRISM_AETH_SIZE);
	prism_aeth_encode(packet.data() + PRISM_BTH_SIZE, syndrome, 1);
	return packet;
}

} // namespace prism::test
