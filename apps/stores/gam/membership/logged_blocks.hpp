/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "gam/membership/log_entry.hpp"
#include "gam/membership/log_scan.hpp"
#include "gam/membership/verdict.hpp"

namespace prism::gam
{

/**
 * The knowledge of a log about the blocks of one home: the newest value, the last two transfers, the allocations. Keeps
 * all values in memory at once.
 */
class LoggedBlocks
{
public:
	struct Block {
		bool has_value = false;
		std::uint64_t counter = 0; /**< term of the value */
		std::uint64_t life = 0;    /**< of the home in that term; 0: unknown */
		std::uint64_t order = 0;
		std::array<std::byte, block_size> value;
		std::array<Transfer, 2> transfers;
	};

	/** @p since: the incarnation of the home's first life; what is of an earlier home is not added. 0: unknown. */
	explicit LoggedBlocks(NodeId home, std::uint64_t since = 0)
		: home_(home), since_(std::min(since, DataCounter::most_life))
	{
	}

	/** Adds an entry of the log. Call for all, in order. */
	void add(const Entry &entry);
	/** Adds the gaps of the log, after all entries. */
	void miss(std::span<const Missing> missing);

	/** Sets a value that is no entry of the log, for a live home. Replaces the known one. */
	void set_value(std::uint64_t block, std::uint64_t counter, std::span<const std::byte, block_size> value);

	/** Returns the blocks by number. */
	[[nodiscard]] const std::unordered_map<std::uint64_t, Block> &blocks() const noexcept { return blocks_; }
	[[nodiscard]] const Block *find(std::uint64_t block) const noexcept;
	/** Returns the nodes that keep logs, and may have newer values of blocks there than this log: a bit set. */
	[[nodiscard]] std::uint64_t owners_with_logs() const noexcept;
	/** Returns true if entries are missing. */
	[[nodiscard]] bool is_incomplete() const noexcept { return missing_from_; }
	/** Returns true if moreover one of them may have been newer than @p block, which may be null. */
	[[nodiscard]] bool is_doubtful(const Block *block) const noexcept;

	/**
	 * Returns by number, below @p blocks, if a block may be allocated. If entries of all kinds are missing, any may
	 * be.
	 */
	[[nodiscard]] std::vector<bool> possibly_allocated(std::uint64_t blocks) const;
	/** Returns the allocated bytes, by their first address. */
	[[nodiscard]] std::unordered_map<Address, std::uint64_t> allocated() const;

private:
	struct Allocation {
		std::uint64_t bytes = 0;
		std::uint64_t order = 0;
		std::uint32_t objects = 0;
		bool is_whole = false; /* tells of all the block */
	};

	template <typename Visit>
	void for_each_object(const Visit &visit) const;

	const NodeId home_;
	const std::uint64_t since_;
	std::unordered_map<std::uint64_t, Block> blocks_;
	std::unordered_map<Address, Allocation> allocations_;
	bool knows_allocations_ = true;
	std::uint64_t missing_from_ = 0; /* highest sequence that begins a gap; 0: none */
};

} // namespace prism::gam
