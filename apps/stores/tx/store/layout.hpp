/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of a shard of PRISM-TX, which its clients read and write by PRISM requests alone (docs/prism-tx.md):
 * cells, the clients' logs, the connections' scratches (not used), then buffers for objects. Words are little-endian.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <infiniband/prismdv.h>

#include "tx/store/timestamp.hpp"

namespace prism::tx
{

/** Most cells that a transaction reads or writes. */
constexpr std::uint32_t max_accesses = 64;

/**
 * Timestamps of the latest reader and of the latest prepared writer: the paper's PR and PW. A CAS compares both as one
 * integer, the writer first.
 */
struct alignas(32) Prepared {
	Timestamp reader; /**< the latest transaction that has read the version, and may commit */
	Timestamp writer; /**< the latest that wants to write it; never before Version::committed */
};

/** The version written last: the paper's C and addr, changed at once. */
struct alignas(32) Version {
	Timestamp committed;          /**< of its writer, or of a later aborted one that left the object */
	prismdv_bounded_ptr object{}; /**< a buffer that never changes while this points at it; null: no keys */
};

/** The keys whose hashes lead to this cell. */
struct alignas(64) Cell {
	Prepared prepared;
	Version version;
};
static_assert(sizeof(Cell) == 64 && offsetof(Cell, version) == 32 && offsetof(Version, object) == 16);

/**
 * Returns true if the transaction @p who is over in a cell with these timestamps, or has not prepared it: then nobody
 * will install its version there, if its client is gone.
 */
inline bool is_over(const Timestamp &who, const Timestamp &committed, const Timestamp &prepared) noexcept
{
	return committed >= who || prepared < who;
}

/** Verdict on the last transaction of a lane that needed a decision. */
struct alignas(32) Decision {
	static constexpr std::uint64_t committed = 1;
	static constexpr std::uint64_t aborted = 2;

	Timestamp transaction;
	std::uint64_t verdict = 0;
	std::uint64_t reserved = 0;
};

/** Record of a transaction's pending write to one cell of the shard. */
struct alignas(64) LogEntry {
	static constexpr std::uint64_t no_cell = ~std::uint64_t{0}; /**< no write is pending any more */

	std::uint64_t unused[2] = {};
	std::uint64_t cell = 0; /* a WRITE fills in from here to the end of the timestamp */
	std::uint64_t reserved = 0;
	Version version; /**< exactly the version to install */
};
static_assert(sizeof(LogEntry) == 64 && offsetof(LogEntry, version) == 32);
/* From LogEntry::cell on, an entry can be the swap value for a Prepared, which takes its writer from it. */
static_assert(offsetof(LogEntry, version) - offsetof(LogEntry, cell) == offsetof(Prepared, writer));

/** The data of the WRITE to a log entry, from LogEntry::cell on; its end is sent only if there is no object. */
struct Announcement {
	std::uint64_t cell = 0;
	std::uint64_t reserved = 0;
	Timestamp timestamp;
	prismdv_bounded_ptr object{};
};
static_assert(sizeof(Announcement) == sizeof(LogEntry) - offsetof(LogEntry, cell));

/** Log of a lane of a client, on every shard. */
struct alignas(64) LogPlace {
	Decision decision;
	std::uint64_t unused[4] = {};
	LogEntry entries[max_accesses];
};
static_assert(sizeof(LogPlace) == 64 + max_accesses * sizeof(LogEntry));
static_assert(std::is_trivially_copyable_v<Cell> && std::is_trivially_copyable_v<LogPlace>);

/** Division of a shard's memory. */
struct ShardGeometry {
	std::uint64_t cells = 1;
	std::uint32_t clients = 64; /**< most at once */
	std::uint32_t lanes = 32;   /**< of one client; clients * lanes is at most 2^Writer::place_bits */

	[[nodiscard]] std::uint32_t places() const noexcept { return clients * lanes; }
	[[nodiscard]] static std::uint64_t cell_offset(std::uint64_t cell) noexcept { return cell * sizeof(Cell); }
	[[nodiscard]] std::uint64_t place_offset(std::uint32_t place) const noexcept
	{
		return cells * sizeof(Cell) + place * sizeof(LogPlace);
	}
	/** Returns the bytes of cells and logs. */
	[[nodiscard]] std::uint64_t bytes() const noexcept { return place_offset(places()); }
};

} // namespace prism::tx
