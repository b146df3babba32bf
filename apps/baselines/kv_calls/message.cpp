/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv_calls/message.hpp"

#include <cstring>
#include <optional>

namespace prism::kv
{

namespace
{

using apps::OperationKind;
using apps::Outcome;

std::uint8_t call_of(OperationKind kind) noexcept
{
	switch (kind) {
	case OperationKind::get:
		return 1;
	case OperationKind::put:
		return 2;
	case OperationKind::erase:
		return 3;
	}
	return 0;
}

std::optional<OperationKind> kind_of(std::uint8_t call) noexcept
{
	for (const OperationKind kind : {OperationKind::get, OperationKind::put, OperationKind::erase}) {
		if (call_of(kind) == call)
			return kind;
	}
	return std::nullopt;
}

void copy(std::byte *to, std::span<const std::byte> from) noexcept
{
	if (!from.empty())
		std::memcpy(to, from.data(), from.size());
}

} // namespace

void Request::serialize(std::byte *to) const noexcept
{
	const rpc::MessageHeader header{
		call_of(kind), static_cast<std::uint16_t>(key.size()), static_cast<std::uint32_t>(value.size()), id};
	header.serialize_request(to);
	copy(to + rpc::message_header_size, key);
	copy(to + rpc::message_header_size + key.size(), value);
}

const char *Request::parse(std::span<const std::byte> message, std::size_t max_key, std::size_t max_value) noexcept
{
	rpc::MessageHeader header;
	if (const char *wrong = header.parse_request(message))
		return wrong;
	const std::optional<OperationKind> found = kind_of(header.call);
	if (!found)
		return "unknown call";
	kind = *found;
	const std::size_t key_size = header.detail;
	const std::size_t value_size = header.size;
	if (key_size == 0 || key_size > max_key)
		return "key of a forbidden size";
	if (value_size > max_value)
		return "value of a forbidden size";
	if (value_size != 0 && kind != OperationKind::put)
		return "a value where none belongs";
	if (message.size() != rpc::message_header_size + key_size + value_size)
		return "length differs from what the header announces";
	id = header.id;
	key = message.subspan(rpc::message_header_size, key_size);
	value = message.subspan(rpc::message_header_size + key_size, value_size);
	return nullptr;
}

void Response::serialize_header(std::byte *to) const noexcept
{
	rpc::MessageHeader{call_of(kind), static_cast<std::uint16_t>(outcome), value_size, id}.serialize_response(to);
}

const char *Response::parse(std::span<const std::byte> message, std::size_t max_value) noexcept
{
	rpc::MessageHeader header;
	if (const char *wrong = header.parse_response(message))
		return wrong;
	const std::optional<OperationKind> found = kind_of(header.call);
	if (!found)
		return "unknown call";
	if (header.detail > static_cast<std::uint16_t>(Outcome::full))
		return "unknown result";
	kind = *found;
	outcome = static_cast<Outcome>(header.detail);
	value_size = header.size;
	if (value_size > max_value)
		return "value of a forbidden size";
	if (value_size != 0 && (kind != OperationKind::get || outcome != Outcome::ok))
		return "a value where none belongs";
	if (message.size() != rpc::message_header_size + value_size)
		return "length differs from what the header announces";
	id = header.id;
	return nullptr;
}

} // namespace prism::kv
