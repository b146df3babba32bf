/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Stands between the real code and the queue pairs, for controls: changes requests as a flaw says. */
#pragma once

#include <cstdint>
#include <vector>

#include "flaw.hpp"
#include "simulation/pair.hpp"

namespace tx_sim
{

/** A READ of a cell that was posted. */
struct CellRead {
	std::uint64_t wr_id = 0;
	std::uint64_t remote = 0;
	std::uint64_t local = 0;
};

/** Whatever @p pair posts from now on goes wrong as @p flaw says. All pairs of a thread have the same flaw. */
void spoil(simulation::Pair &pair, Flaw flaw);

/** What this thread has posted since the last call. */
std::vector<CellRead> take_cell_reads();

} // namespace tx_sim
