/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A message about one block between two nodes, by SEND. Between two nodes messages keep their order. A message is 32
 * bytes in network order, followed by the block's bytes if it carries them:
 *
 *     type u8 | flags u8 | errno u8 | reserved u8 | node u16 | data length u16 | block address u64 |
 *     counter u64 | request u64
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

	std::uint8_t type = 0;  /**< defined by the protocol: each has its own enumeration */
	std::uint8_t flags = 0; /**< likewise */
	std::uint8_t error = 0; /**< errno value, in answers */
	NodeId node = no_node;  /**< the node on whose behalf it is sent */
	Address block;
	std::uint64_t counter = 0; /**< defined by the protocol: a version, a number of transfers */
	std::uint64_t request = 0; /**< the number of the requester's request */
	/** The block's bytes, or none. In a received message: valid until hear() returns. */
	std::span<const std::byte> data;

	[[nodiscard]] std::size_t size() const noexcept { return header_size + data.size(); }
	/** Writes size() bytes to @p to. */
	void serialize(std::byte *to) const noexcept;
	/**
	 * Parses the message at the beginning of @p bytes, which come from a peer that is not trusted. Its length is
	 * size(). Returns nothing if there is no message, or if its data has a length other than 0 and block_size. The
	 * protocol checks type and flags.
	 */
	static std::optional<Message> parse(std::span<const std::byte> bytes) noexcept;
};

} // namespace prism::gam
