/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Layer between the real code and the queue pairs, for controls: changes requests according to a flaw. */
#pragma once

#include <cstdint>
#include <vector>

#include "flaw.hpp"
#include "simulation/pair.hpp"

namespace tx_sim
{

/** READ of a cell that was posted. */
struct CellRead {
	std::uint64_t wr_id = 0;
	std::uint64_t remote = 0;
	std::uint64_t local = 0;
};

/** Spoils all requests of @p pair from now on according to @p flaw. All pairs of a thread have the same flaw. */
void spoil(simulation::Pair &pair, Flaw flaw);

/** Returns the READs that this thread has posted since the last call. */
std::vector<CellRead> take_cell_reads();

} // namespace tx_sim
