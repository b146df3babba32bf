/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gam/membership/log_entry.hpp"

namespace prism::gam
{

/** A gap: entries that were in the log and cannot be read. Only their number is known. */
struct Missing {
	std::uint64_t segment = 0; /**< number of the segment */
	std::uint64_t offset = 0;  /**< offset in it where they should begin */
	std::uint64_t first = 0;   /**< sequence of the first */
	std::uint64_t until = 0;   /**< sequence after the last; 0: unknown */
	bool failed = false;       /**< the log could not be written any more: nothing was allocated since */

	friend bool operator==(const Missing &, const Missing &) noexcept = default;
};

struct Scanned {
	std::size_t end = 0;    /**< end of the last good entry */
	std::uint64_t next = 0; /**< the sequence after that of the last entry, good or missing */
	std::vector<Missing> missing;
};

using VisitEntry = std::function<void(const Entry &)>;

/**
 * Reads the entries of a segment, the whole of which is @p file, its head @p head; calls @p visit, unless empty, with
 * each good one, in order. Unreadable entries up to the sequence @p trusted are missing: they existed. Unreadable ones
 * after that were never complete: the scan ends there.
 */
Scanned scan(
	std::span<const std::byte> file, const SegmentHead &head, std::uint64_t trusted, const VisitEntry &visit = {});

} // namespace prism::gam
