/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The layout of a hash table in the global memory: an array of buckets on each node, which ends with the table's
 * mark; chains of overflow buckets; and a record for each pair. Little-endian. docs/prism-gam.md defines
 * which lock protects each part.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gam/coherence/address.hpp"

namespace prism::gam::dht
{

/**
 * Refers to one pair: 12 bits of its key's hash, the length of its record, and the record's address. All zero: free.
 */
class Entry
{
public:
	static constexpr unsigned size_bits = 20;
	static constexpr std::uint32_t most_bytes = (1U << size_bits) - 1;

	constexpr Entry() noexcept = default;
	/** @param bytes size of the record, at most most_bytes */
	constexpr Entry(std::uint64_t hash, std::uint32_t bytes, Address record) noexcept
		: tag_and_bytes_(tag_of(hash) << size_bits | bytes), low_(static_cast<std::uint32_t>(record.value)),
		  high_(static_cast<std::uint32_t>(record.value >> 32))
	{
	}

	[[nodiscard]] constexpr bool is_free() const noexcept { return record().is_null(); }
	[[nodiscard]] constexpr std::uint32_t bytes() const noexcept { return tag_and_bytes_ & most_bytes; }
	[[nodiscard]] constexpr Address record() const noexcept { return Address(std::uint64_t{high_} << 32 | low_); }
	[[nodiscard]] constexpr bool may_be(std::uint64_t hash) const noexcept
	{
		return !is_free() && tag_and_bytes_ >> size_bits == tag_of(hash);
	}

	/** Returns the lowest bits, as the highest ones choose the bucket. */
	static constexpr std::uint32_t tag_of(std::uint64_t hash) noexcept { return hash & ((1U << tag_bits) - 1); }

private:
	static constexpr unsigned tag_bits = 32 - size_bits;

	std::uint32_t tag_and_bytes_ = 0;
	std::uint32_t low_ = 0;
	std::uint32_t high_ = 0;
};
static_assert(sizeof(Entry) == 12);

struct Bucket {
	std::array<Entry, 10> entries;
	Address overflow; /**< address of the next bucket in the chain, or null */
};
static_assert(sizeof(Bucket) == 128);

/**
 * The beginning of a record; the key and the value follow. Changed under the bucket's lock alone. The mark tells it
 * from another table's, which may be there if the node's number was used again.
 */
struct RecordHeader {
	std::uint32_t mark = 0; /**< lowest bits of the table's */
	std::uint32_t key_bytes = 0;
	std::uint32_t value_bytes = 0;
};

/** The data from which any node opens the table. Never changed. */
struct Catalogue {
	static constexpr std::uint64_t valid_magic = 0x54'48'44'4d'41'47'02; /* GAMDHT, version 2 */
	static constexpr std::uint32_t most_buckets = 1U << 24;

	std::uint64_t magic = 0;
	std::uint64_t mark = 0;    /**< a random number, which no other table has */
	std::uint64_t seed = 0;    /**< seed of the keys' hash */
	std::uint32_t arrays = 0;  /**< number of nodes with buckets */
	std::uint32_t buckets = 0; /**< in each array */
	/** 1: a record is on the node that has its bucket; 0: on the node that has written it. */
	std::uint64_t records_beside_buckets = 0;
	std::array<Address, max_nodes> array;

	/** Returns the end of the buckets of the array at @p first, where the mark is. */
	[[nodiscard]] constexpr Address end_of(Address first) const noexcept
	{
		return first + std::uint64_t{buckets} * sizeof(Bucket);
	}

	[[nodiscard]] constexpr bool is_valid() const noexcept
	{
		if (magic != valid_magic || arrays == 0 || arrays > max_nodes || buckets == 0 ||
			buckets > most_buckets || records_beside_buckets > 1)
			return false;
		for (std::uint32_t i = 0; i < arrays; i++) {
			if (array[i].is_null() || array[i].value % sizeof(Bucket))
				return false;
		}
		return true;
	}
};

} // namespace prism::gam::dht
