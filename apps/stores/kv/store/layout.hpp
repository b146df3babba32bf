/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of a PRISM-KV server, which its clients read and write by PRISM requests alone (docs/prism-kv.md). Words
 * are little-endian, as the devices have them.
 */
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <infiniband/prismdv.h>

namespace prism::kv
{

static_assert(std::endian::native == std::endian::little, "slots and objects are read and written in place");

/** The representation of a key in the table: a keyed hash of it. Bit 0 tells if the slot is a member's or a claim's. */
struct Fingerprint {
	std::uint64_t low = 0;
	std::uint64_t high = 0;

	friend bool operator==(const Fingerprint &, const Fingerprint &) = default;

	/** Returns the form of a key that is in the table. */
	[[nodiscard]] Fingerprint member() const noexcept { return {low | 1, high}; }
	/** Returns the form of a key whose insert is under way. Never zero: see fingerprint_of(). */
	[[nodiscard]] Fingerprint claim() const noexcept { return {low & ~std::uint64_t{1}, high}; }
};

/** One slot of the table: the operand of one CAS. */
struct alignas(32) Slot {
	Fingerprint key;
	prismdv_bounded_ptr object{}; /* in a claim: ptr 0, bound the number of the connection, tag as everywhere */

	friend bool operator==(const Slot &a, const Slot &b) noexcept { return !std::memcmp(&a, &b, sizeof(a)); }
	[[nodiscard]] bool empty() const noexcept { return *this == Slot{}; }
	[[nodiscard]] bool is_claim() const noexcept { return !empty() && !(key.low & 1); }
	[[nodiscard]] bool is_member() const noexcept { return (key.low & 1) != 0; }
};
static_assert(sizeof(Slot) == 32 && offsetof(Slot, object) == 16);

/** The beginning of an object; the key, then the value follow. An object never changes while a slot points at it. */
struct ObjectHeader {
	std::uint64_t version = 0; /**< unique; its low half is the tag of the slot */
	std::uint32_t value_size = 0;
	std::uint32_t key_size = 0;

	[[nodiscard]] std::uint64_t object_size() const noexcept
	{
		return sizeof(ObjectHeader) + std::uint64_t{key_size} + value_size;
	}
};
static_assert(sizeof(ObjectHeader) == 16);

/**
 * The slots in which a key may be: any of its two buckets, preferably its home. An emptied slot is free for every key
 * at once, because a search for a key reads all slots of its buckets.
 */
class Geometry
{
public:
	static constexpr std::uint32_t bucket_slots = 16;
	static constexpr std::uint32_t bucket_bytes = bucket_slots * sizeof(Slot);

	/** @p bucket_count: at least 2. */
	explicit Geometry(std::uint32_t bucket_count) noexcept : buckets_(bucket_count) {}

	[[nodiscard]] std::uint32_t bucket_count() const noexcept { return buckets_; }
	[[nodiscard]] std::uint64_t slot_count() const noexcept { return std::uint64_t{buckets_} * bucket_slots; }
	[[nodiscard]] std::uint64_t table_bytes() const noexcept { return slot_count() * sizeof(Slot); }

	/** Returns the first bucket of a key and, always another one, the second. */
	[[nodiscard]] std::array<std::uint32_t, 2> buckets_of(const Fingerprint &key) const noexcept
	{
		const std::uint32_t first = scale(key.low >> 32, buckets_);
		const std::uint32_t second = scale(key.high >> 32, buckets_ - 1);
		return {first, second + (second >= first)};
	}

	/** Returns the index of the slot that a key takes if it can. */
	[[nodiscard]] std::uint64_t home_of(const Fingerprint &key) const noexcept
	{
		return first_slot(buckets_of(key)[0]) + (key.high & (bucket_slots - 1));
	}

	static std::uint64_t first_slot(std::uint32_t bucket) noexcept { return std::uint64_t{bucket} * bucket_slots; }

private:
	/* Scales 32 random bits to [0, range) */
	static std::uint32_t scale(std::uint64_t bits, std::uint32_t range) noexcept
	{
		return static_cast<std::uint32_t>((bits * range) >> 32);
	}

	std::uint32_t buckets_;
};

} // namespace prism::kv
