/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <vector>

namespace kv_sim
{

/**
 * What GET and PUT take in virtual time, beside a GET by two READs, one way through the network taking each of
 * @p delays microseconds: the shape of the paper's figure 2. Computing takes no time here. 0; 1 if PRISM's operations
 * take more than one round trip, or the two READs not twice that.
 */
int report_round_trips(const std::vector<double> &delays);

} // namespace kv_sim
