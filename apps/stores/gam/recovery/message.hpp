/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a home that comes back and the other nodes tell each other, as messages of gam/coherence/message.hpp. `request`
 * is the number of the recovery in all of them: the home's incarnation.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gam/coherence/message.hpp"
#include "gam/recovery/verdict.hpp"

namespace prism::gam
{

enum class RecoveryMessage : std::uint8_t {
	ask = 0xa0, /**< from the home. counter: of which block number on */
	have,       /**< data: items; flags: HaveFlags; counter: the block number to go on with */
	fetch,      /**< from the home. block; flags: a Holding */
	value,      /**< block; flags: as asked; counter: the term; data, or error */
	drop,       /**< from the home. block: the line is not valid */
	recovered,  /**< from the home: lines that it has not had dropped are valid, and it can be asked again */
	present,    /**< to all: the sender is here. A home that keeps a log answers recovered, when it has */
};
constexpr bool is_recovery_message(std::uint8_t type) noexcept
{
	return type >= static_cast<std::uint8_t>(RecoveryMessage::ask) &&
	       type <= static_cast<std::uint8_t>(RecoveryMessage::present);
}

enum HaveFlags : std::uint8_t {
	have_last = 1,       /**< there is no more */
	have_incomplete = 2, /**< entries of the log are missing */
};

/**
 * Something that a node has. In a message: block number (56 bits), Holding (the upper 8) and counter, in network order;
 * an item of zeros ends them.
 */
struct Item {
	static constexpr std::size_t size = 16;
	static constexpr std::size_t in_message = block_size / size;

	std::uint64_t block = 0; /**< number */
	Holding holding = Holding::dirty;
	std::uint64_t counter = 0;
};

/** At most Item::in_message of them, as the data of a message: block_size bytes. */
std::vector<std::byte> serialize(std::span<const Item> items);
/** The items in @p data. Nothing: there is one that no rule allows, or a block number that is not below @p blocks. */
std::optional<std::vector<Item>> parse_items(std::span<const std::byte> data, std::uint64_t blocks);

} // namespace prism::gam
