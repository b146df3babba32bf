/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

/**
 * Which bytes of a home's memory are whose. Up to a block, an object has a power of two of bytes, at least 16, and lies
 * inside one block, so that an access to it is atomic; a larger one has whole blocks. Hands out offsets, and touches no
 * memory. Thread-safe.
 */
class Allocator
{
public:
	/** @p bytes: a multiple of block_size. The first block is not handed out, so that no address is null. */
	explicit Allocator(std::uint64_t bytes);

	struct Piece {
		std::uint64_t offset = 0;
		std::uint64_t bytes = 0; /**< at least as many as were wanted */
		bool fresh = false;      /**< nobody has had any of its blocks before: they are zero still */
	};

	/**
	 * At least @p bytes, aligned to @p alignment, a power of two up to max_alignment. 0 bytes count as 1. Nothing:
	 * there is no such piece.
	 */
	std::optional<Piece> allocate(std::uint64_t bytes, std::uint64_t alignment = 1);

	/**
	 * Takes back what begins at @p offset: @p taken_back bytes (null: not told). 0, or EINVAL: nothing that was
	 * allocated begins there.
	 */
	int free(std::uint64_t offset, std::uint64_t *taken_back = nullptr);

	/**
	 * Has @p bytes at @p offset allocated, as they were in an earlier life. False: no allocate() can have given
	 * them, or they are not free.
	 */
	bool restore(std::uint64_t offset, std::uint64_t bytes);
	/** Blocks below @p number may not be zero any more. */
	void set_used_below(std::uint64_t number);

	/** Whether anything in block @p number is allocated. Without a lock. */
	[[nodiscard]] bool is_allocated(std::uint64_t number) const noexcept
	{
		return number < blocks_ && objects_[number].load(std::memory_order_relaxed);
	}
	/** Bytes that are not allocated; those of one block may be of use to small objects alone. Without a lock. */
	[[nodiscard]] std::uint64_t available() const noexcept { return available_.load(std::memory_order_relaxed); }

	static constexpr std::uint64_t max_alignment = std::uint64_t{1} << 30;

private:
	static constexpr std::uint64_t smallest = 16;
	static constexpr std::size_t small_classes = 6; /* 16 to 512 bytes */

	static std::size_t size_class_of(std::uint64_t bytes) noexcept;
	std::optional<std::uint64_t> take_blocks(std::uint64_t count, std::uint64_t alignment);
	std::optional<std::uint64_t> take_small(std::size_t size_class);
	bool take_blocks_at(std::uint64_t first, std::uint64_t count);
	bool take_small_at(std::uint64_t offset, std::size_t size_class);
	void give_blocks(std::uint64_t first, std::uint64_t count);
	void give_small(std::uint64_t offset, std::size_t size_class);
	void add_free(std::uint64_t first, std::uint64_t count);
	void remove_free(std::map<std::uint64_t, std::uint64_t>::iterator range);
	Piece note(std::uint64_t offset, std::uint64_t bytes);

	const std::uint64_t blocks_;
	std::mutex lock_;
	std::map<std::uint64_t, std::uint64_t> free_;                    /* ranges of blocks: first, count */
	std::set<std::pair<std::uint64_t, std::uint64_t>> free_by_size_; /* count, first */
	/** Blocks that are cut into small pieces and have free ones: a bit for each that is free. */
	std::array<std::map<std::uint64_t, std::uint32_t>, small_classes> cut_;
	std::unordered_map<std::uint64_t, std::uint64_t> allocated_; /* offset, bytes */
	std::unique_ptr<std::atomic<std::uint8_t>[]> objects_;       /* in each block */
	std::uint64_t first_fresh_ = 1;                              /* no block from here on was ever allocated */
	std::atomic<std::uint64_t> available_;
};

} // namespace prism::gam
