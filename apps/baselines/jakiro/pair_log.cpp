/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "pair_log.hpp"

#include <algorithm>
#include <cstring>

namespace prism::kv::jakiro
{

namespace
{

void copy(std::byte *to, std::span<const std::byte> from) noexcept
{
	if (!from.empty())
		std::memcpy(to, from.data(), from.size());
}

} // namespace

PairLog::PairLog(std::size_t memory)
	: units_(std::clamp<std::uint64_t>(memory / unit, 1, nowhere)),
	  memory_(std::make_unique_for_overwrite<std::byte[]>(units_ * unit))
{
}

PairLog::Header PairLog::header(Place place) const noexcept
{
	Header header;
	std::memcpy(&header, memory_at(place), sizeof(header));
	return header;
}

Pair PairLog::at(Place place) const noexcept
{
	const Header found = header(place);
	const std::byte *const key = memory_at(place) + sizeof(Header);
	return {found.hash, {key, found.key_size}, {key + found.key_size, found.value_size}};
}

bool PairLog::replace(Place place, std::span<const std::byte> value) noexcept
{
	Header header_ = header(place);
	if (size_of(header_.key_size, value.size()) > header_.units * unit)
		return false;
	header_.value_size = static_cast<std::uint32_t>(value.size());
	std::memcpy(memory_at(place), &header_, sizeof(header_));
	copy(memory_at(place) + sizeof(Header) + header_.key_size, value);
	return true;
}

PairLog::Place PairLog::write(const Header &header, const Pair &pair) noexcept
{
	const Place place = place_of(head_);
	std::byte *const to = memory_at(place);
	std::memcpy(to, &header, sizeof(header));
	copy(to + sizeof(header), pair.key);
	copy(to + sizeof(header) + pair.key.size(), pair.value);
	head_ += header.units;
	return place;
}

} // namespace prism::kv::jakiro
