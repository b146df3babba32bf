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
 * An allocator of a home's memory. An object of up to a block has a power of two of bytes, at least 16, and lies inside
 * one block, so that an access to it is atomic; a larger one has whole blocks. Hands out offsets, and touches no
 * memory. Thread-safe.
 */
class Allocator
{
public:
	/** @param bytes a multiple of block_size. The first block is never allocated, so that no address is null. */
	explicit Allocator(std::uint64_t bytes);

	struct Piece {
		std::uint64_t offset = 0;
		std::uint64_t bytes = 0; /**< at least as many as requested */
		bool fresh = false;      /**< none of its blocks was ever allocated: they are still zero */
	};

	/**
	 * Allocates at least @p bytes (0 counts as 1), aligned to @p alignment, a power of two up to max_alignment.
	 * Returns nothing if no such piece is free.
	 */
	std::optional<Piece> allocate(std::uint64_t bytes, std::uint64_t alignment = 1);

	/**
	 * Frees the piece that begins at @p offset and stores its size in @p taken_back (unless null). Returns 0, or
	 * EINVAL if no allocated piece begins there.
	 */
	int free(std::uint64_t offset, std::uint64_t *taken_back = nullptr);

	/**
	 * Returns the objects that begin in block @p number, all of @p bytes, a bit for each; for an object of whole
	 * blocks, whose first one it is, the first bit.
	 */
	[[nodiscard]] std::uint32_t objects(std::uint64_t number, std::uint64_t bytes);

	/**
	 * Marks @p bytes at @p offset as allocated, as before a restart. Returns false if no allocate() can have
	 * returned them, or if they are not free.
	 */
	bool restore(std::uint64_t offset, std::uint64_t bytes);
	/** Records that blocks below @p number may no longer be zero. */
	void set_used_below(std::uint64_t number);

	/** Returns true if anything in block @p number is allocated. Lock-free. */
	[[nodiscard]] bool is_allocated(std::uint64_t number) const noexcept
	{
		return number < blocks_ && objects_[number].load(std::memory_order_relaxed);
	}
	/** Returns the number of free bytes; those in a block that is cut serve small objects only. Lock-free. */
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
	/** Blocks cut into small pieces, some of them free: a bit for each free piece. */
	std::array<std::map<std::uint64_t, std::uint32_t>, small_classes> cut_;
	std::unordered_map<std::uint64_t, std::uint64_t> allocated_; /* offset, bytes */
	std::unique_ptr<std::atomic<std::uint8_t>[]> objects_;       /* objects in each block */
	std::uint64_t first_fresh_ = 1;                              /* no block from here on was ever allocated */
	std::atomic<std::uint64_t> available_;
};

} // namespace prism::gam
