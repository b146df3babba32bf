/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ib_prism_floor: the host's own UDP echo, with perftest's options, columns and exchange; and the speed at which its
 * processors exchange memory.
 */
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "base/command_line.hpp"
#include "echo.hpp"
#include "line.hpp"

using namespace prism;
using namespace prism::floor;

namespace
{

struct Options {
	std::string host; /* empty: server */
	std::uint16_t port = 18515;
	bool bandwidth = false;
	bool line = false;
	Parameters parameters;
	Load load;
	perftest::JsonOutput json;
};

void declare(cli::CommandLine &app, Options &options)
{
	constexpr std::uint32_t longest = 65000;
	app.add_option("host", options.host, "server to measure against; without it, be the server");
	app.add_option("-p,--port", options.port, "TCP port of the exchange").capture_default_str();
	app.add_flag("--bw", options.bandwidth, "measure rate and bandwidth instead of latency");
	app.add_flag(
		"--line", options.line, "measure how long a cache line takes between two processors, without a server");
	app.add_option("-s,--size", options.parameters.answer_size, "bytes of UDP payload of an answer")
		.check(cli::Range(std::uint64_t(min_packet_size), std::uint64_t(1) << 30))
		.capture_default_str();
	app.add_option("--request_size", options.parameters.request_size, "bytes of UDP payload of a request")
		.check(cli::Range(min_packet_size, longest))
		.capture_default_str();
	app.add_option("-m,--mtu", options.parameters.mtu, "bytes of UDP payload, at most, of each packet of an answer")
		.check(cli::Range(std::uint32_t(64), longest))
		.capture_default_str();
	app.add_option("-n,--iters", options.load.iterations, "messages").check(cli::PositiveNumber());
	app.add_option("-t,--tx-depth", options.load.depth, "messages under way, with --bw")
		.check(cli::Range(1U, 65536U))
		.capture_default_str();
	app.add_option("-D,--duration", options.load.duration, "seconds, instead of a number of messages")
		.check(cli::PositiveNumber());
	app.add_flag("--out_json", options.json.enabled, "write the report as JSON as well");
	app.add_option("--out_json_file", options.json.file, "where (default: perftest_out.json)");
}

/* Refuses a last packet too short for the answer's header: it could not be matched. */
void check(const Parameters &parameters)
{
	const std::uint64_t rest = parameters.answer_size % parameters.mtu;
	if (rest != 0 && rest < min_packet_size)
		throw std::runtime_error("the last packet of an answer would have less than 16 bytes: "
					 "choose another --size or --mtu");
}

/* Checks what a client sends like anything from a network; the server itself chooses nothing. */
void check_received(const Parameters &parameters)
{
	if (parameters.magic != Parameters::expected_magic)
		throw std::runtime_error("the client is not an ib_prism_floor of this version");
	if (parameters.request_size < min_packet_size || parameters.request_size > max_train_bytes ||
		parameters.mtu < min_packet_size || parameters.mtu > max_train_bytes ||
		parameters.answer_size < min_packet_size)
		throw std::runtime_error("the client asks for impossible sizes");
}

void run_server(const Options &options)
{
	std::printf("\n************************************\n* Waiting for client to connect... *\n"
		    "************************************\n");
	std::fflush(stdout);
	const Descriptor control = perftest::accept_socket(perftest::listen_on(options.port));
	Parameters parameters;
	perftest::receive_all(control, std::as_writable_bytes(std::span(&parameters, 1)));
	check_received(parameters);
	EchoSocket socket(control);
	serve(socket, control, parameters);
}

nlohmann::json describe(const Options &options)
{
	return {
		{"test", options.bandwidth ? "UDP_Echo_BW" : "UDP_Echo_Latency"},
		{"server", options.host},
		{"request_size", options.parameters.request_size},
		{"mtu", options.parameters.mtu},
		{"tx_depth", options.bandwidth ? options.load.depth : 1},
		{"duration", options.load.duration},
	};
}

void print_header(const Options &options)
{
	perftest::print_line(stdout);
	std::printf("                    UDP Echo %s Test\n", options.bandwidth ? "BW" : "Latency");
	std::printf(" Request size    : %u\n Packet size     : %u at most\n", options.parameters.request_size,
		options.parameters.mtu);
	if (options.bandwidth)
		std::printf(" TX depth        : %u\n", options.load.depth);
	perftest::print_line(stdout);
}

nlohmann::json run_latency(EchoSocket &socket, const Descriptor &control, const Options &options)
{
	const auto result = measure_latency(socket, control, options.parameters, options.load).result();
	perftest::print_latency_columns(stdout);
	perftest::print_latency(stdout, options.parameters.answer_size, result);
	return perftest::to_json(options.parameters.answer_size, result);
}

nlohmann::json run_bandwidth(EchoSocket &socket, const Descriptor &control, const Options &options)
{
	const Throughput run = measure_bandwidth(socket, control, options.parameters, options.load);
	perftest::print_bandwidth_columns(stdout);
	perftest::print_bandwidth(stdout, options.parameters.answer_size, run.result);
	if (run.repeated > 0)
		std::fprintf(stderr, "ib_prism_floor: %llu requests repeated after loss\n",
			static_cast<unsigned long long>(run.repeated));
	nlohmann::json results = perftest::to_json(options.parameters.answer_size, run.result);
	results["repeated"] = run.repeated;
	return results;
}

void run_client(Options &options)
{
	check(options.parameters);
	const Descriptor control = perftest::connect_socket(options.host, options.port);
	options.parameters.bandwidth = options.bandwidth;
	perftest::send_all(control, std::as_bytes(std::span(&options.parameters, 1)));
	EchoSocket socket(control);
	print_header(options);
	const auto results =
		options.bandwidth ? run_bandwidth(socket, control, options) : run_latency(socket, control, options);
	perftest::send_all(control, std::as_bytes(std::span("", 1))); /* done */
	perftest::print_line(stdout);
	const std::string error = options.json.write(describe(options), results);
	if (!error.empty())
		throw std::runtime_error(error);
}

void run_line(const Options &options)
{
	constexpr std::uint32_t rounds = 100'000;
	const double line = measure_line(rounds);
	std::printf("A cache line takes %.1f ns from one processor to another\n", line);
	const std::string error = options.json.write({{"test", "Cache_Line"}}, {{"line_ns", line}});
	if (!error.empty())
		throw std::runtime_error(error);
}

} // namespace

int main(int argc, char **argv)
{
	cli::CommandLine app("The host's own UDP echo, as a floor for the other ib_prism tools");
	Options options;
	declare(app, options);
	if (const auto early = app.parse(argc, argv))
		return early->print();
	try {
		if (options.line)
			run_line(options);
		else if (options.host.empty())
			run_server(options);
		else
			run_client(options);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "ib_prism_floor: %s\n", error.what());
		return 1;
	}
	return cli::finish_output();
}
