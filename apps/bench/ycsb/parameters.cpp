/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/parameters.hpp"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "bench/frame/yield_option.hpp"
#include "service/metrics.hpp"

namespace prism::ycsb
{

namespace
{

constexpr const char *program = "prism-ycsb";

/* Options that are evaluated only after the whole line was read. */
struct Given {
	std::string mix = "C";
	std::optional<double> read_ratio; /* percent */
	std::optional<bench::Distribution> distribution;
	std::optional<std::uint16_t> port;
	bench::YieldOption yield;
	bool no_load = false;
};

std::string description(const Systems &systems)
{
	return "Runs YCSB core workloads against a key-value store and measures latency and throughput.\nSystems:\n" +
	       systems.list([](const System &system) {
		       const std::string where =
			       system.is_volume ? "--configuration" : fmt::format("port {}", system.default_port);
		       return fmt::format("{} ({})", system.description, where);
	       });
}

void add_store_options(cli::CommandLine &app, const Systems &systems, Parameters &parameters, Given &given)
{
	app.add_option("--system", parameters.system, "The store to measure")
		.required()
		.check(cli::IsMember(systems.names()));
	app.add_option("host", parameters.connection.host, "Where the server is; redis, memcached: also unix:PATH")
		.capture_default_str();
	app.add_option("-p,--port", given.port, "TCP port of the server (default: the system's)")
		.check(cli::Range(1, 65535));
	app.add_option("-c,--configuration", parameters.connection.configuration,
		"Of a replicated volume, in place of host and port: a file, or etcd://HOST:PORT/KEY");
	app.add_option("-d,--ib-dev", parameters.connection.device,
		"RDMA device (default: the one that has the address of the TCP connection)");
	parameters.connection.gam.add_to(app);
	app.add_option("--timeout", parameters.connection.timeout, "Seconds that connecting may take")
		.check(cli::PositiveNumber())
		.check(cli::Seconds())
		.capture_default_str();
}

void add_workload_options(cli::CommandLine &app, Parameters &parameters, Given &given)
{
	RunOptions &run = parameters.run;
	const cli::Option mix =
		app.add_option("--mix", given.mix,
			   "A: half reads, half updates; B: 95% reads; C: reads; D: 95% reads of the latest, 5% "
			   "inserts; "
			   "F: half reads, half read-modify-writes; P: 5% reads, 95% updates; W: updates (default C)")
			.check(cli::IsMember({"A", "B", "C", "D", "F", "P", "W"}, cli::ignore_case));
	app.add_option("--read-ratio", given.read_ratio, "Percent of reads, the rest updates, instead")
		.check(cli::Range(0.0, 100.0))
		.excludes(mix);
	app.add_choice<bench::Distribution>("--distribution", given.distribution,
		{{"uniform", bench::Distribution::uniform}, {"zipfian", bench::Distribution::zipfian},
			{"latest", bench::Distribution::latest}},
		"Which records are popular (default: YCSB's for the mix)");
	app.add_option("--theta", run.theta, "Exponent of the Zipf distributions").capture_default_str();
	app.add_option("--records", run.records, "Records that are loaded").capture_default_str();
	app.add_option("--key-size", run.key_size, "Bytes a key").capture_default_str();
	app.add_option("-s,--size", run.value_size, "Bytes a value")
		.check(cli::Range(1, 1 << 20))
		.capture_default_str();
	app.add_option("--seed", run.seed, "The same seed, the same requests").capture_default_str();
	app.add_flag("--no-load", given.no_load, "The records are there already");
	app.add_flag("--verify", run.verify, "Check every value that is read");
}

void add_client_options(cli::CommandLine &app, RunOptions &run, Given &given)
{
	app.add_option("--processes", run.processes, "Processes of the driver").capture_default_str();
	app.add_option("--threads", run.threads, "Threads of each process").capture_default_str();
	app.add_option("--clients", run.clients, "Clients of each thread, one connection each").capture_default_str();
	app.add_option("-t,--tx-depth", run.depth, "Requests that each client has under way").capture_default_str();
	given.yield.add_to(app);
}

void add_amount_options(cli::CommandLine &app, RunOptions &run)
{
	bench::add_length_options(app, run, "requests");
	app.add_option("--rate", run.rate,
		"Requests a second of all clients together, latencies counted from when they are due (default: each "
		"client sends one when another ended)");
	app.add_choice<bench::Arrivals>("--arrivals", run.arrivals,
		{{"even", bench::Arrivals::even}, {"poisson", bench::Arrivals::poisson}}, "With --rate (default even)");
}

/** Returns the error of the options for the system; empty: it has all that it needs, and none that it would ignore. */
std::string wrong_place(const cli::CommandLine &app, const System &system)
{
	const std::string_view of_gam = gam::DriverOptions::given(app);
	if (!system.is_gam && !of_gam.empty())
		return fmt::format("{} has no {}", system.name, of_gam);
	const bool configuration = app.count("--configuration") > 0;
	if (!system.is_volume)
		return configuration ? system.name + " has a host and a port, no --configuration" : "";
	if (!configuration)
		return system.name + " is a volume: its --configuration must be given";
	if (app.count("host") || app.count("--port"))
		return system.name + " is a volume: its --configuration says where its replicas are, not host and port";
	return "";
}

void apply(const System &system, const Given &given, Parameters &parameters)
{
	RunOptions &run = parameters.run;
	run.mix = given.read_ratio ? bench::mix_of_reads(*given.read_ratio / 100)
				   : bench::find_mix(given.mix.front()).value();
	run.distribution = given.distribution.value_or(run.mix.distribution);
	run.load = !given.no_load;
	if (run.duration <= 0 && run.requests == 0)
		run.duration = bench::default_duration;
	run.yield = given.yield.wanted(run.workers());
	run.numbered_keys = system.is_volume;
	parameters.connection.port = given.port.value_or(system.default_port);
	parameters.connection.records = run.records;
	parameters.connection.loads = run.load;
	parameters.connection.depth = run.depth;
	parameters.connection.key_size = run.key_size;
	parameters.connection.value_size = run.value_size;
}

} // namespace

std::variant<Parameters, EarlyExit> parse_parameters(const Systems &systems, int argc, const char *const *argv)
{
	Parameters parameters;
	Given given;
	cli::CommandLine app(description(systems), program);
	add_store_options(app, systems, parameters, given);
	add_workload_options(app, parameters, given);
	add_client_options(app, parameters.run, given);
	add_amount_options(app, parameters.run);
	app.add_option("--json,--out_json_file", parameters.json_file, "Write a report to this file");
	app.add_option("--metrics", parameters.metrics,
		   "Serve metrics of the clients for Prometheus at this address, HOST:PORT or PORT; not with "
		   "--processes")
		.check(apps::check_metrics_address);
	app.add_help_and_version(program);
	if (std::optional<EarlyExit> early = app.parse(program, argc, argv))
		return *std::move(early);
	const System &system = *systems.find(parameters.system);
	if (const std::string wrong = wrong_place(app, system); !wrong.empty())
		return cli::usage_error(program, wrong);
	if (!parameters.metrics.empty() && parameters.run.processes > 1)
		return cli::usage_error(
			program, "--metrics are those of one process: use --threads in place of --processes");
	apply(system, given, parameters);
	const Result<void> checked = check(parameters.run);
	if (!checked)
		return cli::usage_error(program, checked.error().message);
	return parameters;
}

} // namespace prism::ycsb
