/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Pilaf's memory as clients read it [Mitchell et al., ATC '13]: a table of entries that verify themselves, each of
 * which points at an extent <key, value> and holds its checksum. The server's stores are not atomic against READs; a
 * client that reads a mixture of two states detects it by a checksum and reads again.
 *
 * The entry, in host order of a little-endian machine: address of the extent (0: empty) 8, bytes of the key 4, bytes of
 * the value 4, CRC-64 of the extent 8, CRC-64 of these 24 bytes 8. CRCs are ECMA-182, reflected.
 */
#pragma once

#include "service/self_verifying.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::kv::pilaf
{

using apps::crc64;
using apps::publish;

/** Ids of ConnectionRecord::regions. */
enum : std::uint32_t {
	table_region = 1,
	extent_region = 2,
};

/** The server's addition to its Hello: the hash seed, 8 bytes in network order. */
constexpr std::size_t own_part_size = 8;

struct Entry {
	std::uint64_t address = 0;
	std::uint32_t key_size = 0;
	std::uint32_t value_size = 0;
	std::uint64_t extent_crc = 0;
	std::uint64_t crc = 0;

	[[nodiscard]] bool empty() const noexcept { return address == 0; }
	[[nodiscard]] std::size_t extent_size() const noexcept { return std::size_t{key_size} + value_size; }

	/** Returns the checksum that the entry ought to have. */
	[[nodiscard]] std::uint64_t compute_crc() const noexcept;
	[[nodiscard]] bool intact() const noexcept { return crc == compute_crc(); }
	void seal() noexcept { crc = compute_crc(); }
};
static_assert(sizeof(Entry) == 32);

constexpr std::size_t ways = 3;
using Candidates = std::array<std::uint64_t, ways>;

/** Returns the entries, of @p entries in all, where a key with this hash may stand. Two of them may be the same. */
Candidates candidates(std::uint64_t hash, std::uint64_t entries) noexcept;

} // namespace prism::kv::pilaf
