/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the nodes of the latch protocol tell each other: Message::type, its flags and numbers. The home hears nothing.
 */
#pragma once

#include <cstdint>

#include "gam/coherence/message.hpp"

namespace prism::gam::latch
{

enum class Type : std::uint8_t {
	request = 0x40, /**< to the writer, of who has found it in the entry. Flags: exclusive, tries */
	/* Its one answer */
	grant_read,  /**< a copy, of version Message::request. With the data */
	grant_write, /**< the block; also Message::counter: the sharers, whom to tell. With the data */
	moved,       /**< the entry says something else by now */
	busy,        /**< a lock is in the way of a try. Also an answer to invalidate */

	invalidate, /**< of the writer, to a sharer: copies up to version Message::request go. Flags: tries */
	ack,        /**< they are gone */

	withdrawn, /**< of the home: nothing is allocated there any more, so what nodes have of it goes. No answer */
};

constexpr std::uint8_t exclusive = 1; /**< the block for the requester alone, not a copy */
constexpr std::uint8_t tries = 2;     /**< answer busy in place of waiting for a lock */
constexpr std::uint8_t freed = 4;     /**< of a grant: as if `withdrawn` came behind it */

/** Whether version @p a is @p b or a later one. They wrap; no two that meet are 2^31 apart. */
constexpr bool is_no_older(std::uint32_t a, std::uint32_t b) noexcept
{
	return static_cast<std::int32_t>(a - b) >= 0;
}

} // namespace prism::gam::latch
