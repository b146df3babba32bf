/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks at the end of a run, when all clients have gone and scans have recovered the buffers that these lost. */
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "random.hpp"
#include "replica.hpp"
#include "simulation/history.hpp"

namespace rs_sim
{

/** Remains of a run. */
struct Remains {
	std::vector<Replica *> replicas; /* those that are up */
	unsigned failures = 0;           /* that the volume tolerates */
	std::uint64_t blocks = 0;
	std::uint32_t users = 0;
	simulation::History &history;
	prism::test::Random &random;
	std::function<void(const std::string &)> find; /* called with each error */
};

/** Checks all that must hold. Empties the replicas' lists. */
void check(const Remains &remains);

} // namespace rs_sim
