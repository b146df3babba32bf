/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/data/known_records.hpp"

#include <algorithm>

namespace prism::gam
{

KnownRecords::Known KnownRecords::find(std::span<const std::byte> key, std::uint64_t hash) const noexcept
{
	const Place &place = places_[hash % places];
	const bool is_it = place.length == key.size() && std::equal(key.begin(), key.end(), place.key.begin());
	return is_it ? Known{place.record, place.losses} : Known{};
}

void KnownRecords::keep(std::span<const std::byte> key, std::uint64_t hash, const Known &known) noexcept
{
	if (key.size() > longest_key)
		return;
	Place &place = places_[hash % places];
	place.record = known.record;
	place.losses = known.losses;
	place.length = static_cast<std::uint8_t>(key.size());
	std::copy(key.begin(), key.end(), place.key.begin());
}

} // namespace prism::gam
