/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The header of every message of the RPC layer, for all calls. 24 bytes in network order:
 *
 *  offset  bytes  request                                     response
 *  0       4      magic "PKVQ"                                magic "PKVR"
 *  4       1      version, 1                                  version, 1
 *  5       1      call                                        the request's
 *  6       2      detail, see the calls                       likewise
 *  8       4      size, see the calls                         likewise
 *  12      4      0                                           0
 *  16      8      id, of the client's choice (ClientLink's)   the request's
 *
 * The low half of an id is the slot of the call: a client with W calls under way has slots 0 to W - 1, each with one
 * call at a time.
 *
 * The user of the layer defines the rest of the message, and call, detail and size, each in a message.hpp of its own.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::rpc
{

constexpr std::size_t message_header_size = 24;
/** Most bytes of a message, header included. */
constexpr std::size_t max_message_size = 65536;
/** Offset of the id. */
constexpr std::size_t message_id_offset = 16;
/** Most calls under way on one connection. */
constexpr std::uint32_t depth_limit = 4096;

struct MessageHeader {
	std::uint8_t call = 0;
	std::uint16_t detail = 0;
	std::uint32_t size = 0;
	std::uint64_t id = 0;

	/** Writes message_header_size bytes to @p to. */
	void serialize_request(std::byte *to) const noexcept;
	void serialize_response(std::byte *to) const noexcept;

	/**
	 * Parses the beginning of a message from a peer that is not trusted. Returns null, or what is wrong with it.
	 */
	const char *parse_request(std::span<const std::byte> message) noexcept;
	const char *parse_response(std::span<const std::byte> message) noexcept;
};

} // namespace prism::rpc
