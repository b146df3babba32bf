/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The workload driver: loads the records, warms up, measures. */
#pragma once

#include <prism/result.hpp>

#include "bench/frame/run_state.hpp"
#include "bench/ycsb/options.hpp"
#include "bench/ycsb/outcome.hpp"

namespace prism::ycsb
{

/**
 * Runs a workload with the threads of this process. Blocks until all is done; if the store stops answering, until
 * RunOptions::drain has passed without an answer.
 * @return the measurements, failed operations included; an error if a client could not be connected, a record not be
 * stored, or the options make no sense (EINVAL; among them processes other than 1).
 */
[[nodiscard]] Result<RunResult> run(const RunOptions &options, const ClientFactory &factory);

/**
 * Runs it with RunOptions::processes child processes, which begin together; with 1, in this process. The calling
 * process must have no other thread, and nothing open that does not survive a fork.
 * @param open called in each process.
 */
[[nodiscard]] Result<RunResult> run_processes(const RunOptions &options, const FactoryOpener &open);

/**
 * Runs one process of a run: its threads, whose measurements are merged. If one fails, @p run_state gives up.
 * @param process its number.
 * @return the first error that has a cause of its own, if one failed.
 */
[[nodiscard]] Result<RunResult> run_process(
	const RunOptions &options, bench::RunState &run_state, unsigned process, const ClientFactory &factory);

} // namespace prism::ycsb
