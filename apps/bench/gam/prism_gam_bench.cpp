/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-gam-bench: measures the global memory of several nodes.
 * Exit codes: 0; 1 if the run was impossible, or an operation failed; 2 for an error of usage.
 */
#include <cstdio>
#include <variant>

#include "base/command_line.hpp"

#include "bench/frame/latency_report.hpp"
#include "bench/gam/in_process.hpp"
#include "bench/gam/parameters.hpp"
#include "bench/gam/processes.hpp"
#include "bench/gam/report.hpp"
#include "bench/gam/simulated.hpp"

namespace
{

using namespace prism;
using namespace prism::gam::micro;

Result<RunResult> run(const Parameters &parameters)
{
	const ClusterOptions &cluster = parameters.run.cluster;
	if (cluster.simulated)
		return run_simulated(parameters.run, parameters.hardware);
	if (cluster.in_process)
		return run_in_process(parameters.run);
	return cluster.master.empty() ? run_processes(parameters.run) : run_joined(parameters.run);
}

int measure(const Parameters &parameters)
{
	const Result<RunResult> result = run(parameters);
	return bench::report(parameters, result, result && result->clean());
}

} // namespace

int main(int argc, char **argv)
{
	cli::outlive_outputs();
	auto parsed = parse_parameters(argc, argv);
	if (const auto *early = std::get_if<cli::EarlyExit>(&parsed))
		return early->print();
	return cli::run_program([&] { return measure(std::get<Parameters>(parsed)); });
}
