/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace prism::kv
{

/** The part of a store that a server is. */
struct ShardName {
	static constexpr std::size_t longest_store = 31;

	std::uint16_t shard = 0;  /**< its number, which selects its keys */
	std::uint16_t shards = 1; /**< number of shards */
	std::string store;        /**< name of the store, of graphic ASCII characters; empty: it has none */

	friend bool operator==(const ShardName &, const ShardName &) = default;
	/** Returns true if the number is below that of shards, and the name valid. */
	[[nodiscard]] bool is_valid() const noexcept;
	/** Returns a text such as "shard 0 of 2 of the store 'name'". */
	[[nodiscard]] std::string text() const;
};

} // namespace prism::kv
