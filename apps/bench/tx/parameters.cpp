/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/tx/parameters.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/frame/yield_option.hpp"

namespace prism::tx
{

namespace
{

constexpr const char *program = "prism-tx-bench";
constexpr double hot_part = 0.04; /* share of the accounts, unless the number of hot ones is given */

constexpr std::string_view ycsb_t = "ycsb-t";
constexpr std::string_view smallbank = "smallbank";
constexpr std::string_view tpcc = "tpcc";

/** Options that only some workloads have. */
struct Special {
	std::string_view option;
	std::array<std::string_view, 2> workloads;
};
constexpr std::array specials{
	Special{"--records", {ycsb_t, smallbank}},
	Special{"--numbered", {ycsb_t, smallbank}},
	Special{"--size", {ycsb_t}},
	Special{"--theta", {ycsb_t}},
	Special{"--keys", {ycsb_t}},
	Special{"--read-only", {ycsb_t}},
	Special{"--hot-share", {smallbank}},
	Special{"--hot-records", {smallbank}},
	Special{"--warehouses", {tpcc}},
	Special{"--items", {tpcc}},
	Special{"--customers", {tpcc}},
	Special{"--remote-items", {tpcc}},
	Special{"--remote-payments", {tpcc}},
};

/* Options that can be interpreted only after the whole line has been read. */
struct Given {
	std::string shards = "127.0.0.1";
	std::string workload{ycsb_t};
	std::optional<std::uint64_t> records;
	std::optional<std::uint64_t> hot_records;
	bool numbered = false;
	bench::YieldOption yield;
};

std::string description(const Systems &systems)
{
	return "Runs transactions against a store and measures latency, throughput and aborts.\nSystems:\n" +
	       systems.list([](const System &system) { return system.description; });
}

void add_store_options(cli::CommandLine &app, const Systems &systems, Parameters &parameters, Given &given)
{
	app.add_option("--system", parameters.system, "The store to measure")
		.required()
		.check(cli::IsMember(systems.names()));
	app.add_option(
		   "--shards", given.shards, "Its servers, in their order: HOST:PORT,HOST:PORT,...; gam: the master")
		.capture_default_str();
	app.add_option("-d,--ib-dev", parameters.connection.device,
		"RDMA device (default: the one that has the address of the TCP connection)");
	parameters.connection.gam.add_to(app);
	app.add_option("--timeout", parameters.connection.timeout, "Seconds that connecting may take")
		.check(cli::PositiveNumber())
		.check(cli::Seconds())
		.capture_default_str();
}

void add_ycsb_options(cli::CommandLine &app, Parameters &parameters)
{
	YcsbTOptions &options = parameters.ycsb_t;
	app.add_option("--keys", options.keys, "ycsb-t: keys of a transaction").capture_default_str();
	app.add_option("-s,--size", options.value_size, "ycsb-t: bytes a value")
		.check(cli::Range(1, 1 << 20))
		.capture_default_str();
	app.add_option("--theta", options.theta, "ycsb-t: exponent of the Zipf distribution, 0 for uniform")
		.capture_default_str();
	app.add_option("--read-only", options.read_only, "ycsb-t: share of transactions that change nothing")
		.capture_default_str();
}

void add_bank_options(cli::CommandLine &app, Parameters &parameters, Given &given)
{
	app.add_option(
		   "--hot-share", parameters.smallbank.hot_share, "smallbank: share of transactions of hot customers")
		.capture_default_str();
	app.add_option("--hot-records", given.hot_records, "smallbank: hot customers (default 4% of all)");
}

void add_tpcc_options(cli::CommandLine &app, Parameters &parameters)
{
	TpccOptions &options = parameters.tpcc;
	app.add_option("--warehouses", options.warehouses, "tpcc: warehouses").capture_default_str();
	app.add_option("--items", options.items, "tpcc: items").capture_default_str();
	app.add_option("--customers", options.customers, "tpcc: customers of a district").capture_default_str();
	app.add_option("--remote-items", options.remote_items,
		   "tpcc: share of an order's lines that another warehouse supplies")
		.capture_default_str();
	app.add_option("--remote-payments", options.remote_payments,
		   "tpcc: share of payments by customers of another warehouse")
		.capture_default_str();
}

void add_workload_options(cli::CommandLine &app, Parameters &parameters, Given &given)
{
	app.add_option("--workload", given.workload,
		   "ycsb-t: short read-modify-writes; smallbank: six kinds of transactions of a bank; tpcc: NewOrder "
		   "and Payment")
		.check(cli::IsMember(
			std::vector<std::string>{std::string(ycsb_t), std::string(smallbank), std::string(tpcc)}))
		.capture_default_str();
	app.add_option("--records", given.records, "ycsb-t: objects, smallbank: customers (default 100000)");
	app.add_flag("--numbered", given.numbered, "ycsb-t, smallbank: keys are numbers, for a store that is numbered");
	add_ycsb_options(app, parameters);
	add_bank_options(app, parameters, given);
	add_tpcc_options(app, parameters);
	app.add_option("--seed", parameters.run.seed, "The same seed, the same transactions").capture_default_str();
	app.add_flag(
		"--load,!--no-load", parameters.run.load, "Fill the store, which is empty (default), or it is filled");
	app.add_flag("--check", parameters.run.check, "Look at the whole store before and after");
}

void add_client_options(cli::CommandLine &app, RunOptions &run, Given &given)
{
	app.add_option("--threads", run.threads, "Threads").capture_default_str();
	app.add_option("--clients", run.clients, "Clients of each thread").capture_default_str();
	app.add_option("-t,--depth,--tx-depth", run.depth, "Transactions that each client has under way")
		.capture_default_str();
	given.yield.add_to(app);
}

/** Names an option that was given although @p workload would ignore it; empty if there is none. */
std::string ignored_option(const cli::CommandLine &app, std::string_view workload)
{
	for (const Special &special : specials) {
		const auto &its = special.workloads;
		if (app.count(std::string(special.option)) && std::find(its.begin(), its.end(), workload) == its.end())
			return fmt::format("{} has no {}", workload, special.option);
	}
	return "";
}

Result<std::unique_ptr<Workload>> make_workload(const Given &given, Parameters &parameters)
{
	if (given.workload == tpcc)
		return make_tpcc(parameters.tpcc);
	if (given.workload == smallbank) {
		SmallBankOptions &options = parameters.smallbank;
		options.accounts = given.records.value_or(options.accounts);
		const auto part = static_cast<std::uint64_t>(static_cast<double>(options.accounts) * hot_part);
		options.hot_accounts = given.hot_records.value_or(std::max<std::uint64_t>(part, 2));
		options.numbered = given.numbered;
		return make_smallbank(options);
	}
	parameters.ycsb_t.records = given.records.value_or(parameters.ycsb_t.records);
	parameters.ycsb_t.numbered = given.numbered;
	return make_ycsb_t(parameters.ycsb_t);
}

void apply(const Given &given, Parameters &parameters)
{
	RunOptions &run = parameters.run;
	if (run.duration <= 0 && run.requests == 0)
		run.duration = bench::default_duration;
	run.yield = given.yield.wanted(run.threads);
	SystemOptions &connection = parameters.connection;
	connection.depth = run.depth;
	connection.seed = run.seed;
	connection.numbered = given.numbered;
	connection.key_size = sizeof(Key);
	connection.value_size = parameters.workload->largest_value();
	connection.most_keys = parameters.workload->most_keys();
	connection.objects = parameters.workload->objects();
	connection.loads = run.load;
}

} // namespace

std::variant<Parameters, cli::EarlyExit> parse_parameters(const Systems &systems, int argc, const char *const *argv)
{
	Parameters parameters;
	Given given;
	cli::CommandLine app(description(systems), program);
	add_store_options(app, systems, parameters, given);
	add_workload_options(app, parameters, given);
	add_client_options(app, parameters.run, given);
	bench::add_length_options(app, parameters.run, "transactions");
	app.add_option("--json,--out_json_file", parameters.json_file, "Write a report to this file");
	app.add_help_and_version(program);
	if (std::optional<cli::EarlyExit> early = app.parse(program, argc, argv))
		return *std::move(early);
	if (const std::string ignored = ignored_option(app, given.workload); !ignored.empty())
		return cli::usage_error(program, ignored);
	const System &system = *systems.find(parameters.system);
	if (const std::string_view of_gam = gam::DriverOptions::given(app); !system.is_gam && !of_gam.empty())
		return cli::usage_error(program, fmt::format("{} has no {}", system.name, of_gam));
	Result<Shards> shards =
		system.is_gam ? parse_shards(given.shards, gam::default_master_port) : parse_shards(given.shards);
	if (!shards)
		return cli::usage_error(program, shards.error().message);
	parameters.connection.shards = *std::move(shards);
	Result<std::unique_ptr<Workload>> workload = make_workload(given, parameters);
	if (!workload)
		return cli::usage_error(program, workload.error().message);
	parameters.workload = *std::move(workload);
	apply(given, parameters);
	if (const Result<void> checked = check(parameters.run); !checked)
		return cli::usage_error(program, checked.error().message);
	return parameters;
}

} // namespace prism::tx
