/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/coherence/message.hpp"

#include <algorithm>

#include "base/wire.hpp"

namespace prism::gam
{

void Message::serialize(std::byte *to) const noexcept
{
	apps::store(to, type);
	apps::store(to + 1, flags);
	apps::store(to + 2, error);
	apps::store(to + 3, std::uint8_t{0});
	apps::store(to + 4, node);
	apps::store(to + 6, static_cast<std::uint16_t>(data.size()));
	apps::store(to + 8, block.value);
	apps::store(to + 16, counter);
	apps::store(to + 24, request);
	std::copy(data.begin(), data.end(), to + header_size);
}

std::optional<Message> Message::parse(std::span<const std::byte> bytes) noexcept
{
	if (bytes.size() < header_size)
		return std::nullopt;
	Message message;
	message.type = apps::load<std::uint8_t>(bytes.data());
	message.flags = apps::load<std::uint8_t>(bytes.data() + 1);
	message.error = apps::load<std::uint8_t>(bytes.data() + 2);
	message.node = apps::load<std::uint16_t>(bytes.data() + 4);
	const std::size_t length = apps::load<std::uint16_t>(bytes.data() + 6);
	message.block = Address(apps::load<std::uint64_t>(bytes.data() + 8));
	message.counter = apps::load<std::uint64_t>(bytes.data() + 16);
	message.request = apps::load<std::uint64_t>(bytes.data() + 24);
	if ((length != 0 && length != block_size) || bytes.size() - header_size < length || message.block.in_block())
		return std::nullopt;
	message.data = bytes.subspan(header_size, length);
	return message;
}

} // namespace prism::gam
