/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The server's side of FaRM's memory. Only the server writes it; clients READ it at any time.
 *
 * A key enters the index, with a locked object, when a transaction locks it to write it. From then on transactions that
 * read the key as absent fail validation, and no other transaction can lock it. The key leaves the index when a
 * transaction that has erased it, or that has inserted it and aborts, releases the lock. Places of objects are used
 * again for other keys. Their versions continue, so that a new object is never taken for the former one.
 */
#pragma once

#include "layout.hpp"
#include "message.hpp"

#include "service/memory.hpp"
#include "tx_calls/lock_result.hpp"

#include <prism/device.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace prism::tx::farm
{

struct ObjectTableOptions {
	std::uint64_t objects = 1 << 20; /**< places, each for the longest key and value; at most 2^32 - 2 */
	std::uint32_t max_key_size = 256;
	std::uint32_t max_value_size = 8192;
};

/** A lock that a transaction holds. */
struct Lock {
	std::uint32_t object = 0;
	bool made = false; /* the object was made by this lock */
};

/** Change of a key's bucket by the lock of the key. */
struct BucketChange {
	std::uint64_t before = 0;
	Mark after;
};

/** Table of objects and their index. Thread-safe. No function waits for a lock that a transaction holds. */
class ObjectTable
{
public:
	/** Returns the memory that create() needs. */
	static apps::MemoryPlan memory(const ObjectTableOptions &options);
	/** Registers its memory in @p pd, for peers to read. Errors: EINVAL (options), ENOMEM, those of
	 * Buffer::create(). */
	static Result<std::unique_ptr<ObjectTable>> create(
		const ProtectionDomain &pd, const ObjectTableOptions &options);

	/** Locks an object if it is in @p state, which is live and not locked. */
	LockResult lock_object(std::uint32_t object, std::uint64_t state, Lock &lock) noexcept;
	/**
	 * Locks @p key, of any allowed size, and makes an object for it if it has none; @p kind may demand that it has
	 * none. Its value will have @p value_size bytes.
	 */
	LockResult lock_key(std::span<const std::byte> key, LockKind kind, std::uint32_t value_size, Lock &lock,
		BucketChange &change) noexcept;

	/* The operations of the holder of a lock, one of them, once */

	void update(const Lock &lock, std::span<const std::byte> value) noexcept;
	void erase(const Lock &lock) noexcept;
	/** Releases the lock and leaves everything as it was before. */
	void release(const Lock &lock) noexcept;

	/** Returns true if the object or bucket still has this mark; false also for a number that does not exist. */
	[[nodiscard]] bool unchanged(MarkKind kind, std::uint32_t number, const Mark &mark) const noexcept;

	/** Returns the table's geometry, without the size of messages and the number of the shard. */
	[[nodiscard]] const Geometry &geometry() const noexcept { return geometry_; }
	[[nodiscard]] RemoteRegion index() const noexcept { return index_.remote(); }
	[[nodiscard]] RemoteRegion objects() const noexcept { return objects_.remote(); }
	/** Returns the number of objects that are not free. */
	[[nodiscard]] std::uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

	/**
	 * For tests: changes one bit of the object with @p key, or changes it back. Returns false if there is no such
	 * key, or if it has no value.
	 */
	bool damage(std::span<const std::byte> key) noexcept;

private:
	static constexpr std::size_t stripes = 1024;
	struct alignas(64) Stripe {
		std::mutex lock;
	};
	/** An entry of the index. */
	struct Position {
		std::uint64_t bucket = 0;
		std::size_t entry = 0;
	};

	ObjectTable(Buffer index, Buffer objects, const Geometry &geometry);

	[[nodiscard]] std::byte *object(std::uint32_t number) const noexcept
	{
		return objects_.data() + std::size_t{number} * geometry_.object_size;
	}
	[[nodiscard]] ObjectHeader header(std::uint32_t number) const noexcept;
	[[nodiscard]] std::span<const std::byte> key_of(std::uint32_t number) const noexcept;
	[[nodiscard]] const Bucket &bucket(std::uint64_t number) const noexcept { return index_.as<Bucket>()[number]; }
	std::mutex &stripe(std::uint64_t home) noexcept { return stripes_[home % stripes].lock; }
	void write(std::uint64_t number, Bucket contents) noexcept;
	void write_state(std::uint32_t number, std::uint64_t state) noexcept;
	LockResult take(std::uint32_t number, std::uint64_t state, Lock &lock) noexcept;

	/* The caller has locked the stripe of the home bucket. */
	[[nodiscard]] std::optional<Position> find(
		std::uint64_t home, std::uint64_t hash, std::span<const std::byte> key) const noexcept;
	[[nodiscard]] Position position_of(std::uint64_t home, std::uint32_t object) const noexcept;
	[[nodiscard]] std::optional<Position> room(std::uint64_t home) noexcept;
	void set(std::uint64_t home, const Position &position, const Entry &entry) noexcept;
	LockResult make(
		std::uint64_t hash, std::span<const std::byte> key, std::uint32_t value_size, Lock &lock) noexcept;

	void remove(const Lock &lock) noexcept;
	std::optional<std::uint32_t> allocate() noexcept;
	void free(std::uint32_t number) noexcept;

	const Geometry geometry_;
	Buffer index_;
	Buffer objects_;
	/* The authoritative states; clients see copies, which only the holder of a lock changes. */
	std::unique_ptr<std::atomic<std::uint64_t>[]> states_;
	std::vector<Stripe> stripes_;
	std::atomic<std::uint64_t> next_bucket_; /* the first bucket that no other leads to */
	std::atomic<std::uint64_t> used_{0};
	std::mutex free_lock_;
	std::vector<std::uint32_t> free_;
	std::uint32_t fresh_ = 0; /* the first object that was never used */
};

} // namespace prism::tx::farm
