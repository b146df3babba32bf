/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "gam/log/entry.hpp"
#include "gam/log/scan.hpp"
#include "gam/recovery/verdict.hpp"

namespace prism::gam
{

/**
 * What a log knows of the blocks of one home: the newest value, the last two transfers, what is allocated. Takes memory
 * for all values at once.
 */
class LoggedBlocks
{
public:
	struct Block {
		bool has_value = false;
		std::uint64_t counter = 0; /**< of the value */
		std::uint64_t order = 0;
		std::array<std::byte, block_size> value;
		std::array<Transfer, 2> transfers;
	};

	explicit LoggedBlocks(NodeId home) : home_(home) {}

	/** Of each entry of the log, in order. */
	void add(const Entry &entry);
	/** What the log says is missing, after all entries. */
	void miss(std::span<const Missing> missing);

	/** A value that is no entry of the log: of a home that lives. Replaces the one that is known. */
	void set_value(std::uint64_t block, std::uint64_t counter, std::span<const std::byte, block_size> value);

	/** By number. */
	[[nodiscard]] const std::unordered_map<std::uint64_t, Block> &blocks() const noexcept { return blocks_; }
	[[nodiscard]] const Block *find(std::uint64_t block) const noexcept;
	/** Entries are missing. */
	[[nodiscard]] bool is_incomplete() const noexcept { return missing_from_; }
	/** ... and one of them may have been newer than what is known of @p block, which may be null. */
	[[nodiscard]] bool is_doubtful(const Block *block) const noexcept;

	/** By number, below @p blocks. If entries of all kinds are missing, any block may be allocated. */
	[[nodiscard]] std::vector<bool> possibly_allocated(std::uint64_t blocks) const;
	/** Bytes that are allocated, by the address where they begin. */
	[[nodiscard]] std::unordered_map<Address, std::uint64_t> allocated() const;

private:
	struct Allocation {
		std::uint64_t bytes = 0;
		std::uint64_t order = 0;
	};

	const NodeId home_;
	std::unordered_map<std::uint64_t, Block> blocks_;
	std::unordered_map<Address, Allocation> allocations_;
	bool knows_allocations_ = true;
	std::uint64_t missing_from_ = 0; /* the highest sequence that begins a gap; 0: there is none */
};

} // namespace prism::gam
