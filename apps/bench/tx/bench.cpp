/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/tx/bench.hpp"

#include <cstdio>

#include "base/command_line.hpp"

#include "bench/frame/latency_report.hpp"
#include "bench/tx/report.hpp"

namespace prism::tx
{

namespace
{

int measure(const System &system, const Parameters &parameters)
{
	const Result<ClientFactory> factory = system.open(parameters.connection);
	const Result<RunResult> result =
		factory ? run(parameters.run, *parameters.workload, *factory) : factory.error();
	return bench::report(parameters, result, result && result->clean());
}

} // namespace

int bench(const Systems &systems, int argc, const char *const *argv)
{
	cli::outlive_outputs(); /* a server that went away is an outcome of its transactions */
	auto parsed = parse_parameters(systems, argc, argv);
	if (const auto *early = std::get_if<cli::EarlyExit>(&parsed))
		return early->print();
	auto &parameters = std::get<Parameters>(parsed);
	parameters.run.progress = stderr;
	return cli::run_program([&] { return measure(*systems.find(parameters.system), parameters); });
}

} // namespace prism::tx
