/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "parameters.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/command_line.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::uint64_t latency_iterations = 1000; /* perftest's default */
constexpr std::uint64_t bandwidth_iterations = 500'000;
constexpr std::uint64_t bandwidth_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t fewest_iterations = 5; /* perftest's limit */
constexpr std::uint32_t default_cas_size = 16;

std::string_view operation_name(Operation operation)
{
	switch (operation) {
	case Operation::read:
		return "read";
	case Operation::write:
		return "write";
	case Operation::cas:
		return "cas";
	case Operation::allocate:
		return "alloc";
	case Operation::chain:
		return "chain";
	}
	return "unknown";
}

std::string_view subject(Operation operation)
{
	switch (operation) {
	case Operation::read:
		return "PRISM READ";
	case Operation::write:
		return "PRISM WRITE";
	case Operation::cas:
		return "PRISM CAS";
	case Operation::allocate:
		return "PRISM ALLOCATE";
	case Operation::chain:
		return "a chain of PRISM operations";
	}
	return "unknown";
}

std::string description(const Tool &tool)
{
	return fmt::format(
		"Measures the {0} of {1}.\n  {2}         wait for a client\n  {2} HOST    connect to the server "
		"at HOST and measure\n",
		tool.metric == Metric::latency ? "latency" : "throughput", subject(tool.operation), tool.name());
}

/** Flags that only steer the parser; they are turned into Parameters once all are known. */
struct Switches {
	bool direct = false;
	bool indirect = false;
	bool bounded = false;
	bool plain = false;
	bool compare = false;
	bool bidirectional = false;
	std::string connection = "RC";
	int cpu_freq = 0;
};

void add_connection_options(cli::CommandLine &app, Parameters &parameters, Switches &switches)
{
	app.add_option("host", parameters.host, "The server to connect to; without it, be the server");
	app.add_option("-d,--ib-dev", parameters.device,
		"Device (default: the one that has the address of the TCP connection)");
	app.add_option("-i,--ib-port", parameters.ib_port, "Port of the device").check(cli::Range(1, 255));
	app.add_option("-x,--gid-index", parameters.gid_index, "GID index (default: the one of the TCP connection)")
		.check(cli::Range(0, 255));
	app.add_option("-m,--mtu", parameters.mtu, "Path MTU (default: the smaller of both ports)")
		.check(cli::IsMember({256, 512, 1024, 2048, 4096}));
	app.add_option("-p,--port", parameters.port, "TCP port of the server")
		.check(cli::Range(1, 65535))
		.capture_default_str();
	app.add_option("-u,--qp-timeout", parameters.qp_timeout, "QP timeout, 4 usec * 2^N")
		.check(cli::Range(1, 31))
		.capture_default_str();
	app.add_option("-c,--connection", switches.connection, "Connection type: RC");
	app.add_flag("-F,--CPU-freq", switches.cpu_freq, "Accepted for perftest's sake, no effect");
}

void add_amount_options(cli::CommandLine &app, Parameters &parameters)
{
	app.add_option("-n,--iters", parameters.iterations, "Iterations (default: 1000; throughput: by size)")
		.check(cli::Range(fewest_iterations, std::uint64_t{1} << 40));
	app.add_option("-D,--duration", parameters.duration, "Run for so many seconds instead")
		.check(cli::Range(1, 86400));
	app.add_flag("-a,--all", parameters.all_sizes, "All sizes, doubling from 2 bytes (CAS: 8, 16, 32)");
	app.add_flag("--perform_warm_up", parameters.warm_up, "Run some iterations before the measured ones");
}

std::string size_help(Operation operation)
{
	switch (operation) {
	case Operation::cas:
		return "Bytes an operand: 8, 16 or 32 (default 16)";
	case Operation::allocate:
	case Operation::chain:
		return "Bytes of payload written into the allocated buffer (default 64)";
	default:
		return "Bytes a message (default 64)";
	}
}

void add_chain_options(cli::CommandLine &app, Parameters &parameters)
{
	app.add_choice<ChainKind>("--chain", parameters.chain,
		{{"alloc-cas", ChainKind::alloc_cas}, {"write-alloc-cas", ChainKind::write_alloc_cas}},
		"The update of PRISM-KV or the install of PRISM-RS (default alloc-cas)");
	app.add_choice<Scratch>("--scratch", parameters.scratch, {{"host", Scratch::host}, {"device", Scratch::device}},
		"Server: where chains keep intermediate results (default host)");
}

void add_operation_options(cli::CommandLine &app, Parameters &parameters, Switches &switches)
{
	const Operation operation = parameters.tool.operation;
	const cli::Option size = app.add_option("-s,--size", parameters.size, size_help(operation));
	if (operation == Operation::cas)
		size.check(cli::IsMember({8, 16, 32}));
	else
		size.check(cli::Range(std::size_t{1}, largest_size));
	if (operation == Operation::read || operation == Operation::write || operation == Operation::cas) {
		app.add_flag("--direct", switches.direct, "The target itself (default of CAS)");
		app.add_flag("--indirect", switches.indirect, "The target is a pointer (default of READ and WRITE)");
	}
	if (operation == Operation::read || operation == Operation::write)
		app.add_flag("--bounded", switches.bounded, "The target is a bounded pointer; implies --indirect");
	if (operation == Operation::cas)
		app.add_choice<CasMode>("--mode", parameters.cas_mode,
			{{"eq", CasMode::equal}, {"gt", CasMode::greater}, {"lt", CasMode::less}},
			"Comparison (default eq)");
	if (operation == Operation::chain)
		add_chain_options(app, parameters);
	if (operation != Operation::read && operation != Operation::cas)
		app.add_option("-I,--inline_size", parameters.inline_size, "Send payloads up to this size inline")
			.check(cli::Range(0, 4096));
}

void add_contest_options(cli::CommandLine &app, Parameters &parameters, Switches &switches)
{
	app.add_flag("--plain", switches.plain, "Do the same job with standard verbs");
	app.add_flag("--compare", switches.compare, "Do both, interleaved, and print the ratio");
	app.add_choice<Progress>("--progress", parameters.progress,
		{{"inline", Progress::in_line}, {"thread", Progress::thread}},
		"Who drives a userspace device (default: client inline, server thread)");
	app.add_choice<Carrier>("--path", parameters.carrier, {{"udp", Carrier::udp}, {"local", Carrier::local}},
		"How a userspace device sends to this host (default: local, unless PRISM_LOCAL is 0)");
}

void add_latency_options(cli::CommandLine &app, Parameters &parameters)
{
	app.add_flag("-H,--report-histogram", parameters.histogram, "Print every result, sorted");
	app.add_flag("-U,--report-unsorted", parameters.unsorted, "Print every result in order of time");
}

void add_bandwidth_options(cli::CommandLine &app, Parameters &parameters, Switches &switches)
{
	app.add_option("-t,--tx-depth", parameters.tx_depth,
		   "Requests in flight a QP (default: what the device offers, fewer for large messages)")
		.check(cli::Range(1, 8192));
	app.add_option("-q,--qp", parameters.qps, "Queue pairs").check(cli::Range(1, 1024)).capture_default_str();
	app.add_option("-l,--post_list", parameters.post_list, "Jobs posted with one doorbell (default: half of -t)")
		.check(cli::Range(1, 8192));
	app.add_option("-Q,--cq-mod", parameters.cq_mod, "Jobs signalled by one completion (default: as -l)")
		.check(cli::Range(1, 8192));
	app.add_flag("--report_gbits", parameters.report_gbits, "Report Gbit/s instead of MiB/s");
	app.add_flag("-b,--bidirectional", switches.bidirectional, "Not supported");
}

void add_output_options(cli::CommandLine &app, Parameters &parameters)
{
	app.add_flag("--out_json", parameters.json.enabled, "Write a report to perftest_out.json");
	app.add_option("--out_json_file", parameters.json.file, "Write a report to this file");
}

std::string check_consistency(const cli::CommandLine &app, const Parameters &parameters, const Switches &switches)
{
	if (switches.connection != "RC")
		return fmt::format(
			"-c {}: PRISM operations exist on reliable connections alone; leave -c out or say -c RC",
			switches.connection);
	if (switches.bidirectional)
		return "-b: only one direction is measured, as the server is passive; run a second pair of tools the "
		       "other "
		       "way round";
	if (switches.direct && (switches.indirect || switches.bounded))
		return "--direct excludes --indirect and --bounded; choose one";
	if (switches.plain && switches.compare)
		return "--compare runs the plain counterpart as well; leave --plain out";
	if (parameters.duration && parameters.iterations)
		return "-D and -n exclude each other; choose one";
	if (parameters.all_sizes && app.count("--size"))
		return "-a runs all sizes; leave -s out";
	if (parameters.tx_depth && parameters.post_list > parameters.tx_depth)
		return fmt::format(
			"-l {} is more than -t {} allows in flight", parameters.post_list, parameters.tx_depth);
	if (parameters.tx_depth && parameters.cq_mod > parameters.tx_depth)
		return fmt::format("-Q {} would wait for more than -t {} allows in flight", parameters.cq_mod,
			parameters.tx_depth);
	return {};
}

void apply(const Switches &switches, Parameters &parameters)
{
	const bool reads_pointer =
		parameters.tool.operation == Operation::read || parameters.tool.operation == Operation::write;
	if (switches.bounded)
		parameters.access = Access::bounded;
	else if (switches.indirect || (reads_pointer && !switches.direct))
		parameters.access = Access::indirect;
	if (switches.plain)
		parameters.contest = Contest::plain;
	if (switches.compare)
		parameters.contest = Contest::compare;
	parameters.histogram |= parameters.unsorted;
}

void add_options(cli::CommandLine &app, Parameters &parameters, Switches &switches)
{
	app.add_help_and_version(parameters.tool.name());
	add_connection_options(app, parameters, switches);
	add_amount_options(app, parameters);
	add_operation_options(app, parameters, switches);
	add_contest_options(app, parameters, switches);
	if (parameters.tool.metric == Metric::latency)
		add_latency_options(app, parameters);
	else
		add_bandwidth_options(app, parameters, switches);
	add_output_options(app, parameters);
}

} // namespace

std::string Tool::name() const
{
	return fmt::format("ib_prism_{}_{}", operation_name(operation), metric == Metric::latency ? "lat" : "bw");
}

std::uint64_t Parameters::iterations_for(std::size_t message_size) const
{
	if (iterations)
		return iterations;
	if (tool.metric == Metric::latency)
		return latency_iterations;
	const std::uint64_t by_volume = bandwidth_bytes / std::max<std::size_t>(message_size, 1);
	return std::clamp<std::uint64_t>(by_volume, 100, bandwidth_iterations);
}

std::vector<std::uint32_t> Parameters::sizes(std::size_t limit) const
{
	if (!all_sizes)
		return {size};
	if (tool.operation == Operation::cas)
		return {8, 16, 32};
	std::vector<std::uint32_t> sizes;
	for (std::uint32_t next = 2; next <= std::min(limit, largest_size); next *= 2)
		sizes.push_back(next);
	return sizes;
}

bool Parameters::needs_free_list() const
{
	return tool.operation == Operation::allocate || tool.operation == Operation::chain;
}

std::variant<Parameters, EarlyExit> parse_parameters(const Tool &tool, int argc, const char *const *argv)
{
	Parameters parameters;
	parameters.tool = tool;
	if (tool.operation == Operation::cas)
		parameters.size = default_cas_size;
	Switches switches;
	cli::CommandLine app(description(tool), tool.name());
	add_options(app, parameters, switches);
	if (std::optional<EarlyExit> early = app.parse(tool.name(), argc, argv))
		return *std::move(early);
	const std::string problem = check_consistency(app, parameters, switches);
	if (!problem.empty())
		return cli::usage_error(tool.name(), problem);
	apply(switches, parameters);
	return parameters;
}

} // namespace prism::perftest
