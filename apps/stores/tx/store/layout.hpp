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

/** Cells that a transaction reads or writes at most. */
constexpr std::uint32_t max_accesses = 64;

/** Who has prepared: the paper's PR and PW. A CAS compares both as one integer, the writer first. */
struct alignas(32) Prepared {
	Timestamp reader; /**< the latest transaction that has read the version, and may commit */
	Timestamp writer; /**< the latest that wants to write it; never before Version::committed */
};

/** What was written last: the paper's C and addr, changed at once. */
struct alignas(32) Version {
	Timestamp committed;          /**< of its writer, or of a later one that was aborted: then the object stays */
	prismdv_bounded_ptr object{}; /**< a buffer that never changes while this points at it; null: no keys */
};

/** The keys whose hashes meet here. */
struct alignas(64) Cell {
	Prepared prepared;
	Version version;
};
static_assert(sizeof(Cell) == 64 && offsetof(Cell, version) == 32 && offsetof(Version, object) == 16);

/** How the transaction of a lane ended that had to be decided last. */
struct alignas(32) Decision {
	static constexpr std::uint64_t committed = 1;
	static constexpr std::uint64_t aborted = 2;

	Timestamp transaction;
	std::uint64_t verdict = 0;
	std::uint64_t reserved = 0;
};

/** What a transaction is about to write to one cell of the shard. */
struct alignas(64) LogEntry {
	static constexpr std::uint64_t no_cell = ~std::uint64_t{0}; /**< what it was about is over */

	std::uint64_t unused[2] = {};
	std::uint64_t cell = 0; /* a WRITE fills in from here to the end of the timestamp */
	std::uint64_t reserved = 0;
	Version version; /**< exactly what is to be installed */
};
static_assert(sizeof(LogEntry) == 64 && offsetof(LogEntry, version) == 32);
/* From LogEntry::cell on, an entry can be swapped for a Prepared whose writer counts. */
static_assert(offsetof(LogEntry, version) - offsetof(LogEntry, cell) == offsetof(Prepared, writer));

/** What a WRITE brings to a log entry, from LogEntry::cell on; its end only where there is no object. */
struct Announcement {
	std::uint64_t cell = 0;
	std::uint64_t reserved = 0;
	Timestamp timestamp;
	prismdv_bounded_ptr object{};
};
static_assert(sizeof(Announcement) == sizeof(LogEntry) - offsetof(LogEntry, cell));

/** What a lane of a client has on every shard. */
struct alignas(64) LogPlace {
	Decision decision;
	std::uint64_t unused[4] = {};
	LogEntry entries[max_accesses];
};
static_assert(sizeof(LogPlace) == 64 + max_accesses * sizeof(LogEntry));
static_assert(std::is_trivially_copyable_v<Cell> && std::is_trivially_copyable_v<LogPlace>);

/** How a shard's memory is divided. */
struct ShardGeometry {
	std::uint64_t cells = 1;
	std::uint32_t clients = 64; /**< at once */
	std::uint32_t lanes = 32;   /**< of one client; clients * lanes is at most 2^Writer::place_bits */

	[[nodiscard]] std::uint32_t places() const noexcept { return clients * lanes; }
	[[nodiscard]] static std::uint64_t cell_offset(std::uint64_t cell) noexcept { return cell * sizeof(Cell); }
	[[nodiscard]] std::uint64_t place_offset(std::uint32_t place) const noexcept
	{
		return cells * sizeof(Cell) + place * sizeof(LogPlace);
	}
	/** Of cells and logs. */
	[[nodiscard]] std::uint64_t bytes() const noexcept { return place_offset(places()); }
};

} // namespace prism::tx
