/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A shard's memory as clients READ it: the key-value form of FaRM [Dragojevic et al., NSDI '14; SOSP '15]. An index of
 * buckets leads to objects, each of which has its version and lock in front of its value. All fields are in host order
 * of a little-endian machine.
 *
 * FaRM puts a version into every cache line of an object, and relies on READs that take each line as a whole, and on
 * the order of the lines. The devices here promise neither (docs/semantics.md, S.4.2), so buckets and objects carry a
 * checksum instead. It costs the reader one pass over what it has to copy anyway, where versions would cost it a pass
 * that squeezes them out, and the wire 8 bytes instead of 8 in every 64.
 *
 * The version word alone could be torn, too. The first 16 bytes, word and checksum, cannot pass for older ones: the
 * lock and the low bits of the version share a byte, and the checksum belongs to one version. They are what is compared
 * when a transaction validates.
 */
#pragma once

#include "service/hello.hpp"

#include <prism/connection.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::tx::farm
{

/** Ids of ConnectionRecord::regions. */
enum : std::uint32_t {
	index_region = 1,
	object_region = 2,
};

/** The words that a validation compares. */
struct Mark {
	std::uint64_t word = 0; /* of an object: its state; of a bucket: its version */
	std::uint64_t crc = 0;

	friend bool operator==(const Mark &, const Mark &) = default;
};
static_assert(sizeof(Mark) == 16);

/** The state of an object: bit 0 lock, bit 1 set while it is in the index, then the version. */
constexpr std::uint64_t locked = 1;
constexpr std::uint64_t live = 2;
/** Returns the unlocked state with the next version. */
constexpr std::uint64_t next_state(std::uint64_t state, bool is_live) noexcept
{
	return (((state >> 2) + 1) << 2) | (is_live ? live : 0);
}

/** The index's entry of an object. */
struct Entry {
	std::uint32_t place = 0; /* the object's number + 1; 0: none */
	std::uint16_t tag = 0;   /* of the key's hash */
	std::uint16_t units = 0; /* of 16 bytes: how much to READ; a hint */
};
static_assert(sizeof(Entry) == 8);

/** The entries of keys whose hash leads here, and a link to a bucket with more of them. */
struct Bucket {
	static constexpr std::size_t width = 5;

	Mark mark; /* its version changes with every key that comes or goes, also in buckets behind this one */
	Entry entries[width];
	std::uint64_t next = 0; /* number of another bucket; 0: none */

	[[nodiscard]] std::uint64_t compute_crc() const noexcept;
	[[nodiscard]] bool intact() const noexcept { return mark.crc == compute_crc(); }
	void seal() noexcept { mark.crc = compute_crc(); }
};
static_assert(sizeof(Bucket) == 64);

/** The header of an object, before its key and its value. */
struct ObjectHeader {
	Mark mark;
	std::uint32_t value_size = 0;
	std::uint16_t key_size = 0;
	std::uint16_t reserved = 0;

	[[nodiscard]] std::size_t object_size() const noexcept
	{
		return sizeof(ObjectHeader) + std::size_t{key_size} + value_size;
	}
	/** Returns the checksum of version, sizes, key and value; the lock does not matter. */
	[[nodiscard]] std::uint64_t compute_crc(
		std::span<const std::byte> key, std::span<const std::byte> value) const noexcept;
};
static_assert(sizeof(ObjectHeader) == 24);

constexpr std::size_t unit = 16;
constexpr std::uint16_t units_of(std::size_t object_size) noexcept
{
	return static_cast<std::uint16_t>((object_size + unit - 1) / unit);
}

constexpr std::uint16_t tag_of(std::uint64_t hash) noexcept
{
	return static_cast<std::uint16_t>(hash);
}

/** The part of the Hello that the server adds, 40 bytes in network order, in the order of the members. */
struct Geometry {
	static constexpr std::size_t size = 40;

	std::uint64_t home_buckets = 0; /**< buckets that hashes lead to; buckets lead to the others, behind these */
	std::uint64_t buckets = 0;      /**< in all */
	std::uint64_t objects = 0;      /**< places for objects */
	std::uint32_t object_size = 0;  /**< bytes of each place */
	std::uint32_t message_size = 0; /**< of the longest request */
	std::uint32_t shard = 0;        /**< number of this shard in the store */
	std::uint32_t shards = 1;       /**< number of shards of the store */

	void serialize(std::span<std::byte, size> to) const noexcept;
	/**
	 * Parses the part of a server that is not trusted: checks the fields with each other, with @p hello, and with
	 * the regions. Errors: EBADMSG.
	 */
	static Result<Geometry> parse(const ConnectionRecord &record, const apps::Hello &hello);

	/** Returns the number of the bucket where the search for a key with this hash begins. */
	[[nodiscard]] std::uint64_t home_of(std::uint64_t hash) const noexcept;
};

/** Least size of messages, so that every validation fits in one. */
constexpr std::uint32_t least_message_size = 16384;

} // namespace prism::tx::farm
