/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The assignment of keys to partitions. The server sends to clients, after its Hello, 12 bytes in network order: the
 * seed of the hash 8, the number of partitions 4.
 */
#pragma once

#include "service/key_hash.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <prism/result.hpp>

namespace prism::kv::jakiro
{

struct Layout {
	static constexpr std::size_t size = 12;
	static constexpr std::uint32_t partition_limit = 256; /**< most threads of a server */

	std::uint64_t seed = 0;
	std::uint32_t partitions = 1;

	[[nodiscard]] std::uint64_t hash_of(std::span<const std::byte> key) const noexcept
	{
		return apps::hash_key(key, seed);
	}
	/** Returns the partition for the hash of a key. */
	[[nodiscard]] std::uint32_t partition_of(std::uint64_t hash) const noexcept
	{
		return static_cast<std::uint32_t>(apps::reduce(hash, partitions));
	}

	[[nodiscard]] std::vector<std::byte> serialize() const;
	/** Parses the layout of a server that is not trusted. Errors: EBADMSG. */
	static Result<Layout> parse(std::span<const std::byte> own);

	friend bool operator==(const Layout &, const Layout &) noexcept = default;
};

} // namespace prism::kv::jakiro
