/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The workload driver: loads the records, warms up, measures. */
#pragma once

#include <prism/result.hpp>

#include "kv/driver/options.hpp"
#include "kv/driver/outcome.hpp"

namespace prism::kv
{

/**
 * Runs a workload with the threads of this process. Blocks until all is done; if the store stops answering, until
 * RunOptions::drain has passed without an answer.
 * @return what was measured, operations that failed included; an error if a client could not be connected, a record not
 *         be stored, or the options make no sense (EINVAL; among them processes other than 1).
 */
[[nodiscard]] Result<RunResult> run(const RunOptions &options, const ClientFactory &factory);

/**
 * The same with RunOptions::processes child processes, which begin together; with 1, in this process.
 * The calling process must have no other thread, and nothing open that does not survive a fork.
 * @param open called in each process.
 */
[[nodiscard]] Result<RunResult> run_processes(const RunOptions &options, const FactoryOpener &open);

} // namespace prism::kv
