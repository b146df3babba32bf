/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bytes of a log's segment: a head of 128 bytes, then entries, one behind the other. All numbers are little-endian.
 * docs/gam-recovery.md has them byte by byte. Nothing here trusts what it reads.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

enum class EntryKind : std::uint8_t {
	data = 1,   /**< DLOG: the value of a block */
	transfer,   /**< OLOG: `node` becomes the owner of the block */
	allocation, /**< at `block`, which may be any address, `counter` bytes are allocated; 0: they are freed */
};

struct Entry {
	static constexpr std::size_t header_size = 48;
	static constexpr std::size_t max_size = header_size + block_size;

	EntryKind kind = EntryKind::data;
	NodeId node = no_node; /**< transfer: the new owner */
	Address block;
	std::uint64_t counter = 0;       /**< the term */
	std::uint64_t sequence = 0;      /**< its place in the log: the numbers have no gaps */
	std::uint64_t order = 0;         /**< the sequence that it had first; compaction gives it a new one */
	std::span<const std::byte> data; /**< block_size bytes, or none */

	[[nodiscard]] std::size_t size() const noexcept { return header_size + data.size(); }
	/** Of entries of one kind for one block in one log: whether this one is the newer. */
	[[nodiscard]] bool is_newer_than(const Entry &other) const noexcept
	{
		return counter != other.counter ? counter > other.counter : order > other.order;
	}

	/** Writes size() bytes to @p to. @p seed: SegmentHead::seed() of the segment. */
	void serialize(std::byte *to, std::uint64_t seed) const noexcept;
	/** The entry that @p bytes begin with, or nothing; `data` points into them. */
	static std::optional<Entry> parse(std::span<const std::byte> bytes, std::uint64_t seed) noexcept;
};

/** What a segment is of. Written once, when it begins. */
struct SegmentHead {
	static constexpr std::size_t size = 128;

	std::uint64_t cluster = 0;
	std::uint64_t incarnation = 0; /**< the life of the node that wrote it */
	NodeId node = no_node;
	std::uint64_t number = 0;         /**< of the segment */
	std::uint64_t first = 0;          /**< sequence of its first entry */
	std::array<std::byte, 16> boot{}; /**< of the machine's run: what a killed process wrote is there after it */

	/** Random: who writes a log's entry into the global memory cannot have it taken for one of this segment. */
	std::uint64_t salt = 0;
	/** In segments before this one, which compaction may have removed: sequence where the last gap begins, or 0. */
	std::uint64_t gap = 0;
	bool failed = false; /**< all gaps were of logs that could not be written: see Missing */

	/** What the checksums of the entries begin with, so that no other segment's entry is taken for one of these. */
	[[nodiscard]] std::uint64_t seed() const noexcept;
	void serialize(std::byte *to) const noexcept;
	static std::optional<SegmentHead> parse(std::span<const std::byte> bytes) noexcept;
};

/* In the head, beside what is written once: words that the writer keeps changing, with no checksum. */
constexpr std::size_t written_at = 104;   /**< sequence of the last entry that is complete in memory */
constexpr std::size_t committed_at = 112; /**< sequence of the last entry that is on the disk */
constexpr std::size_t failed_at = 120;    /**< errno value, if an entry behind the last could not be written */

} // namespace prism::gam
