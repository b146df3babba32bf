/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-ycsb: measures a key-value store, or a replicated volume, under YCSB's workloads.
 * Exit codes: 0; 1 if the run was impossible or something was not done or wrong; 2 for an error of usage.
 */
#include <csignal>
#include <cstdio>
#include <variant>

#include <fmt/format.h>

#include "kv/driver/parameters.hpp"
#include "kv/driver/rdma_systems.hpp"
#include "kv/driver/report.hpp"
#include "kv/driver/run.hpp"
#include "kv/driver/systems.hpp"
#include "kv/foreign/systems.hpp"
#include "rs/driver/volume_systems.hpp"

namespace
{

using namespace prism;

int fail(const Error &error)
{
	fmt::print(stderr, "prism-ycsb: {}\n", error.message);
	return 1;
}

int measure(const kv::System &system, const kv::Parameters &parameters)
{
	const Result<kv::RunResult> result =
		kv::run_processes(parameters.run, [&] { return system.open(parameters.connection); });
	if (!result)
		return fail(result.error());
	kv::print_report(stdout, parameters, *result);
	const Result<void> written = kv::write_report(parameters, *result);
	if (!written)
		return fail(written.error());
	return result->clean(parameters.run.verify) ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
	std::signal(SIGPIPE, SIG_IGN); /* a server that went away is an outcome of its operations */
	kv::Systems systems;
	kv::add_rdma_systems(systems);
	rs::add_volume_systems(systems);
	kv::add_foreign_systems(systems);
	auto parsed = kv::parse_parameters(systems, argc, argv);
	if (const auto *early = std::get_if<cli::EarlyExit>(&parsed))
		return early->print();
	auto &parameters = std::get<kv::Parameters>(parsed);
	parameters.run.progress = stderr;
	return measure(*systems.find(parameters.system), parameters);
}
