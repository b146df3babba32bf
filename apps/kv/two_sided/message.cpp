/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "message.hpp"

#include "common/wire.hpp"

#include <optional>

namespace prism::kv
{

namespace
{

using apps::OperationKind;
using apps::Outcome;

constexpr std::uint32_t request_magic = 0x504b5651;  /* "PKVQ" */
constexpr std::uint32_t response_magic = 0x504b5652; /* "PKVR" */
constexpr std::uint8_t message_version = 1;

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

void write_header(std::byte *to, std::uint32_t magic, OperationKind kind, std::uint16_t detail, std::size_t value_size,
	std::uint64_t id) noexcept
{
	apps::store(to, magic);
	apps::store(to + 4, message_version);
	apps::store(to + 5, call_of(kind));
	apps::store(to + 6, detail);
	apps::store(to + 8, static_cast<std::uint32_t>(value_size));
	apps::store(to + 12, std::uint32_t{0});
	apps::store(to + 16, id);
}

/* What both messages have in common. */
const char *check_header(std::span<const std::byte> message, std::uint32_t magic, OperationKind &kind) noexcept
{
	if (message.size() < message_header_size)
		return "shorter than a header";
	if (apps::load<std::uint32_t>(&message[0]) != magic)
		return "wrong magic";
	if (apps::load<std::uint8_t>(&message[4]) != message_version)
		return "unknown version";
	const std::optional<OperationKind> found = kind_of(apps::load<std::uint8_t>(&message[5]));
	if (!found)
		return "unknown call";
	if (apps::load<std::uint32_t>(&message[12]) != 0)
		return "reserved field is not 0";
	kind = *found;
	return nullptr;
}

void copy(std::byte *to, std::span<const std::byte> from) noexcept
{
	if (!from.empty())
		std::memcpy(to, from.data(), from.size());
}

} // namespace

void Request::serialize(std::byte *to) const noexcept
{
	write_header(to, request_magic, kind, static_cast<std::uint16_t>(key.size()), value.size(), id);
	copy(to + message_header_size, key);
	copy(to + message_header_size + key.size(), value);
}

const char *Request::parse(std::span<const std::byte> message, std::size_t max_key, std::size_t max_value) noexcept
{
	if (const char *wrong = check_header(message, request_magic, kind))
		return wrong;
	const std::size_t key_size = apps::load<std::uint16_t>(&message[6]);
	const std::size_t value_size = apps::load<std::uint32_t>(&message[8]);
	if (key_size == 0 || key_size > max_key)
		return "key of a forbidden size";
	if (value_size > max_value)
		return "value of a forbidden size";
	if (value_size != 0 && kind != OperationKind::put)
		return "a value where none belongs";
	if (message.size() != message_header_size + key_size + value_size)
		return "length differs from what the header announces";
	id = apps::load<std::uint64_t>(&message[16]);
	key = message.subspan(message_header_size, key_size);
	value = message.subspan(message_header_size + key_size, value_size);
	return nullptr;
}

void Response::serialize_header(std::byte *to) const noexcept
{
	write_header(to, response_magic, kind, static_cast<std::uint16_t>(outcome), value_size, id);
}

const char *Response::parse(std::span<const std::byte> message, std::size_t max_value) noexcept
{
	if (const char *wrong = check_header(message, response_magic, kind))
		return wrong;
	const auto result = apps::load<std::uint16_t>(&message[6]);
	if (result > static_cast<std::uint16_t>(Outcome::full))
		return "unknown result";
	outcome = static_cast<Outcome>(result);
	value_size = apps::load<std::uint32_t>(&message[8]);
	if (value_size > max_value)
		return "value of a forbidden size";
	if (value_size != 0 && (kind != OperationKind::get || outcome != Outcome::ok))
		return "a value where none belongs";
	if (message.size() != message_header_size + value_size)
		return "length differs from what the header announces";
	id = apps::load<std::uint64_t>(&message[16]);
	return nullptr;
}

} // namespace prism::kv
