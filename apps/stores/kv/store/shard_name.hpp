/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace prism::kv
{

/** Which part of a store a server is. */
struct ShardName {
	static constexpr std::size_t longest_store = 31;

	std::uint16_t shard = 0;  /**< its number: keys are shared out by it */
	std::uint16_t shards = 1; /**< how many there are */
	std::string store;        /**< name of the store, of graphic ASCII characters; empty: it has none */

	friend bool operator==(const ShardName &, const ShardName &) = default;
	/** Whether the number is one of so many, and the name what it may be. */
	[[nodiscard]] bool is_valid() const noexcept;
	/** Such as "shard 0 of 2 of the store 'name'". */
	[[nodiscard]] std::string text() const;
};

} // namespace prism::kv
