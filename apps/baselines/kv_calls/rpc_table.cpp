/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv_calls/rpc_table.hpp"

#include "service/key_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace prism::kv
{

using apps::hash_key;
using apps::Outcome;

namespace
{

constexpr std::uint64_t seed = 0x7270632d7461626c;

} // namespace

RpcTable::RpcTable(std::uint64_t capacity, std::size_t memory)
	: limit_(capacity), memory_bytes_(std::make_unique_for_overwrite<std::byte[]>(memory)), arena_(memory),
	  shards_(shard_count)
{
	/* Twice the fair share of a shard, and some more for small tables, where shares differ. */
	const std::uint64_t slots = std::bit_ceil(2 * (capacity / shard_count) + 32);
	for (Shard &shard : shards_)
		shard.slots.resize(slots);
}

RpcTable::Object &RpcTable::find(Shard &shard, std::uint64_t hash, std::span<const std::byte> key) noexcept
{
	const std::size_t mask = shard.slots.size() - 1;
	for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
		Object &slot = shard.slots[at];
		if (slot.key_size == 0)
			return slot;
		if (slot.hash == hash && slot.key_size == key.size() &&
			std::memcmp(&memory_bytes_[slot.offset], key.data(), key.size()) == 0)
			return slot;
	}
}

Outcome RpcTable::get(std::span<const std::byte> key, std::span<std::byte> into, std::uint32_t &size) noexcept
{
	const std::uint64_t hash = hash_key(key, seed);
	Shard &shard = shard_of(hash);
	const std::lock_guard guard(shard.lock);
	const Object &slot = find(shard, hash, key);
	if (slot.key_size == 0)
		return Outcome::not_found;
	size = slot.value_size;
	if (size)
		std::memcpy(into.data(), &memory_bytes_[slot.offset + slot.key_size], size);
	return Outcome::ok;
}

bool RpcTable::insert(Shard &shard, Object &slot, const Object &object) noexcept
{
	if (shard.used + 1 >= shard.slots.size())
		return false;
	if (count_.fetch_add(1, std::memory_order_relaxed) >= limit_) {
		count_.fetch_sub(1, std::memory_order_relaxed);
		return false;
	}
	shard.used++;
	slot = object;
	return true;
}

Outcome RpcTable::put(std::span<const std::byte> key, std::span<const std::byte> value) noexcept
{
	Object fresh;
	fresh.hash = hash_key(key, seed);
	fresh.key_size = static_cast<std::uint32_t>(key.size());
	fresh.value_size = static_cast<std::uint32_t>(value.size());
	const std::optional<std::uint64_t> offset = arena_.allocate(fresh.bytes());
	if (!offset)
		return Outcome::full;
	fresh.offset = *offset;
	std::memcpy(&memory_bytes_[fresh.offset], key.data(), key.size());
	if (!value.empty())
		std::memcpy(&memory_bytes_[fresh.offset + key.size()], value.data(), value.size());

	Object replaced;
	bool stored = true;
	{
		Shard &shard = shard_of(fresh.hash);
		const std::lock_guard guard(shard.lock);
		Object &slot = find(shard, fresh.hash, key);
		if (slot.key_size != 0)
			replaced = std::exchange(slot, fresh);
		else
			stored = insert(shard, slot, fresh);
	}
	if (!stored)
		arena_.free(fresh.offset, fresh.bytes());
	else if (replaced.key_size != 0)
		arena_.free(replaced.offset, replaced.bytes());
	return stored ? Outcome::ok : Outcome::full;
}

/* Removes the slot. Slots behind the gap that could no longer be found move into it, so there are no tombstones. */
void RpcTable::remove(Shard &shard, Object &slot) noexcept
{
	const std::size_t mask = shard.slots.size() - 1;
	auto gap = static_cast<std::size_t>(&slot - shard.slots.data());
	for (std::size_t at = (gap + 1) & mask; shard.slots[at].key_size != 0; at = (at + 1) & mask) {
		const std::size_t home = shard.slots[at].hash & mask;
		if (((at - home) & mask) >= ((at - gap) & mask)) {
			shard.slots[gap] = shard.slots[at];
			gap = at;
		}
	}
	shard.slots[gap] = {};
	shard.used--;
	count_.fetch_sub(1, std::memory_order_relaxed);
}

Outcome RpcTable::erase(std::span<const std::byte> key) noexcept
{
	const std::uint64_t hash = hash_key(key, seed);
	Object removed;
	{
		Shard &shard = shard_of(hash);
		const std::lock_guard guard(shard.lock);
		Object &slot = find(shard, hash, key);
		if (slot.key_size == 0)
			return Outcome::not_found;
		removed = slot;
		remove(shard, slot);
	}
	arena_.free(removed.offset, removed.bytes());
	return Outcome::ok;
}

} // namespace prism::kv
