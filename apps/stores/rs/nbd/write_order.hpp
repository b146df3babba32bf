/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

namespace prism::rs
{

/** The blocks that a write touches. Of its first and last one it may change a part only. */
struct Extent {
	std::uint64_t first = 0;
	std::uint64_t last = 0;
	bool first_in_part = false;
	bool last_in_part = false;

	[[nodiscard]] bool has(std::uint64_t block) const noexcept { return block >= first && block <= last; }
};

/**
 * Orders writes. A write that changes a part of a block reads the block and writes it back; a write in between would be
 * undone. So writes of parts wait for each other, in the order in which they arrive. Writes of whole blocks wait only
 * for writes of parts, as the volume itself orders whole blocks.
 */
class WriteOrder
{
public:
	/** The right to write an extent, until it is destroyed. */
	class Turn
	{
	public:
		/** Waits for its turn. */
		Turn(WriteOrder &order, const Extent &extent);
		~Turn();
		Turn(const Turn &) = delete;
		Turn &operator=(const Turn &) = delete;

	private:
		WriteOrder &order_;
		std::list<Extent>::iterator mine_;
	};

private:
	[[nodiscard]] bool first_of_its_blocks(std::list<Extent>::const_iterator extent) const noexcept;

	std::mutex lock_;
	std::condition_variable ended_;
	std::list<Extent> extents_; /* under way or waiting, in the order of their coming */
};

} // namespace prism::rs
