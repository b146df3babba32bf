/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "shard_name.hpp"

#include <algorithm>

namespace prism::kv
{

bool ShardName::is_valid() const noexcept
{
	const auto graphic = [](char letter) { return letter > ' ' && letter <= '~'; };
	return shards && shard < shards && store.size() <= longest_store && std::ranges::all_of(store, graphic);
}

std::string ShardName::text() const
{
	std::string text = "shard " + std::to_string(shard) + " of " + std::to_string(shards);
	return store.empty() ? text : text + " of the store '" + store + "'";
}

} // namespace prism::kv
