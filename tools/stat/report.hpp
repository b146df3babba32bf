/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>
#include <vector>

#include "stat/rates.hpp"
#include "stat/source.hpp"

namespace prism::stat
{

/** The titles of row(), one line. */
[[nodiscard]] std::string titles();
/** The rates of a source that most users want, one line. */
[[nodiscard]] std::string row(const Interval &interval);
/** Every counter of a source that moved, with its rate. */
[[nodiscard]] std::string moving(const Interval &interval);
/** A source and its counters since they began, those that are 0 only if @p zeros. */
[[nodiscard]] std::string totals(const Source &source, bool zeros);

/** One JSON object without line ends: the snapshot and, with @p intervals, one for each of its sources, the rates. */
[[nodiscard]] std::string json(const Snapshot &snapshot, const std::vector<Interval> &intervals);

} // namespace prism::stat
