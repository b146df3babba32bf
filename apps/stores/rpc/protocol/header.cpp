/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/protocol/header.hpp"

#include "base/wire.hpp"

namespace prism::rpc
{

namespace
{

constexpr std::uint32_t request_magic = 0x504b5651;  /* "PKVQ" */
constexpr std::uint32_t response_magic = 0x504b5652; /* "PKVR" */
constexpr std::uint8_t message_version = 1;

void write(const MessageHeader &header, std::uint32_t magic, std::byte *to) noexcept
{
	apps::store(to, magic);
	apps::store(to + 4, message_version);
	apps::store(to + 5, header.call);
	apps::store(to + 6, header.detail);
	apps::store(to + 8, header.size);
	apps::store(to + 12, std::uint32_t{0});
	apps::store(to + message_id_offset, header.id);
}

const char *read(MessageHeader &header, std::uint32_t magic, std::span<const std::byte> message) noexcept
{
	if (message.size() < message_header_size)
		return "shorter than a header";
	if (apps::load<std::uint32_t>(&message[0]) != magic)
		return "wrong magic";
	if (apps::load<std::uint8_t>(&message[4]) != message_version)
		return "unknown version";
	if (apps::load<std::uint32_t>(&message[12]) != 0)
		return "reserved field is not 0";
	header.call = apps::load<std::uint8_t>(&message[5]);
	header.detail = apps::load<std::uint16_t>(&message[6]);
	header.size = apps::load<std::uint32_t>(&message[8]);
	header.id = apps::load<std::uint64_t>(&message[message_id_offset]);
	return nullptr;
}

} // namespace

void MessageHeader::serialize_request(std::byte *to) const noexcept
{
	write(*this, request_magic, to);
}

void MessageHeader::serialize_response(std::byte *to) const noexcept
{
	write(*this, response_magic, to);
}

const char *MessageHeader::parse_request(std::span<const std::byte> message) noexcept
{
	return read(*this, request_magic, message);
}

const char *MessageHeader::parse_response(std::span<const std::byte> message) noexcept
{
	return read(*this, response_magic, message);
}

} // namespace prism::rpc
