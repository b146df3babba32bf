/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The format of a log's segment: a head of 128 bytes, then entries, one behind the other. All numbers are
 * little-endian. docs/gam-recovery.md defines each byte. Nothing here trusts what it reads.
 */
#pragma once

#include <algorithm>
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
	piece,      /**< of earlier releases: `counter` bytes are allocated at `block`, any address; 0: freed */
	allocation, /**< the objects that begin in the block: `objects`, of `counter` bytes each */
};

/**
 * The counter of a data entry: the term of the block, with the incarnation of its home above. So what is of a later
 * home with that number is newer, whatever its terms.
 */
struct DataCounter {
	static constexpr unsigned term_bits = 37; /* as in a directory entry */
	static constexpr std::uint64_t most_life = UINT64_MAX >> term_bits;

	std::uint64_t life = 0; /**< of the home; 0: unknown, or this node itself; all above most_life are alike */
	std::uint64_t term = 0;

	explicit constexpr DataCounter(std::uint64_t counter) noexcept
		: life(counter >> term_bits), term(counter & (UINT64_MAX >> (64 - term_bits)))
	{
	}
	static constexpr std::uint64_t pack(std::uint64_t life, std::uint64_t term) noexcept
	{
		return std::min(life, most_life) << term_bits | DataCounter(term).term;
	}
};

struct Entry {
	static constexpr std::size_t header_size = 48;
	static constexpr std::size_t max_size = header_size + block_size;

	EntryKind kind = EntryKind::data;
	NodeId node = no_node; /**< transfer: the new owner */
	Address block;
	std::uint64_t counter = 0;       /**< the term; data: a DataCounter */
	std::uint64_t sequence = 0;      /**< its position in the log: the numbers have no gaps */
	std::uint64_t order = 0;         /**< its first sequence; compaction assigns a new one */
	std::span<const std::byte> data; /**< block_size bytes, or none */
	bool owner_logs = false;         /**< transfer: the new owner keeps a log; false also if that is unknown */
	std::uint64_t owner_life = 0;    /**< transfer: incarnation of the new owner; 0: unknown */
	std::uint32_t objects = 0; /**< allocation: a bit for each; of one that has whole blocks the first; 0: none */

	[[nodiscard]] std::size_t size() const noexcept { return header_size + data.size(); }
	/** Returns true if this entry is newer than @p other, of the same kind, block and log. */
	[[nodiscard]] bool is_newer_than(const Entry &other) const noexcept
	{
		return counter != other.counter ? counter > other.counter : order > other.order;
	}

	/** Returns true if this says that something is free. */
	[[nodiscard]] bool frees() const noexcept { return kind == EntryKind::piece ? !counter : !objects; }

	/** Writes size() bytes to @p to. @p seed: SegmentHead::seed() of the segment. */
	void serialize(std::byte *to, std::uint64_t seed) const noexcept;
	/**
	 * Parses the entry at the beginning of @p bytes; its `data` points into them. Returns nothing if there is none.
	 */
	static std::optional<Entry> parse(std::span<const std::byte> bytes, std::uint64_t seed) noexcept;
};

/** The head of a segment. Written once, when the segment begins. */
struct SegmentHead {
	static constexpr std::size_t size = 128;

	std::uint64_t cluster = 0;
	std::uint64_t incarnation = 0; /**< the life of the node that wrote it */
	NodeId node = no_node;
	std::uint64_t number = 0;         /**< number of the segment */
	std::uint64_t first = 0;          /**< sequence of its first entry */
	std::array<std::byte, 16> boot{}; /**< the machine's run, which keeps the data of a killed process */

	/** Random: so a log entry copied into the global memory cannot pass for one of this segment. */
	std::uint64_t salt = 0;
	/** Sequence where the last gap begins in earlier segments, which compaction may have removed; or 0. */
	std::uint64_t gap = 0;
	bool failed = false; /**< true if all gaps are from failed writes: see Missing */
	/** Incarnation of the life that began the log, below 2^48; 0: unknown. */
	std::uint64_t began = 0;

	/**
	 * Returns the initial value of the entries' checksums, so that an entry of another segment is not valid here.
	 */
	[[nodiscard]] std::uint64_t seed() const noexcept;
	void serialize(std::byte *to) const noexcept;
	static std::optional<SegmentHead> parse(std::span<const std::byte> bytes) noexcept;
};

/* Words of the head that the writer keeps changing, with no checksum. */
constexpr std::size_t kept_at = 96;       /**< sequence of the oldest entry that is not compacted away; 0: unknown */
constexpr std::size_t written_at = 104;   /**< sequence of the last entry that is complete in memory */
constexpr std::size_t committed_at = 112; /**< sequence of the last entry that is on the disk */
/** Low half: errno value if an entry after the last could not be written. High half: losses that nobody was told of. */
constexpr std::size_t failed_at = 120;

} // namespace prism::gam
