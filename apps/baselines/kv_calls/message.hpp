/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The messages of the key-value stores, each one SEND. The header (header.hpp), then the bytes that it announces and no
 * others:
 *
 *           request                              response
 *  call     1 GET, 2 PUT, 3 ERASE                the request's
 *  detail   bytes of the key, at least 1         result: 0 OK, 1 not found, 2 full
 *  size     bytes of the value, 0 but for PUT    bytes of the value, 0 but for a GET that is OK
 *  then     key, value                           value
 */
#pragma once

#include "common/store_client.hpp"
#include "rpc/protocol/header.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::kv
{

/** A request, with the spans in the message that it was read from or will be written from. */
struct Request {
	apps::OperationKind kind = apps::OperationKind::get;
	std::uint64_t id = 0;
	std::span<const std::byte> key;
	std::span<const std::byte> value;

	[[nodiscard]] std::size_t size() const noexcept { return rpc::message_header_size + key.size() + value.size(); }

	/** Writes size() bytes to @p to. Key and value must fit the limits of the connection. */
	void serialize(std::byte *to) const noexcept;

	/** Reads a message from a peer that is not trusted. Null, or what is wrong with it. */
	const char *parse(std::span<const std::byte> message, std::size_t max_key, std::size_t max_value) noexcept;
};

/** A response. The value, in the message, begins at rpc::message_header_size. */
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
