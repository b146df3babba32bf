/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a hash table is in the global memory: an array of buckets on each node, chains of overflow buckets, and a record
 * for each pair. Little-endian. docs/prism-gam.md names who may touch what under which lock.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gam/coherence/address.hpp"

namespace prism::gam::dht
{

/** Names one pair: 12 bits of its key's hash, how long its record is, and where. All zero: none. */
class Entry
{
public:
	static constexpr unsigned size_bits = 20;
	static constexpr std::uint32_t most_bytes = (1U << size_bits) - 1;

	constexpr Entry() noexcept = default;
	/** @p bytes of the record: at most most_bytes. */
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

	/** The lowest bits: the bucket is chosen by the highest. */
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
	Address overflow; /**< of the next bucket in the chain, or null */
};
static_assert(sizeof(Bucket) == 128);

/** What a record begins with; the key and the value follow. Changed under the bucket's lock alone. */
struct RecordHeader {
	std::uint32_t key_bytes = 0;
	std::uint32_t value_bytes = 0;
};

/** From which any node opens the table. Never changed. */
struct Catalogue {
	static constexpr std::uint64_t valid_magic = 0x54'48'44'4d'41'47'01; /* GAMDHT, version 1 */
	static constexpr std::uint32_t most_buckets = 1U << 24;

	std::uint64_t magic = 0;
	std::uint64_t seed = 0;    /**< of the keys' hash */
	std::uint32_t arrays = 0;  /**< how many nodes have buckets */
	std::uint32_t buckets = 0; /**< in each array */
	/** 1: a record is on the node that has its bucket; 0: on the one that has written it. */
	std::uint64_t records_beside_buckets = 0;
	std::array<Address, max_nodes> array;

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
