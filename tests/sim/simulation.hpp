/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Clients and a server over a bad network, in virtual time. Each client runs every operation and checks the results;
 * the server's memory shows if an operation was executed twice, not at all, or by halves.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "network.hpp"

namespace prism::test
{

/** Ways to break the protocol on purpose, which the checks must find. */
enum class Sabotage : std::uint8_t {
	none,
	execute_again, /* the responder executes duplicates of atomics, CASes and ALLOCATEs as if they were new */
	splice,        /* all resolutions of a READ look alike */
	forget,        /* now and then the responder treats a SEND as executed that it has not seen */
	replay_wrong,  /* replayed results are not those of the execution */
};

struct SimulationOptions {
	Faults faults;
	Sabotage sabotage = Sabotage::none;
	unsigned qps = 4;
	unsigned operations = 60;      /* for each QP */
	double long_reads = 0;         /* percent of the operations: READs of up to 1 MiB, which the responder paces */
	bool long_prism_reads = false; /* of both kinds */
	bool bundles = true;           /* on most connections; never with sabotage, which looks at single packets */
};

struct SimulationResult {
	std::string finding; /* empty: all is well */
	std::uint64_t operations = 0;
	std::uint64_t packets = 0;
	std::uint64_t retransmits = 0;
	std::uint64_t replays = 0;
	std::uint64_t bundled = 0; /* packets that were entries */
	soft::Time time = 0;
};

SimulationResult simulate(std::uint64_t seed, const SimulationOptions &options);

} // namespace prism::test
