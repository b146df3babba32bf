/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The messages of the RPC layer, each one SEND. 24 bytes of header in network order, then the bytes that it announces
 * and no others:
 *
 *  offset  bytes  request                              response
 *  0       4      magic "PKVQ"                         magic "PKVR"
 *  4       1      version, 1                           version, 1
 *  5       1      call: 1 GET, 2 PUT, 3 ERASE          the request's
 *  6       2      bytes of the key, at least 1         result: 0 OK, 1 not found, 2 full
 *  8       4      bytes of the value, 0 but for PUT    bytes of the value, 0 but for a GET that is OK
 *  12      4      0                                    0
 *  16      8      id, of the client's choice           the request's
 *  24             key, value                           value
 */
#pragma once

#include "common/store_client.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::kv
{

constexpr std::size_t message_header_size = 24;
/** Header, key and value in all. */
constexpr std::size_t max_message_size = 65536;

/** A request, with the spans in the message that it was read from or will be written from. */
struct Request {
	apps::OperationKind kind = apps::OperationKind::get;
	std::uint64_t id = 0;
	std::span<const std::byte> key;
	std::span<const std::byte> value;

	[[nodiscard]] std::size_t size() const noexcept { return message_header_size + key.size() + value.size(); }

	/** Writes size() bytes to @p to. Key and value must fit the limits of the connection. */
	void serialize(std::byte *to) const noexcept;

	/** Reads a message from a peer that is not trusted. Null, or what is wrong with it. */
	const char *parse(std::span<const std::byte> message, std::size_t max_key, std::size_t max_value) noexcept;
};

/** A response. The value, in the message, begins at message_header_size. */
struct Response {
	apps::OperationKind kind = apps::OperationKind::get;
	apps::Outcome outcome = apps::Outcome::ok; /**< never failed: a server that fails closes the connection */
	std::uint64_t id = 0;
	std::uint32_t value_size = 0;

	/** Writes the header to @p to; the value is there already. */
	void serialize_header(std::byte *to) const noexcept;

	/** Reads a message from a peer that is not trusted. Null, or what is wrong with it. */
	const char *parse(std::span<const std::byte> message, std::size_t max_value) noexcept;
};

} // namespace prism::kv
