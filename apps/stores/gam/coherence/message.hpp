/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What nodes tell each other about one block, by SEND. Between two nodes messages keep their order. A message is 32
 * bytes in network order, and behind them the block's bytes if it carries them:
 *
 *     type u8 | flags u8 | errno u8 | reserved u8 | node u16 | data length u16 | block address u64 | counter u64 |
 * request u64
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

struct Message {
	static constexpr std::size_t header_size = 32;
	static constexpr std::size_t max_size = header_size + block_size;

	std::uint8_t type = 0;  /**< of the protocol: each has its own enumeration */
	std::uint8_t flags = 0; /**< likewise */
	std::uint8_t error = 0; /**< errno, of answers */
	NodeId node = no_node;  /**< on whose behalf */
	Address block;
	std::uint64_t counter = 0; /**< the protocol's: a version, a number of transfers */
	std::uint64_t request = 0; /**< which of the asker's requests this is of */
	/** The block, or nothing. In a message that is heard: valid until hear() returns. */
	std::span<const std::byte> data;

	[[nodiscard]] std::size_t size() const noexcept { return header_size + data.size(); }
	/** Writes size() bytes to @p to. */
	void serialize(std::byte *to) const noexcept;
	/**
	 * Takes the message that @p bytes, from a peer that is not trusted, begin with: its length is size(). Nothing:
	 * they hold none, or data of another length than 0 and block_size. Type and flags are the protocol's to check.
	 */
	static std::optional<Message> parse(std::span<const std::byte> bytes) noexcept;
};

} // namespace prism::gam
