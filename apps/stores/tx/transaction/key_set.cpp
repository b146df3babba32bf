/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "key_set.hpp"

#include <algorithm>
#include <cstring>

#include "service/key_hash.hpp"
#include "tx/transaction/shards.hpp"

namespace prism::tx
{

namespace
{

bool same(Bytes one, Bytes other) noexcept
{
	return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size()) == 0;
}

} // namespace

KeySet::KeySet()
{
	items_.reserve(max_transaction_keys);
	hashes_.reserve(max_transaction_keys);
	chunks_.reserve(max_transaction_bytes / chunk_size);
	chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_size));
}

void KeySet::clear() noexcept
{
	items_.clear();
	hashes_.clear();
	chunk_ = 0;
	used_ = 0;
}

std::uint32_t KeySet::find(Bytes key) const noexcept
{
	const std::uint64_t hash = apps::hash_key(key, hash_seed);
	for (auto at = hashes_.begin();; ++at) {
		at = std::find(at, hashes_.end(), hash);
		if (at == hashes_.end())
			return none;
		const auto number = static_cast<std::uint32_t>(at - hashes_.begin());
		if (same(items_[number].key, key))
			return number;
	}
}

std::uint32_t KeySet::get(Bytes key, std::size_t shards) noexcept
{
	if (const std::uint32_t number = find(key); number != none)
		return number;
	Item item;
	if (items_.size() == max_transaction_keys || !keep(key, item.key))
		return none;
	item.hash = apps::hash_key(key, hash_seed);
	item.shard = static_cast<std::uint32_t>(shard_of(key, shards));
	items_.push_back(item);
	hashes_.push_back(item.hash);
	return size() - 1;
}

std::optional<Bytes> KeySet::value(Bytes key) const noexcept
{
	const std::uint32_t number = find(key);
	if (number == none)
		return std::nullopt;
	const Item &item = items_[number];
	if (item.changed)
		return item.erased ? std::nullopt : std::optional(item.fresh);
	return item.known && item.there ? std::optional(item.value) : std::nullopt;
}

std::byte *KeySet::room(std::size_t size) noexcept
{
	if (size > chunk_size)
		return nullptr;
	if (size > chunk_size - used_) {
		if ((chunk_ + 1) * chunk_size == max_transaction_bytes)
			return nullptr;
		if (++chunk_ == chunks_.size())
			chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_size));
		used_ = 0;
	}
	std::byte *const place = chunks_[chunk_].get() + used_;
	used_ += size;
	return place;
}

bool KeySet::keep(Bytes bytes, Bytes &copy) noexcept
{
	std::byte *const place = room(bytes.size());
	if (!place)
		return false;
	if (!bytes.empty())
		std::memcpy(place, bytes.data(), bytes.size());
	copy = {place, bytes.size()};
	return true;
}

} // namespace prism::tx
