/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The driver in several processes. */
#include "bench/ycsb/run.hpp"

#include "bench/frame/processes.hpp"

namespace prism::ycsb
{

Result<RunResult> run_processes(const RunOptions &options, const FactoryOpener &open)
{
	Result<void> checked = check(options);
	if (!checked)
		return checked.error();
	if (options.processes > 1) {
		Result<bench::SharedRunState> run_state = bench::make_run_state(options.workers(), options.records);
		if (!run_state)
			return run_state.error();
		bench::ProgressBar bar(options.progress);
		RunOptions silent = options;
		silent.progress = nullptr;
		return bench::run_processes<RunResult>(
			options.processes,
			[&](unsigned process) -> Result<RunResult> {
				Result<ClientFactory> factory = open();
				if (!factory)
					return factory.error();
				return run_process(silent, **run_state, process, *factory);
			},
			[&] { (*run_state)->give_up(); },
			[&] { bench::show_progress(options, **run_state, options.records, bar); });
	}
	Result<ClientFactory> factory = open();
	if (!factory)
		return factory.error();
	return run(options, *factory);
}

} // namespace prism::ycsb
