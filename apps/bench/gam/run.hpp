/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include "bench/gam/options.hpp"
#include "bench/gam/outcome.hpp"
#include "bench/gam/place.hpp"

namespace prism::gam::micro
{

/**
 * What one node does: allocates its part of the working sets, and runs its threads, together with the other nodes.
 * Errors: ENOMEM and others of malloc(); those of Place.
 */
[[nodiscard]] Result<RunResult> run_workload(Place &place, const RunOptions &options);

/** The same for a single case. */
[[nodiscard]] Result<RunResult> run_case(Place &place, const RunOptions &options);

/** What the options ask for. */
[[nodiscard]] inline Result<RunResult> run_node(Place &place, const RunOptions &options)
{
	return options.single == Case::none ? run_workload(place, options) : run_case(place, options);
}

} // namespace prism::gam::micro
