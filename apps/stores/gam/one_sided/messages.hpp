/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages of the latch protocol: Message::type, its flags and numbers. None goes to the home. */
#pragma once

#include <cstdint>

#include "gam/coherence/message.hpp"

namespace prism::gam::latch
{

enum class Type : std::uint8_t {
	request = 0x40, /**< to the writer found in the entry. Flags: exclusive, tries */
	/* Its one answer */
	grant_read,  /**< a copy of version Message::request. With the data */
	grant_write, /**< the block; Message::counter: the sharers to be told. With the data */
	moved,       /**< the entry has changed meanwhile */
	busy,        /**< a lock is in the way of a try. Also an answer to invalidate */

	invalidate, /**< from the writer to a sharer: drop copies up to version Message::request. Flags: tries */
	ack,        /**< the copies are dropped */

	withdrawn, /**< from the home: nothing is allocated there any more, so drop the block. No answer */
};

constexpr std::uint8_t exclusive = 1; /**< the block exclusively for the requester, not a copy */
constexpr std::uint8_t tries = 2;     /**< answer busy instead of waiting for a lock */
constexpr std::uint8_t freed = 4;     /**< in a grant: as if `withdrawn` followed it */

/** Returns true if version @p a is @p b or later. Versions wrap; two that meet are never 2^31 apart. */
constexpr bool is_no_older(std::uint32_t a, std::uint32_t b) noexcept
{
	return static_cast<std::int32_t>(a - b) >= 0;
}

} // namespace prism::gam::latch
