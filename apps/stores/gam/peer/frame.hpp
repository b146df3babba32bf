/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What one SEND between nodes carries: several messages. 8 bytes in network order, then the messages:
 *
 *     messages u16 | reserved u16 | acknowledged u32
 *
 * acknowledged: frames with messages that the sender has taken from the receiver so far, modulo 2^32: so many more may
 * follow. A frame without messages only acknowledges, and is not counted itself.
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
	 * Reads the header of @p frame, from a peer that is not trusted, if behind it are so many messages and nothing
	 * else.
	 */
	static std::optional<FrameHeader> parse(std::span<const std::byte> frame) noexcept;
};

} // namespace prism::gam
