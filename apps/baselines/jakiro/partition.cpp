/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "partition.hpp"

#include "service/key_hash.hpp"

#include <algorithm>
#include <cstring>

namespace prism::kv::jakiro
{

using apps::Outcome;

namespace
{

constexpr std::size_t absent = Partition::slots_of_bucket;

/*
 * Returns the lower bits: the partition was chosen by the upper bits, the bucket by all of them, so the lower ones
 * still distinguish keys.
 */
std::uint32_t tag_of(std::uint64_t hash) noexcept
{
	return static_cast<std::uint32_t>(hash);
}

} // namespace

PartitionStats &PartitionStats::operator+=(const PartitionStats &other) noexcept
{
	objects += other.objects;
	hits += other.hits;
	misses += other.misses;
	evicted_by_bucket += other.evicted_by_bucket;
	evicted_by_memory += other.evicted_by_memory;
	full += other.full;
	return *this;
}

Partition::Partition(std::uint64_t buckets, std::size_t memory, EvictionListener *listener)
	: buckets_(std::max<std::uint64_t>(buckets, 1)), log_(memory), listener_(listener)
{
}

/* Mixes the hash once more, as all keys of a partition have similar upper bits. */
Partition::Bucket &Partition::bucket_of(std::uint64_t hash) noexcept
{
	return buckets_[apps::reduce(apps::mix(hash), buckets_.size())];
}

std::size_t Partition::find(const Bucket &bucket, std::uint64_t hash, std::span<const std::byte> key) const noexcept
{
	for (std::size_t slot = 0; slot < slots_of_bucket && !bucket.slots[slot].empty(); slot++) {
		if (bucket.slots[slot].tag != tag_of(hash))
			continue;
		const Pair pair = log_.at(bucket.slots[slot].place);
		if (pair.key.size() == key.size() && std::memcmp(pair.key.data(), key.data(), key.size()) == 0)
			return slot;
	}
	return absent;
}

/** Moves the slots before @p slot back by one, and puts @p contents in front. */
void Partition::move_to_front(Bucket &bucket, std::size_t slot, const Slot &contents) noexcept
{
	std::copy_backward(&bucket.slots[0], &bucket.slots[slot], &bucket.slots[slot] + 1);
	bucket.slots[0] = contents;
}

void Partition::remove(Bucket &bucket, std::size_t slot) noexcept
{
	std::copy(bucket.slots.begin() + static_cast<std::ptrdiff_t>(slot) + 1, bucket.slots.end(),
		bucket.slots.begin() + static_cast<std::ptrdiff_t>(slot));
	bucket.slots.back() = {};
}

void Partition::evict(Bucket &bucket, std::size_t slot, std::span<const std::byte> key, Count &count) noexcept
{
	if (listener_)
		listener_->on_evicted(key);
	remove(bucket, slot);
	objects_.subtract_one();
	count.add_one();
}

/** Evicts @p pair, which the log is about to overwrite, unless it has been erased or replaced before. */
void Partition::forget(PairLog::Place place, const Pair &pair) noexcept
{
	Bucket &bucket = bucket_of(pair.hash);
	const auto found = std::ranges::find(bucket.slots, place, &Slot::place);
	if (found != bucket.slots.end())
		evict(bucket, static_cast<std::size_t>(found - bucket.slots.begin()), pair.key, by_memory_);
}

void Partition::insert(Bucket &bucket, const Slot &slot) noexcept
{
	constexpr std::size_t last = slots_of_bucket - 1;
	if (!bucket.slots[last].empty())
		evict(bucket, last, log_.at(bucket.slots[last].place).key, by_bucket_);
	move_to_front(bucket, last, slot);
	objects_.add_one();
}

Outcome Partition::get(
	std::uint64_t hash, std::span<const std::byte> key, std::span<std::byte> into, std::uint32_t &size) noexcept
{
	Bucket &bucket = bucket_of(hash);
	const std::size_t slot = find(bucket, hash, key);
	if (slot == absent) {
		misses_.add_one();
		return Outcome::not_found;
	}
	hits_.add_one();
	const Slot found = bucket.slots[slot];
	move_to_front(bucket, slot, found);
	const std::span<const std::byte> value = log_.at(found.place).value;
	size = static_cast<std::uint32_t>(value.size());
	if (size)
		std::memcpy(into.data(), value.data(), size);
	return Outcome::ok;
}

Outcome Partition::put(std::uint64_t hash, std::span<const std::byte> key, std::span<const std::byte> value) noexcept
{
	if (!log_.holds(key.size(), value.size())) {
		full_.add_one();
		return Outcome::full;
	}
	Bucket &bucket = bucket_of(hash);
	if (const std::size_t slot = find(bucket, hash, key); slot != absent) {
		const Slot found = bucket.slots[slot];
		if (log_.replace(found.place, value)) {
			move_to_front(bucket, slot, found);
			return Outcome::ok;
		}
		/* This is no eviction: the key gets another place. */
		remove(bucket, slot);
		objects_.subtract_one();
	}
	const PairLog::Place place =
		log_.append({hash, key, value}, [this](PairLog::Place old, const Pair &pair) { forget(old, pair); });
	insert(bucket, {tag_of(hash), place});
	return Outcome::ok;
}

Outcome Partition::erase(std::uint64_t hash, std::span<const std::byte> key) noexcept
{
	Bucket &bucket = bucket_of(hash);
	const std::size_t slot = find(bucket, hash, key);
	if (slot == absent)
		return Outcome::not_found;
	remove(bucket, slot);
	objects_.subtract_one();
	return Outcome::ok;
}

PartitionStats Partition::stats() const noexcept
{
	PartitionStats stats;
	stats.objects = objects_.read();
	stats.hits = hits_.read();
	stats.misses = misses_.read();
	stats.evicted_by_bucket = by_bucket_.read();
	stats.evicted_by_memory = by_memory_.read();
	stats.full = full_.read();
	return stats;
}

} // namespace prism::kv::jakiro
