/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the nodes of the directory protocol tell each other: Message::type and its flags. */
#pragma once

#include <cstdint>

#include "gam/coherence/message.hpp"

namespace prism::gam::directory
{

enum class Type : std::uint8_t {
	/* Requests, to the home. Message::request numbers them, and answers repeat it. */
	read = 1, /**< a copy */
	write,    /**< the block alone, and its data */
	upgrade,  /**< the block alone; the requester has a copy */
	uncached, /**< an access that the home does; Operation says which. write_back: none, it just answers */
	again,    /**< the answer may have been the dead Message::node's to send */

	/* Evictions, to the home */
	evict_shared, /**< not answered */
	evict_dirty,  /**< with the data; evicted answers it */

	/* Answers to what the home wants */
	data,        /**< of the owner, with the data: to fetch_shared, fetch_invalidate, forward_read */
	transferred, /**< of the owner: to forward_write; the data has gone to the requester */
	ack,         /**< to invalidate */
	locked,      /**< to anything that is tried: a lock is in the way */

	/* Answers to requests */
	shared_data, /**< with the data, of the home or of the owner */
	grant,       /**< of the home, with the data */
	permission,  /**< of the home: the requester's copy is good */
	handed_over, /**< of the owner, with the data; the block is the requester's with done */
	done,        /**< of the home: the owner, Message::node, has handed the block over */
	answered,    /**< to uncached; counter: the old value of an atomic. With the data if it was a read */
	busy,        /**< to a request that tries */
	failed,      /**< with an errno value */
	evicted,     /**< to evict_dirty */

	/* What the home wants; Message::node and request: on whose behalf, and of which request */
	invalidate,
	fetch_shared,
	fetch_invalidate,
	forward_read,
	forward_write,
};

/** Of requests and of what the home wants: answer busy or locked in place of waiting for a lock. */
constexpr std::uint8_t tries = 1;
/** Of again: the request was for the block alone, and done has come for it. */
constexpr std::uint8_t exclusive = 2;
constexpr std::uint8_t has_done = 4;
/** Of grant: the last value is lost, and this is an older one. */
constexpr std::uint8_t older = 2;

/**
 * The counter of an uncached request: kind, function, offset, length. What a write writes stands in the data where it
 * is to stand in the block; operand and compare of an atomic are its first two words.
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
