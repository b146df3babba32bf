/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The table of the RPC store: shards of open addressing, each under a lock of its own that is held for the look-up and,
 * by readers, for copying the value out. Objects are written before the lock is taken.
 */
#pragma once

#include "service/extent_arena.hpp"

#include "common/store_client.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace prism::kv
{

/** Thread-safe; after construction it neither allocates nor throws. */
class RpcTable
{
public:
	/** Makes a table for at most @p capacity objects in @p memory bytes. */
	RpcTable(std::uint64_t capacity, std::size_t memory);

	/**
	 * Gets a value. Returns ok, with its size in @p size and its bytes in @p into, which has room for any value; or
	 * not_found.
	 */
	apps::Outcome get(std::span<const std::byte> key, std::span<std::byte> into, std::uint32_t &size) noexcept;
	/** Stores a value. Returns ok, or full: then nothing was changed. */
	apps::Outcome put(std::span<const std::byte> key, std::span<const std::byte> value) noexcept;
	/** Erases a key. Returns ok or not_found. */
	apps::Outcome erase(std::span<const std::byte> key) noexcept;

	/** Returns the number of stored objects. */
	[[nodiscard]] std::uint64_t size() const noexcept { return count_.load(std::memory_order_relaxed); }

private:
	static constexpr std::size_t shard_count = 64;

	struct Object {
		std::uint64_t hash = 0;
		std::uint64_t offset = 0;
		std::uint32_t key_size = 0; /* 0: an empty slot */
		std::uint32_t value_size = 0;

		[[nodiscard]] std::size_t bytes() const noexcept { return std::size_t{key_size} + value_size; }
	};

	struct alignas(64) Shard {
		std::mutex lock;
		std::vector<Object> slots; /* a power of two, never full */
		std::size_t used = 0;
	};

	Shard &shard_of(std::uint64_t hash) noexcept { return shards_[hash >> 58]; }
	/* Returns the slot of the key, or the empty one where it belongs. */
	Object &find(Shard &shard, std::uint64_t hash, std::span<const std::byte> key) noexcept;
	bool insert(Shard &shard, Object &slot, const Object &object) noexcept;
	void remove(Shard &shard, Object &slot) noexcept;

	std::uint64_t limit_;
	std::unique_ptr<std::byte[]> memory_bytes_;
	apps::ExtentArena arena_;
	std::vector<Shard> shards_;
	std::atomic<std::uint64_t> count_{0};
};

} // namespace prism::kv
