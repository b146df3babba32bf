/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

namespace prism::rs
{

/** The blocks that a write touches. It may change only a part of the first and of the last one. */
struct Extent {
	std::uint64_t first = 0;
	std::uint64_t last = 0;
	bool first_in_part = false;
	bool last_in_part = false;

	[[nodiscard]] bool has(std::uint64_t block) const noexcept { return block >= first && block <= last; }
};

/**
 * Orders writes. A write that changes a part of a block reads the block and writes it back; that would undo a write in
 * between. So writes of parts wait for each other, in the order of their arrival. Writes of whole blocks wait only for
 * writes of parts, as the volume itself orders whole blocks.
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
	std::list<Extent> extents_; /* under way or waiting, in the order of arrival */
};

} // namespace prism::rs
