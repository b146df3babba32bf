/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The messages between a recovering home and the other nodes, in the form of gam/coherence/message.hpp. In all of them
 * `request` is the number of the recovery: the home's incarnation.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gam/coherence/message.hpp"
#include "gam/membership/verdict.hpp"

namespace prism::gam
{

enum class RecoveryMessage : std::uint8_t {
	ask = 0xa0, /**< from the home. counter: the first block number; block: Home::since() is its number */
	have,       /**< data: items; flags: HaveFlags; counter: the next block number; of the last, Node::since() */
	fetch,      /**< from the home. block; flags: a Holding */
	value,      /**< block; flags: as in fetch; counter: the term; data, or error */
	drop,       /**< from the home. block: its line is not valid */
	recovered,  /**< from the home: lines not dropped are valid, and it can be asked again */
	present,    /**< to all: the sender is present. A home with a log answers recovered, once it has */
};
constexpr bool is_recovery_message(std::uint8_t type) noexcept
{
	return type >= static_cast<std::uint8_t>(RecoveryMessage::ask) &&
	       type <= static_cast<std::uint8_t>(RecoveryMessage::present);
}

enum HaveFlags : std::uint8_t {
	have_last = 1,       /**< these are the last items */
	have_incomplete = 2, /**< entries of the log are missing */
};

/**
 * A line or value that a node has. In a message: block number (56 bits), Holding (the upper 8) and counter, in network
 * order; an item of zeros ends them.
 */
struct Item {
	static constexpr std::size_t size = 16;
	static constexpr std::size_t in_message = block_size / size;

	std::uint64_t block = 0; /**< number */
	Holding holding = Holding::dirty;
	std::uint64_t counter = 0;
};

/** Serializes at most Item::in_message items as the data of a message: block_size bytes. */
std::vector<std::byte> serialize(std::span<const Item> items);
/**
 * Parses the items in @p data. Returns nothing if one is invalid, or has a block number that is not below @p blocks.
 */
std::optional<std::vector<Item>> parse_items(std::span<const std::byte> data, std::uint64_t blocks);

} // namespace prism::gam
