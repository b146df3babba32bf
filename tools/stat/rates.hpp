/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "stat/source.hpp"

namespace prism::stat
{

/** Returns the same source in an earlier snapshot; null if it was not there. */
[[nodiscard]] const Source *find_again(const Snapshot &earlier, const Source &source);

/** Counts of a source between two snapshots. */
class Interval
{
public:
	/**
	 * @param before the same source earlier; null: it is new and has counted from 0.
	 * @param seconds between the two, more than 0. Keeps references to both sources.
	 */
	Interval(const Source &now, const Source *before, double seconds);

	[[nodiscard]] const Source &source() const { return now_; }
	/** Returns the rate of a counter per second. */
	[[nodiscard]] double rate(std::string_view name) const;
	/** Returns the packets and requests dropped, refused or lost per second: the sum of all counters of these. */
	[[nodiscard]] double trouble() const;
	/** Returns the rates of all counters but gauges, in their order. */
	[[nodiscard]] std::vector<std::pair<std::string_view, double>> rates() const;

private:
	[[nodiscard]] double rate(const Count &count) const;

	const Source &now_;
	const Source *before_;
	double seconds_;
};

} // namespace prism::stat
