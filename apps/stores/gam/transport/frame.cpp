/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/transport/frame.hpp"

#include "base/wire.hpp"

namespace prism::gam
{

void FrameHeader::serialize(std::byte *to) const noexcept
{
	apps::store(to, messages);
	apps::store(to + 2, std::uint16_t{0});
	apps::store(to + 4, acknowledged);
}

std::optional<FrameHeader> FrameHeader::parse(std::span<const std::byte> frame) noexcept
{
	if (frame.size() < size)
		return std::nullopt;
	FrameHeader header;
	header.messages = apps::load<std::uint16_t>(frame.data());
	header.acknowledged = apps::load<std::uint32_t>(frame.data() + 4);
	frame = frame.subspan(size);
	for (std::uint16_t i = 0; i < header.messages; i++) {
		const std::optional<Message> message = Message::parse(frame);
		if (!message)
			return std::nullopt;
		frame = frame.subspan(message->size());
	}
	if (!frame.empty())
		return std::nullopt;
	return header;
}

} // namespace prism::gam
