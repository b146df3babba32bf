/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include "bench/gam/options.hpp"
#include "bench/gam/outcome.hpp"
#include "bench/gam/place.hpp"

namespace prism::gam::micro
{

/**
 * Runs the workload on one node: allocates its part of the working sets, and runs its threads, together with the other
 * nodes. Errors: ENOMEM and others of malloc(); those of Place.
 */
[[nodiscard]] Result<RunResult> run_workload(Place &place, const RunOptions &options);

/** Runs a single case likewise. */
[[nodiscard]] Result<RunResult> run_case(Place &place, const RunOptions &options);

/** Runs the workload or the case, as the options say. */
[[nodiscard]] inline Result<RunResult> run_node(Place &place, const RunOptions &options)
{
	return options.single == Case::none ? run_workload(place, options) : run_case(place, options);
}

} // namespace prism::gam::micro
