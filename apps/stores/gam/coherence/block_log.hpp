/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface by which Coherence reports to the log of its node (docs/gam-recovery.md). The ownership of a block is
 * divided into terms, which its home numbers: the counter rises with each change of the owner, the home's own terms
 * included. A term ends when the owner gives the block's value away: to the home, to the next owner or to a reader.
 */
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gam/coherence/address.hpp"

namespace prism::gam
{

/** Returns true for an error of a log: what was asked for is done, but not in the log. */
constexpr bool is_of_log(int error) noexcept
{
	return error == ENOSPC || error == EIO || error == EROFS;
}

/** Returns which of the errors of two operations, of which the second came later, tells more: one of what is not done,
 * else the first. */
constexpr int graver(int first, int second) noexcept
{
	return second && (!first || (is_of_log(first) && !is_of_log(second))) ? second : first;
}

/** The log of a node. Any thread may call it. No call waits for a disk. */
class BlockLog
{
public:
	using Block = std::span<const std::byte, block_size>;

	virtual ~BlockLog() = default;

	/**
	 * Records that this node owns @p block in term @p counter, with value @p data.
	 *
	 * An owner other than the home calls this before its term ends, even if it has written nothing, so that
	 * recovery needs the last two terms alone. The home calls it before a value that it has written itself leaves
	 * it. If the log is durable(), both call it for every write and atomic before the access ends.
	 *
	 * @return 0, or ENOSPC or EIO (not logged, and neither is anything later), then EROFS from that time on. An
	 * access that had to be durable ends with this error. A value that had to leave does leave.
	 */
	virtual int wrote(Address block, std::uint64_t counter, Block data) noexcept = 0;
	/**
	 * Records that this node, the home of @p block, is about to make another node, @p owner, its owner in term @p
	 * counter. @p owner_logs: that node keeps a log. Called before any message of the transfer leaves. Errors as
	 * for wrote(); the transfer happens in any case.
	 */
	virtual int transfers(Address block, std::uint64_t counter, NodeId owner, bool owner_logs) noexcept = 0;

	/**
	 * Records the objects of @p bytes that begin in @p block, of which this node is the home: a bit of @p objects
	 * for each, the first one for an object of whole blocks; 0: none any more. Called before any node is told.
	 * Errors as for wrote().
	 */
	virtual int allocated(Address block, std::uint64_t bytes, std::uint32_t objects) noexcept = 0;

	/**
	 * Returns true if an access that waits for its writes (mfence, unlock, atomic) promises that they are in the
	 * log.
	 */
	[[nodiscard]] virtual bool durable() const noexcept = 0;

	/** Returns true if nothing is logged any more, as an append or a commit has failed. */
	[[nodiscard]] virtual bool has_failed() const noexcept { return false; }
	/** Returns the position behind all records so far. */
	[[nodiscard]] virtual std::uint64_t position() const noexcept { return 0; }
	/**
	 * Returns true if all records up to @p position are on the disk, or never will be (@p error says why). False:
	 * they will be soon.
	 */
	[[nodiscard]] virtual bool is_settled(std::uint64_t /*position*/, int & /*error*/) noexcept { return true; }
};

} // namespace prism::gam
