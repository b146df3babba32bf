/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "layout.hpp"

#include "service/key_hash.hpp"

namespace prism::kv::pilaf
{

std::uint64_t Entry::compute_crc() const noexcept
{
	return apps::crc64({reinterpret_cast<const std::byte *>(this), offsetof(Entry, crc)});
}

Candidates candidates(std::uint64_t hash, std::uint64_t entries) noexcept
{
	Candidates places;
	for (std::size_t way = 0; way < ways; way++)
		places[way] = apps::reduce(apps::mix(hash + way * 0x9e3779b97f4a7c15), entries);
	return places;
}

} // namespace prism::kv::pilaf
