/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The workers of one process. */
#pragma once

#include "common/measure.hpp"
#include "kv/driver/crew.hpp"
#include "kv/driver/options.hpp"
#include "kv/driver/outcome.hpp"

namespace prism::kv
{

/**
 * Runs the threads of process number @p process and merges what they measured. If one fails, the crew gives up.
 * @return the first error that has a cause of its own, if one failed.
 */
[[nodiscard]] Result<RunResult> run_team(
	const RunOptions &options, Crew &crew, unsigned process, const ClientFactory &factory, std::FILE *progress);

/** Shows how far the crew has come. */
void show_progress(const RunOptions &options, const Crew &crew, apps::ProgressBar &bar);

/** Merges the results of threads or processes. An error that only followed from another one is the last choice. */
class Merger
{
public:
	void add(Result<RunResult> part);

	[[nodiscard]] Result<RunResult> take();

private:
	RunResult sum;
	Result<void> state;
};

} // namespace prism::kv
