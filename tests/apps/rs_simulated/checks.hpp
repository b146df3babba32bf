/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What must hold at the end of a run, when all clients have gone and scans have found what these lost. */
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

/** What a run has left. */
struct Remains {
	std::vector<Replica *> replicas; /* that are there */
	unsigned failures = 0;           /* that the volume stands */
	std::uint64_t blocks = 0;
	std::uint32_t users = 0;
	simulation::History &history;
	prism::test::Random &random;
	std::function<void(const std::string &)> find; /* is told what is wrong */
};

/** Empties the replicas' lists. */
void check(const Remains &remains);

} // namespace rs_sim
