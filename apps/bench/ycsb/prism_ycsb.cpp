/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-ycsb: measures a key-value store, or a replicated volume, under YCSB's workloads.
 * Exit codes: 0; 1 if the run was impossible or something was not done or wrong; 2 for an error of usage.
 */
#include <cstdio>
#include <memory>
#include <variant>

#include "base/command_line.hpp"

#include "bench/frame/latency_report.hpp"
#include "bench/ycsb/foreign/systems.hpp"
#include "bench/ycsb/gam_systems.hpp"
#include "bench/ycsb/kv_systems.hpp"
#include "bench/ycsb/parameters.hpp"
#include "bench/ycsb/report.hpp"
#include "bench/ycsb/run.hpp"
#include "bench/ycsb/systems.hpp"
#include "bench/ycsb/volume_systems.hpp"
#include "service/metered_client.hpp"

namespace
{

using namespace prism;

/** Returns a factory whose clients are counted in @p metrics. */
ycsb::ClientFactory metered(const ycsb::ClientFactory &factory, apps::ClientMetrics &metrics)
{
	return [factory, &metrics](unsigned number) -> Result<std::unique_ptr<apps::StoreClient>> {
		Result<std::unique_ptr<apps::StoreClient>> client = factory(number);
		if (!client)
			return client;
		return metrics.metered(*std::move(client));
	};
}

Result<ycsb::RunResult> run(const ycsb::System &system, const ycsb::Parameters &parameters)
{
	const auto open = [&] { return system.open(parameters.connection); };
	if (parameters.metrics.empty())
		return ycsb::run_processes(parameters.run, open);
	apps::ClientMetrics metrics;
	Result<std::unique_ptr<apps::MetricsEndpoint>> endpoint = apps::MetricsEndpoint::create(parameters.metrics);
	if (!endpoint)
		return endpoint.error();
	(*endpoint)->add([&metrics](auto &into) { metrics.collect(into); }, {{"store", system.name}});
	return ycsb::run_processes(parameters.run, [&]() -> Result<ycsb::ClientFactory> {
		Result<ycsb::ClientFactory> factory = open();
		return factory ? metered(*factory, metrics) : factory;
	});
}

int measure(const ycsb::System &system, const ycsb::Parameters &parameters)
{
	const Result<ycsb::RunResult> result = run(system, parameters);
	return bench::report(parameters, result, result && result->clean(parameters.run.verify));
}

} // namespace

int main(int argc, char **argv)
{
	cli::outlive_outputs(); /* a server that went away is an outcome of its operations */
	ycsb::Systems systems;
	ycsb::add_kv_systems(systems);
	ycsb::add_volume_systems(systems);
	ycsb::add_gam_systems(systems);
	ycsb::add_foreign_systems(systems);
	auto parsed = ycsb::parse_parameters(systems, argc, argv);
	if (const auto *early = std::get_if<cli::EarlyExit>(&parsed))
		return early->print();
	auto &parameters = std::get<ycsb::Parameters>(parsed);
	parameters.run.progress = stderr;
	return cli::run_program([&] { return measure(*systems.find(parameters.system), parameters); });
}
