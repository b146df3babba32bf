/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages of the directory protocol: Message::type and its flags. */
#pragma once

#include <cstdint>

#include "gam/coherence/message.hpp"

namespace prism::gam::directory
{

enum class Type : std::uint8_t {
	/* Requests, to the home. Message::request numbers them, and answers repeat it. */
	read = 1, /**< a copy */
	write,    /**< the block exclusively, with its data */
	upgrade,  /**< the block exclusively; the requester has a copy */
	uncached, /**< an access that the home performs; Operation tells which. write_back: none, it just answers */
	again,    /**< repeated: the dead Message::node may have had to send the answer */

	/* Evictions, to the home */
	evict_shared, /**< not answered */
	evict_dirty,  /**< with the data; evicted answers it */

	/* Answers to demands of the home */
	data,        /**< from the owner, with the data: to fetch_shared, fetch_invalidate, forward_read */
	transferred, /**< from the owner: to forward_write; the data has gone to the requester */
	ack,         /**< to invalidate */
	locked,      /**< to any try: a lock is in the way */

	/* Answers to requests */
	shared_data, /**< with the data, from the home or the owner */
	grant,       /**< from the home, with the data */
	permission,  /**< from the home: the requester's copy is valid */
	handed_over, /**< from the owner, with the data; the requester owns the block once done has come */
	done,        /**< from the home: the owner, Message::node, has handed the block over */
	answered,    /**< to uncached; counter: the old value of an atomic. With the data if it was a read */
	busy,        /**< to a request that tries */
	failed,      /**< with an errno value */
	evicted,     /**< to evict_dirty */

	/* Demands of the home; Message::node and request: the requester and the number of its request */
	invalidate,
	fetch_shared,
	fetch_invalidate,
	forward_read,
	forward_write,
};

/** Returns true for a demand after which no copy may be left. */
[[nodiscard]] constexpr bool wants_alone(Type type) noexcept
{
	return type == Type::invalidate || type == Type::fetch_invalidate || type == Type::forward_write;
}

/** Flag of requests and demands: answer busy or locked instead of waiting for a lock. */
constexpr std::uint8_t tries = 1;
/** Flags of again: the request was for the block exclusively; done has come for it. */
constexpr std::uint8_t exclusive = 2;
constexpr std::uint8_t has_done = 4;
/** Flag of grant: the last value is lost, and this is an older one. */
constexpr std::uint8_t older = 2;

/**
 * The counter of an uncached request: kind, function, offset, length. The bytes of a write are in the data at the same
 * offset as in the block; the operand and compare of an atomic are its first two words.
 */
struct Operation {
	std::uint8_t kind = 0;
	std::uint8_t function = 0;
	std::uint16_t offset = 0;
	std::uint16_t length = 0;

	[[nodiscard]] constexpr std::uint64_t packed() const noexcept
	{
		return std::uint64_t{kind} << 40 | std::uint64_t{function} << 32 | std::uint64_t{offset} << 16 | length;
	}
	[[nodiscard]] static constexpr Operation unpacked(std::uint64_t counter) noexcept
	{
		return {static_cast<std::uint8_t>(counter >> 40), static_cast<std::uint8_t>(counter >> 32),
			static_cast<std::uint16_t>(counter >> 16), static_cast<std::uint16_t>(counter)};
	}
};

} // namespace prism::gam::directory
