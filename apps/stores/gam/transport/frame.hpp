/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The content of one SEND between nodes: several messages. 8 bytes in network order, then the messages:
 *
 *     messages u16 | reserved u16 | acknowledged u32
 *
 * acknowledged: number of frames with messages, modulo 2^32, that the sender has taken from the receiver so far; as
 * many more may follow. A frame without messages only acknowledges, and is not counted itself.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gam/coherence/message.hpp"

namespace prism::gam
{

struct FrameHeader {
	static constexpr std::size_t size = 8;

	std::uint16_t messages = 0;
	std::uint32_t acknowledged = 0;

	/** Writes size bytes to @p to. */
	void serialize(std::byte *to) const noexcept;
	/**
	 * Reads the header of @p frame, from a peer that is not trusted. Returns nothing unless exactly the announced
	 * number of messages follows.
	 */
	static std::optional<FrameHeader> parse(std::span<const std::byte> frame) noexcept;
};

} // namespace prism::gam
