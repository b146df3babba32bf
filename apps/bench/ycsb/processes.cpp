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
		return bench::run_processes<RunResult>(
			options.processes,
			[&](unsigned process) -> Result<RunResult> {
				Result<ClientFactory> factory = open();
				if (!factory)
					return factory.error();
				return run_process(options, **run_state, process, *factory, nullptr);
			},
			[&] { (*run_state)->give_up(); }, [&] { show_progress(options, **run_state, bar); });
	}
	Result<ClientFactory> factory = open();
	if (!factory)
		return factory.error();
	return run(options, *factory);
}

} // namespace prism::ycsb
