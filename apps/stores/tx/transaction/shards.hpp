/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "service/hello.hpp"
#include "service/server_address.hpp"
#include "tx/transaction/transaction.hpp"

namespace prism::tx
{

/** The servers of a store. Their order is part of it: the first has number 0. */
using Shards = std::vector<apps::ServerAddress>;

/** Most shards of a store. */
constexpr std::size_t max_shards = 4095;

/** Reads "HOST:PORT,HOST:PORT,..."; without a port it is @p first_port plus the shard's number. Errors: EINVAL. */
Result<Shards> parse_shards(const std::string &text, std::uint16_t first_port = apps::default_store_port);

/** Returns what is wrong with @p text as such servers; empty if nothing is. For options. */
[[nodiscard]] std::string check_shards(const std::string &text);

/** Returns the shard, of @p shards, that has @p key: by a hash that is the same everywhere. */
std::size_t shard_of(Bytes key, std::size_t shards) noexcept;

} // namespace prism::tx
