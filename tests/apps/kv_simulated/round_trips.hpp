/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <vector>

namespace kv_sim
{

/**
 * Reports the virtual times of GET and PUT, beside a GET by two READs, if one way through the network takes each of
 * @p delays microseconds: the shape of the paper's figure 2. Computing takes no time here. Returns 0; 1 if PRISM's
 * operations take more than one round trip, or the two READs not twice that.
 */
int report_round_trips(const std::vector<double> &delays);

} // namespace kv_sim
