/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What an object of class Coherence tells the log of its node (docs/gam-recovery.md). The ownership of a block has
 * terms, which its home numbers: the counter rises with each change of the owner, the home's own terms included. A term
 * ends when the owner gives the block's value away: to the home, to the next owner or to a reader.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

/** Any thread. Nothing in it waits for a disk. */
class BlockLog
{
public:
	using Block = std::span<const std::byte, block_size>;

	virtual ~BlockLog() = default;

	/**
	 * This node is the owner of @p block in the term @p counter, and @p data is its value.
	 *
	 * An owner that is not the home says so before its term ends, even if it has written nothing: recovery then
	 * needs the last two terms alone. The home says so before a value that it has written itself leaves it. If the
	 * log is durable(), each says so of every write and atomic before the access ends.
	 *
	 * @return 0, or ENOSPC, EIO (it is not in the log, and nothing will be any more) and from then on EROFS: an
	 * access that had to be durable ends with this error. What had to leave does leave.
	 */
	virtual int wrote(Address block, std::uint64_t counter, Block data) noexcept = 0;
	/**
	 * This node, the home of @p block, is about to make @p owner, another node, its owner, in the term @p counter.
	 * Said before any message of it leaves. Errors as above; what had to happen does happen.
	 */
	virtual int transfers(Address block, std::uint64_t counter, NodeId owner) noexcept = 0;

	/**
	 * This node, the home of @p at, has allocated @p bytes there; 0: has freed what was there. Said before anybody
	 * is told. Errors as above.
	 */
	virtual int allocated(Address at, std::uint64_t bytes) noexcept = 0;

	/** Whether an access that waits for its writes (mfence, unlock, atomic) promises that they are in the log. */
	[[nodiscard]] virtual bool durable() const noexcept = 0;

	/** Where the log is: all that was said until now. */
	[[nodiscard]] virtual std::uint64_t position() const noexcept { return 0; }
	/** Whether all up to @p position is on the disk, or will never be (@p error: why); else it is soon. */
	[[nodiscard]] virtual bool is_settled(std::uint64_t /*position*/, int & /*error*/) noexcept { return true; }
};

} // namespace prism::gam
