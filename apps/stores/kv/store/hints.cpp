/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "hints.hpp"

#include <algorithm>
#include <bit>

namespace prism::kv
{

Hints::Hints(std::size_t capacity) : sets_(capacity ? std::bit_ceil((capacity + ways - 1) / ways) : 0) {}

/* Chooses the set by bits of the fingerprint that do not determine the key's buckets and home. */
Hints::Set *Hints::set_of(const Fingerprint &key) noexcept
{
	return sets_.empty() ? nullptr : &sets_[(key.low >> 1 & 0x7fff'ffff) % sets_.size()];
}

/** Returns the tag, never 0, so that no hint is 0. */
Hints::Hint Hints::tag_of(const Fingerprint &key) noexcept
{
	const auto bits = static_cast<Hint>(key.high >> 8 & 0xff'ffff) << 3 | static_cast<Hint>(key.low >> 32 & 7);
	return (bits ? bits : 1) << position_bits;
}

Hints::Hint *Hints::look_up(Set &set, Hint tag) noexcept
{
	const auto is_it = [tag](Hint hint) { return hint >> position_bits == tag >> position_bits; };
	const auto found = std::ranges::find_if(set, is_it);
	return found == set.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> Hints::find(const Fingerprint &key) noexcept
{
	Set *const set = set_of(key);
	Hint *const hint = set ? look_up(*set, tag_of(key)) : nullptr;
	if (!hint)
		return std::nullopt;
	std::rotate(set->data(), hint, hint + 1);
	return set->front() & ((1U << position_bits) - 1);
}

void Hints::note(const Fingerprint &key, std::uint32_t position) noexcept
{
	Set *const set = set_of(key);
	if (!set)
		return;
	Hint *const hint = look_up(*set, tag_of(key));
	Hint *const place = hint ? hint : &set->back();
	std::rotate(set->data(), place, place + 1);
	set->front() = tag_of(key) | position;
}

void Hints::suggest(const Fingerprint &key, std::uint32_t position) noexcept
{
	Set *const set = set_of(key);
	if (!set)
		return;
	Hint *hint = look_up(*set, tag_of(key));
	if (!hint)
		hint = look_up(*set, 0);
	if (hint)
		*hint = tag_of(key) | position;
}

void Hints::forget(const Fingerprint &key) noexcept
{
	Set *const set = set_of(key);
	Hint *const hint = set ? look_up(*set, tag_of(key)) : nullptr;
	if (!hint)
		return;
	std::rotate(hint, hint + 1, set->data() + set->size());
	set->back() = 0;
}

void Hints::clear() noexcept
{
	std::ranges::fill(sets_, Set{});
}

} // namespace prism::kv
