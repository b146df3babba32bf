/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/parameters.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/frame/yield_option.hpp"
#include "bench/rpc/echo.hpp"
#include "bench/rpc/run.hpp"

namespace prism::echo
{

namespace
{

constexpr double longest_us = longest_time / ns_per_us;

/* Options that can be interpreted only after the whole line has been read. */
struct Given {
	double server_time = 0; /* usec */
	double slow_time = 0;   /* usec */
	bench::YieldOption yield;
};

std::string description()
{
	std::string text = "Measures calls: their latency, their rate, and what they cost both sides.\n"
			   "The server is 'prism-rpc-bench --server'; its options: 'prism-rpc-bench --server --help'.\n"
			   "Ways:\n";
	for (const rpc::WayName &way : rpc::ways)
		text += fmt::format("  {:<11}{}\n", way.name, way.description);
	return text;
}

void add_server_options(cli::CommandLine &app, ServerPlace &server)
{
	app.add_option("host", server.host, "Where the server is").required();
	app.add_option("-p,--port", server.port, "TCP port of the server")
		.check(cli::Range(1, 65535))
		.capture_default_str();
	add_way(app, server.way);
	app.add_option("-d,--ib-dev", server.device, "RDMA device (default: the first userspace device)");
	app.add_option("--timeout", server.timeout, "Seconds that connecting may take")
		.check(cli::PositiveNumber())
		.check(cli::Seconds())
		.capture_default_str();
}

void add_call_options(cli::CommandLine &app, RunOptions &run, Given &given)
{
	app.add_option("-P,--server-time", given.server_time, "usec that the server is busy with each call")
		.check(cli::Range(0.0, longest_us))
		.capture_default_str();
	app.add_option("--slow-share", run.slow.share, "Share of calls that take --slow-time instead")
		.check(cli::Range(0.0, 1.0))
		.capture_default_str();
	app.add_option("--slow-time", given.slow_time, "usec that the server is busy with a slow call (default 100)")
		.check(cli::Range(0.0, longest_us));
	app.add_option("--request-size", run.request_size, "Bytes of payload in a request")
		.check(cli::Range(0U, longest_payload))
		.capture_default_str();
	app.add_option("--seed", run.seed, "The same seed, the same calls").capture_default_str();
}

void add_client_options(cli::CommandLine &app, RunOptions &run, Given &given)
{
	app.add_option("--threads", run.threads, "Threads").capture_default_str();
	app.add_option("--connections", run.connections, "Connections of each thread").capture_default_str();
	app.add_option("-t,--depth,--tx-depth", run.depth, "Calls that each connection has under way")
		.capture_default_str();
	given.yield.add_to(app);
}

void add_fetch_options(cli::CommandLine &app, rpc::FetchOptions &fetch)
{
	app.add_option("--first-read", fetch.first_read, "fetch: bytes of a call's first READ: RFP's F")
		.capture_default_str();
	app.add_option("--retries", fetch.retries, "fetch: failed READs after which a call is a slow one: RFP's R")
		.capture_default_str();
	app.add_option("--switch-after", fetch.slow_calls, "fetch: slow calls in a row that switch to replies: RFP's K")
		.capture_default_str();
	app.add_flag("--hybrid,!--no-hybrid", fetch.hybrid, "fetch: may switch to replies (default)");
	app.add_flag("--pace,!--no-pace", fetch.paced,
		"The first READ for a response waits as long as the server is expected to take (default)");
}

std::uint32_t nanoseconds(double microseconds)
{
	return static_cast<std::uint32_t>(std::lround(microseconds * ns_per_us));
}

void apply(const cli::CommandLine &app, const Given &given, RunOptions &run)
{
	constexpr double default_slow_time = 100;
	if (run.duration <= 0 && run.requests == 0)
		run.duration = bench::default_duration;
	run.yield = given.yield.wanted(run.threads);
	run.time = nanoseconds(given.server_time);
	run.slow.time = nanoseconds(app.count("--slow-time") ? given.slow_time : default_slow_time);
}

} // namespace

void add_way(cli::CommandLine &app, rpc::Way &way)
{
	std::vector<cli::Choice<rpc::Way>> choices;
	for (const rpc::WayName &known : rpc::ways)
		choices.push_back({std::string(known.name), known.way});
	app.add_choice<rpc::Way>("--way", way, choices,
		"How requests and responses travel; server and client have the same (default: two-sided)");
}

std::variant<Parameters, cli::EarlyExit> parse_parameters(int argc, const char *const *argv)
{
	Parameters parameters;
	RunOptions &run = parameters.run;
	Given given;
	std::string sizes = run.sizes.text();
	cli::CommandLine app(description(), program);
	add_server_options(app, parameters.server);
	app.add_option("-s,--sizes", sizes,
		   "Bytes of payload in a response: one size, or several, each with its weight, "
		   "as 32,64:3,8192")
		.check([&run](const std::string &text) { return run.sizes.parse(text); })
		.capture_default_str();
	add_call_options(app, run, given);
	add_client_options(app, run, given);
	add_fetch_options(app, run.fetch);
	bench::add_length_options(app, run, "calls");
	app.add_option("--json,--out_json_file", parameters.json_file, "Write a report to this file");
	app.add_help_and_version(program);
	if (std::optional<cli::EarlyExit> early = app.parse(program, argc, argv))
		return *std::move(early);
	if (app.count("--slow-time") && run.slow.share <= 0)
		return cli::usage_error(program, "--slow-time is that of slow calls: say their --slow-share as well");
	apply(app, given, run);
	if (const Result<void> checked = check(run); !checked)
		return cli::usage_error(program, checked.error().message);
	return parameters;
}

} // namespace prism::echo
