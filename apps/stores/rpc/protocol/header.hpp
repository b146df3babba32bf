/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How every message of the RPC layer begins, whatever its calls are. 24 bytes in network order:
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
 * What follows is between the store and its clients, and so are call, detail and size: kv/calls/message.hpp,
 * tx/farm/message.hpp, tx/locking/message.hpp.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::rpc
{

constexpr std::size_t message_header_size = 24;
/** Header and all. */
constexpr std::size_t max_message_size = 65536;
/** Where the id stands. */
constexpr std::size_t message_id_offset = 16;
/** Calls under way on one connection, at most. */
constexpr std::uint32_t depth_limit = 4096;

struct MessageHeader {
	std::uint8_t call = 0;
	std::uint16_t detail = 0;
	std::uint32_t size = 0;
	std::uint64_t id = 0;

	/** Writes message_header_size bytes to @p to. */
	void serialize_request(std::byte *to) const noexcept;
	void serialize_response(std::byte *to) const noexcept;

	/** Reads the beginning of a message from a peer that is not trusted. Null, or what is wrong with it. */
	const char *parse_request(std::span<const std::byte> message) noexcept;
	const char *parse_response(std::span<const std::byte> message) noexcept;
};

} // namespace prism::rpc
