/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-rpc-bench: measures calls, as a client; with --server, answers them until it is interrupted.
 * Exit codes: 0; 1 if the run was impossible, or a response was wrong or did not come; 2 for an error of usage.
 */
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <variant>

#include <sys/resource.h>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "bench/frame/latency_report.hpp"
#include "bench/rpc/echo_server.hpp"
#include "bench/rpc/parameters.hpp"
#include "bench/rpc/report.hpp"
#include "bench/rpc/run.hpp"
#include "rpc/server/service.hpp"
#include "service/server_program.hpp"

namespace
{

using namespace prism;
using namespace prism::echo;

/** Raises the limit of descriptors: each connection has a socket of its own, on both sides. */
void allow_many_descriptors()
{
	rlimit limit{};
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int measure(Parameters &parameters)
{
	parameters.run.progress = stderr;
	const Result<RunResult> result = run(parameters.server, parameters.run);
	return bench::report(parameters, result, result && result->clean());
}

int be_client(int argc, char **argv)
{
	auto parsed = parse_parameters(argc, argv);
	if (const auto *early = std::get_if<cli::EarlyExit>(&parsed))
		return early->print();
	return cli::run_program([&] { return measure(std::get<Parameters>(parsed)); });
}

struct ServerGiven {
	bool server = true;
	rpc::Way way = rpc::Way::two_sided;
	unsigned threads = 1;
	std::uint32_t message_size = 8192;
	std::uint32_t depth = 64;
	std::uint32_t receive_buffers = 0;
};

EchoOptions options_of(const ServerGiven &given, const apps::ServerSettings &settings)
{
	constexpr std::uint64_t most_buffers = 4096;
	EchoOptions options;
	options.message_size = given.message_size;
	rpc::ServerOptions &server = options.server;
	server.way = given.way;
	server.address = settings.address;
	server.port = settings.port;
	server.threads = given.threads;
	server.max_connections = settings.connections;
	server.max_depth = given.depth;
	const std::uint64_t most = std::uint64_t{settings.connections} * given.depth;
	server.receive_buffers = given.receive_buffers ? given.receive_buffers
						       : static_cast<std::uint32_t>(std::min(most, most_buffers));
	server.timed = settings.times_calls();
	server.log = settings.log;
	return options;
}

Result<apps::ServerProgram::Stores> make_echo(
	const Context &context, const ServerGiven &given, const apps::ServerSettings &settings)
{
	Result<std::unique_ptr<EchoServer>> made = EchoServer::create(context, options_of(given, settings));
	if (!made)
		return made.error();
	const std::string ready = fmt::format("rpc echo, {}, payloads of up to {} bytes, port {}",
		rpc::to_string(given.way), given.message_size, (*made)->port());
	apps::ServerProgram::Stores stores;
	stores.push_back({std::make_unique<rpc::CallService<EchoServer>>(*std::move(made),
				  [](const EchoServer &server) { return server.figures().to_json().dump(2); }),
		ready, {{"store", "rpc-echo"}, {"way", std::string(rpc::to_string(given.way))}}});
	return stores;
}

int be_server(int argc, char **argv)
{
	ServerGiven given;
	apps::ServerProgram server(program, "Answers the calls of prism-rpc-bench until it is interrupted.");
	server.add_port(apps::default_store_port);
	server.add_client_options();
	cli::CommandLine &app = server.command_line();
	app.add_flag("--server", given.server, "Be the server");
	add_way(app, given.way);
	app.add_option("--threads", given.threads, "Worker threads").capture_default_str();
	app.add_option(
		   "--message-size", given.message_size, "Bytes of the longest payload, of requests and of responses")
		.capture_default_str();
	app.add_option("--depth", given.depth, "Calls under way on a connection, at most").capture_default_str();
	app.add_option("--receive-buffers", given.receive_buffers,
		"Calls under way on all connections together, where requests come as messages (default: connections "
		"times depth, at most 4096)");
	server.check([&given](const apps::ServerSettings &settings) {
		const Result<void> checked = EchoServer::check(options_of(given, settings));
		return checked ? std::string() : checked.error().message;
	});
	return server.run(argc, argv, [&given](const Context &context, const apps::ServerSettings &settings) {
		return make_echo(context, given, settings);
	});
}

} // namespace

int main(int argc, char **argv)
{
	cli::outlive_outputs(); /* the connection shows that the server has gone */
	allow_many_descriptors();
	const bool is_server =
		std::any_of(argv + 1, argv + argc, [](std::string_view word) { return word == "--server"; });
	return is_server ? be_server(argc, argv) : be_client(argc, argv);
}
