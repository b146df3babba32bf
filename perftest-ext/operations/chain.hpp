/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "operations/contestant.hpp"

namespace prism::perftest
{

/** A chain in one round trip, one CAS for scale, and the same update by standard verbs. */
void add_chain_contestants(Client &client, Reclaim &reclaim, Contestants &list);

} // namespace prism::perftest
