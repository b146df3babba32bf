/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>
#include <vector>

#include "stat/rates.hpp"
#include "stat/source.hpp"

namespace prism::stat
{

/** Returns the titles of row(), one line. */
[[nodiscard]] std::string titles();
/** Returns the rates of a source that most users want, one line. */
[[nodiscard]] std::string row(const Interval &interval);
/** Returns every counter of a source that has changed, with its rate. */
[[nodiscard]] std::string moving(const Interval &interval);
/** Returns a source and its counters since they began; those that are 0 only if @p zeros. */
[[nodiscard]] std::string totals(const Source &source, bool zeros);

/** Returns one JSON object without line ends: the snapshot and, with @p intervals, one for each of its sources, the
 * rates. */
[[nodiscard]] std::string json(const Snapshot &snapshot, const std::vector<Interval> &intervals);

} // namespace prism::stat
