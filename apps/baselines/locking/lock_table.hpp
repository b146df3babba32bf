/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Objects with a lock each. An absent key can be locked too: while the lock is held, the key has a place in the table,
 * marked empty. No transaction waits: a lock that is not free is refused.
 */
#pragma once

#include "message.hpp"

#include "tx_calls/lock_result.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace prism::tx::locking
{

/** A lock that a transaction holds. */
struct Held {
	std::uint32_t place = 0;
	bool exclusive = false;
};

/** Table of objects and their locks. Thread-safe. After construction it neither allocates nor throws. */
class LockTable
{
public:
	/**
	 * Makes room for @p objects objects with keys and values of these sizes, and for some more keys that are only
	 * locked.
	 */
	LockTable(std::uint64_t objects, std::size_t max_key_size, std::size_t max_value_size);

	/** Locks @p key. Returns full if an exclusive lock of an absent key would exceed the number of objects. */
	LockResult lock(std::span<const std::byte> key, Mode mode, Held &held) noexcept;
	/** Makes a shared lock exclusive. If this is refused, the lock stays shared. */
	LockResult upgrade(Held &held) noexcept;
	/** Releases the lock. Call it once. */
	void release(const Held &held) noexcept;

	/** Returns the value, if the key has one. For the holder of the lock. */
	[[nodiscard]] std::optional<std::span<const std::byte>> value(const Held &held) const noexcept;
	/** Only for the holder of the exclusive lock. */
	void write(const Held &held, std::span<const std::byte> value) noexcept;
	void erase(const Held &held) noexcept;

	/** Returns the number of stored objects. */
	[[nodiscard]] std::uint64_t objects() const noexcept { return objects_.load(std::memory_order_relaxed); }

private:
	static constexpr std::uint32_t none = ~std::uint32_t{0};
	static constexpr std::size_t stripes = 1024;

	struct Record {
		std::uint64_t hash = 0;
		std::uint32_t next = none; /* of the same bucket */
		std::uint32_t holders = 0;
		std::uint32_t value_size = 0;
		std::uint16_t key_size = 0;
		bool exclusive = false;
		bool there = false;
		bool counted = false; /* true if it counts towards the limit of objects */
	};
	struct alignas(64) Stripe {
		std::mutex lock;
	};

	[[nodiscard]] std::size_t bucket_of(std::uint64_t hash) const noexcept;
	std::mutex &stripe(std::size_t bucket) noexcept { return stripes_[bucket % stripes].lock; }
	[[nodiscard]] std::byte *memory(std::uint32_t place) const noexcept
	{
		return memory_.get() + place * place_size_;
	}

	/* The caller has locked the bucket's stripe. */
	[[nodiscard]] std::uint32_t find(
		std::size_t bucket, std::uint64_t hash, std::span<const std::byte> key) const noexcept;
	std::uint32_t add(std::size_t bucket, std::uint64_t hash, std::span<const std::byte> key) noexcept;
	void remove(std::size_t bucket, std::uint32_t place) noexcept;
	LockResult acquire(Record &record, Mode mode) noexcept;
	bool count(Record &record) noexcept;

	const std::uint64_t limit_;
	const std::size_t place_size_;
	std::unique_ptr<std::byte[]> memory_; /* key and value of each place */
	std::vector<Record> records_;
	std::vector<std::uint32_t> heads_; /* of the buckets */
	std::vector<Stripe> stripes_;
	std::atomic<std::uint64_t> counted_{0};
	std::atomic<std::uint64_t> objects_{0};
	std::mutex free_lock_;
	std::vector<std::uint32_t> free_;
	std::uint32_t fresh_ = 0; /* the first place that was never used */
};

} // namespace prism::tx::locking
