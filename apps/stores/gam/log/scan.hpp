/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gam/log/entry.hpp"

namespace prism::gam
{

/** Entries that have been in the log and cannot be read: which ones is not known, only how many. */
struct Missing {
	std::uint64_t segment = 0; /**< the number of the segment, */
	std::uint64_t offset = 0;  /**< and where in it they should begin */
	std::uint64_t first = 0;   /**< sequence of the first */
	std::uint64_t until = 0;   /**< and of the one behind the last; 0: nobody knows */
	bool failed = false;       /**< the log could not be written any more: nothing has been allocated since */

	friend bool operator==(const Missing &, const Missing &) noexcept = default;
};

struct Scanned {
	std::size_t end = 0;    /**< where the last entry that is good ends */
	std::uint64_t next = 0; /**< the sequence behind that of the last entry, good or missing */
	std::vector<Missing> missing;
};

using VisitEntry = std::function<void(const Entry &)>;

/**
 * Reads the entries of a segment, the whole of which is @p file, its head @p head; calls @p visit, which may be empty,
 * with each that is good, in order. What cannot be read up to the sequence @p trusted is missing: it was there. What
 * cannot be read behind that was never complete: the scan ends there.
 */
Scanned scan(
	std::span<const std::byte> file, const SegmentHead &head, std::uint64_t trusted, const VisitEntry &visit = {});

} // namespace prism::gam
