/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One thread's part of a Jakiro cache: buckets of 8 slots, each slot with a part of a key's hash and the place of its
 * pair. The slots of a bucket are in the order of their last use, so the last one is the least recently used. A bucket
 * is one cache line. There are no locks.
 */
#pragma once

#include "jakiro/pair_log.hpp"

#include "common/store_client.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prism::kv::jakiro
{

struct PartitionStats {
	std::uint64_t objects = 0;           /**< stored now */
	std::uint64_t hits = 0;              /**< GETs that found their key */
	std::uint64_t misses = 0;            /**< GETs that did not */
	std::uint64_t evicted_by_bucket = 0; /**< pairs that were evicted as their bucket was full */
	std::uint64_t evicted_by_memory = 0; /**< pairs that were evicted as their memory was needed */
	std::uint64_t full = 0;              /**< PUTs of a pair that is longer than the memory */

	PartitionStats &operator+=(const PartitionStats &other) noexcept;
};

/**
 * A listener to evictions, called on the thread of the partition; between the call and the eviction, no operation runs
 * there.
 */
class EvictionListener
{
public:
	virtual ~EvictionListener() = default;
	virtual void on_evicted(std::span<const std::byte> key) noexcept = 0;
};

/**
 * A partition. One thread at a time, except for stats(). After construction it neither allocates nor throws. Aligned so
 * that no two share a cache line.
 */
class alignas(64) Partition
{
public:
	static constexpr std::size_t slots_of_bucket = 8;

	/**
	 * Makes a partition for keys and values of @p memory bytes, each with a header. @p listener: null, or outlives
	 * the partition.
	 */
	Partition(std::uint64_t buckets, std::size_t memory, EvictionListener *listener = nullptr);

	/**
	 * Gets a value. Returns ok, with its size in @p size and its bytes in @p into, which has room for any value; or
	 * not_found. @p hash, here and below: of the key, the same for all operations on it.
	 */
	apps::Outcome get(std::uint64_t hash, std::span<const std::byte> key, std::span<std::byte> into,
		std::uint32_t &size) noexcept;
	/** Stores a value. Returns ok, or full: then nothing was changed. */
	apps::Outcome put(
		std::uint64_t hash, std::span<const std::byte> key, std::span<const std::byte> value) noexcept;
	/** Erases a key. Returns ok or not_found. */
	apps::Outcome erase(std::uint64_t hash, std::span<const std::byte> key) noexcept;

	/** Returns the statistics, from any thread; counts of different kinds may be of slightly different moments. */
	[[nodiscard]] PartitionStats stats() const noexcept;

	static constexpr std::uint64_t bucket_size = 64; /**< bytes */

private:
	struct Slot {
		std::uint32_t tag = 0; /* a part of the hash */
		PairLog::Place place = PairLog::nowhere;

		[[nodiscard]] bool empty() const noexcept { return place == PairLog::nowhere; }
	};
	/* Used slots first, the most recently used one at the front. */
	struct alignas(bucket_size) Bucket {
		std::array<Slot, slots_of_bucket> slots;
	};
	static_assert(sizeof(Bucket) == bucket_size);

	/* A counter that one thread writes and any may read: it needs no atomic addition. */
	class Count
	{
	public:
		void add_one() noexcept { count_.store(read() + 1, std::memory_order_relaxed); }
		void subtract_one() noexcept { count_.store(read() - 1, std::memory_order_relaxed); }
		[[nodiscard]] std::uint64_t read() const noexcept { return count_.load(std::memory_order_relaxed); }

	private:
		std::atomic<std::uint64_t> count_{0};
	};

	Bucket &bucket_of(std::uint64_t hash) noexcept;
	[[nodiscard]] std::size_t find(
		const Bucket &bucket, std::uint64_t hash, std::span<const std::byte> key) const noexcept;
	static void move_to_front(Bucket &bucket, std::size_t slot, const Slot &contents) noexcept;
	static void remove(Bucket &bucket, std::size_t slot) noexcept;
	void forget(PairLog::Place place, const Pair &pair) noexcept;
	void insert(Bucket &bucket, const Slot &slot) noexcept;
	void evict(Bucket &bucket, std::size_t slot, std::span<const std::byte> key, Count &count) noexcept;

	std::vector<Bucket> buckets_;
	PairLog log_;
	EvictionListener *listener_;
	Count objects_, hits_, misses_, by_bucket_, by_memory_, full_;
};

} // namespace prism::kv::jakiro
