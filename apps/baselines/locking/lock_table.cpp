/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "lock_table.hpp"

#include "service/key_hash.hpp"
#include "tx/transaction/key_set.hpp"

#include <cstring>

namespace prism::tx::locking
{

namespace
{

/* Places for keys that are locked and have no value. */
constexpr std::uint64_t spare = 4096;

} // namespace

LockTable::LockTable(std::uint64_t objects, std::size_t max_key_size, std::size_t max_value_size)
	: limit_(objects), place_size_((max_key_size + max_value_size + 63) / 64 * 64),
	  memory_(std::make_unique_for_overwrite<std::byte[]>((objects + spare) * place_size_)),
	  records_(objects + spare), heads_(2 * (objects + spare), none), stripes_(stripes)
{
	free_.reserve(objects + spare);
}

std::size_t LockTable::bucket_of(std::uint64_t hash) const noexcept
{
	return apps::reduce(hash, heads_.size());
}

std::uint32_t LockTable::find(std::size_t bucket, std::uint64_t hash, std::span<const std::byte> key) const noexcept
{
	for (std::uint32_t place = heads_[bucket]; place != none; place = records_[place].next) {
		const Record &record = records_[place];
		if (record.hash == hash && record.key_size == key.size() &&
			std::memcmp(memory(place), key.data(), key.size()) == 0)
			return place;
	}
	return none;
}

std::uint32_t LockTable::add(std::size_t bucket, std::uint64_t hash, std::span<const std::byte> key) noexcept
{
	std::uint32_t place = none;
	{
		const std::lock_guard guard(free_lock_);
		if (!free_.empty()) {
			place = free_.back();
			free_.pop_back();
		} else if (fresh_ < records_.size()) {
			place = fresh_++;
		}
	}
	if (place == none)
		return none;
	Record &record = records_[place];
	record = {};
	record.hash = hash;
	record.key_size = static_cast<std::uint16_t>(key.size());
	record.next = heads_[bucket];
	std::memcpy(memory(place), key.data(), key.size());
	heads_[bucket] = place;
	return place;
}

void LockTable::remove(std::size_t bucket, std::uint32_t place) noexcept
{
	std::uint32_t *link = &heads_[bucket];
	while (*link != place)
		link = &records_[*link].next;
	*link = records_[place].next;
	const std::lock_guard guard(free_lock_);
	free_.push_back(place); /* the list has room for all */
}

/* Counts the record towards the limit of objects; returns false if it would exceed the limit. */
bool LockTable::count(Record &record) noexcept
{
	if (record.counted)
		return true;
	if (counted_.fetch_add(1, std::memory_order_relaxed) >= limit_) {
		counted_.fetch_sub(1, std::memory_order_relaxed);
		return false;
	}
	record.counted = true;
	return true;
}

LockResult LockTable::acquire(Record &record, Mode mode) noexcept
{
	if (record.exclusive || (mode == Mode::exclusive && record.holders))
		return LockResult::conflict;
	if (mode == Mode::exclusive && !count(record))
		return LockResult::full;
	record.exclusive = mode == Mode::exclusive;
	record.holders++;
	return LockResult::ok;
}

LockResult LockTable::lock(std::span<const std::byte> key, Mode mode, Held &held) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, hash_seed);
	const std::size_t bucket = bucket_of(hash);
	const std::lock_guard guard(stripe(bucket));
	std::uint32_t place = find(bucket, hash, key);
	const bool added = place == none;
	if (added)
		place = add(bucket, hash, key);
	if (place == none)
		return LockResult::full;
	const LockResult result = acquire(records_[place], mode);
	if (result == LockResult::ok)
		held = {place, mode == Mode::exclusive};
	else if (added)
		remove(bucket, place);
	return result;
}

LockResult LockTable::upgrade(Held &held) noexcept
{
	if (held.exclusive)
		return LockResult::ok;
	Record &record = records_[held.place];
	const std::lock_guard guard(stripe(bucket_of(record.hash)));
	if (record.holders != 1)
		return LockResult::conflict;
	if (!count(record))
		return LockResult::full;
	record.exclusive = true;
	held.exclusive = true;
	return LockResult::ok;
}

void LockTable::release(const Held &held) noexcept
{
	Record &record = records_[held.place];
	const std::size_t bucket = bucket_of(record.hash);
	const std::lock_guard guard(stripe(bucket));
	record.holders--;
	record.exclusive = false;
	if (record.there || record.holders)
		return;
	if (record.counted)
		counted_.fetch_sub(1, std::memory_order_relaxed);
	remove(bucket, held.place);
}

std::optional<std::span<const std::byte>> LockTable::value(const Held &held) const noexcept
{
	const Record &record = records_[held.place];
	if (!record.there)
		return std::nullopt;
	return std::span<const std::byte>(memory(held.place) + record.key_size, record.value_size);
}

void LockTable::write(const Held &held, std::span<const std::byte> value) noexcept
{
	Record &record = records_[held.place];
	if (!record.there)
		objects_.fetch_add(1, std::memory_order_relaxed);
	record.there = true;
	record.value_size = static_cast<std::uint32_t>(value.size());
	if (!value.empty())
		std::memcpy(memory(held.place) + record.key_size, value.data(), value.size());
}

void LockTable::erase(const Held &held) noexcept
{
	Record &record = records_[held.place];
	if (record.there)
		objects_.fetch_sub(1, std::memory_order_relaxed);
	record.there = false;
}

} // namespace prism::tx::locking
