/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "drivers/tool.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "common/endpoint.hpp"
#include "common/error.hpp"
#include "common/verbs.hpp"
#include "drivers/print.hpp"
#include "drivers/run.hpp"
#include "operations/contestant.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::uint64_t bytes_in_flight = 8 << 20; /* deeper pipelines of large messages only spoil caches */
constexpr std::uint32_t fewest_large_in_flight = 4;

std::size_t size_limit(const Client &client)
{
	const Parameters &parameters = client.parameters();
	switch (parameters.tool.operation) {
	case Operation::read:
		return std::size_t{1} << 20; /* the limit of every peer */
	case Operation::write:
		return parameters.access == Access::direct ? largest_size : client.endpoint().mtu();
	default:
		return std::size_t{1} << 20;
	}
}

std::uint32_t choose_depth(const Client &client, const Contestants &contestants, std::uint32_t largest_message)
{
	const Parameters &parameters = client.parameters();
	if (parameters.tool.metric == Metric::latency)
		return 1;
	unsigned requests = 1;
	for (const auto &contestant : contestants)
		requests = std::max(requests, contestant->largest_step());
	if (parameters.tx_depth)
		return std::max(parameters.tx_depth / requests, 1U);
	const std::uint64_t by_size =
		std::max<std::uint64_t>(bytes_in_flight / largest_message, fewest_large_in_flight);
	const std::uint64_t by_device = client.endpoint().prism_attributes().max_outstanding / requests;
	return static_cast<std::uint32_t>(std::max<std::uint64_t>(std::min(by_size, by_device), 1));
}

void start(Client &client, const Contestants &contestants, Reclaim &reclaim)
{
	const Parameters &parameters = client.parameters();
	const std::vector<std::uint32_t> sizes = parameters.sizes(size_limit(client));
	const std::uint32_t largest = *std::max_element(sizes.begin(), sizes.end());
	const std::uint32_t depth = choose_depth(client, contestants, largest);
	const int max_free_list = client.endpoint().attributes().max_srq_wr;
	const Geometry plan = plan_geometry(parameters, largest, depth, static_cast<std::uint32_t>(contestants.size()),
		static_cast<std::uint32_t>(std::max(max_free_list, 1)));
	const std::string problem = plan.problem();
	if (!problem.empty())
		throw Error(
			fmt::format("this run would need {}, which is out of bounds; reduce -s, -t or -q", problem));
	unsigned requests = 1;
	for (const auto &contestant : contestants)
		requests = std::max(requests, contestant->largest_step());
	client.start(plan, requests);
	reclaim.begin(plan.posted_buffers());
}

std::vector<Row> measure(Client &client, const Contestants &contestants, Reclaim &reclaim, std::size_t size)
{
	for (const auto &contestant : contestants)
		contestant->check_size(size);
	if (client.parameters().tool.metric == Metric::latency)
		return measure_latency(client, contestants, reclaim, size);
	return measure_bandwidth(client, contestants, reclaim, size);
}

nlohmann::json test_info(const Parameters &parameters, const Endpoint &end, const Geometry &plan)
{
	static constexpr const char *contests[] = {"prism", "plain", "compare"};
	static constexpr const char *accesses[] = {"direct", "indirect", "bounded"};
	return {
		{"test", parameters.tool.name()},
		{"role", parameters.is_server() ? "server" : "client"},
		{"Device", end.device_name()},
		{"Connection_type", "RC"},
		{"Mtu", end.mtu()},
		{"qp_number", plan.qps},
		{"jobs_in_flight", plan.depth},
		{"contest", contests[static_cast<unsigned>(parameters.contest)]},
		{"access", accesses[static_cast<unsigned>(parameters.access)]},
	};
}

void write_json(const Parameters &parameters, const nlohmann::json &info, const std::vector<Row> &rows)
{
	const std::string error = parameters.json.write(info, to_json(rows));
	if (!error.empty())
		throw Error(error + "; name another file with --out_json_file");
}

void run_client(const Parameters &parameters)
{
	Client client(parameters);
	Reclaim reclaim(client);
	const Contestants contestants = make_contestants(client, reclaim);
	start(client, contestants, reclaim);
	print_header(parameters, client.endpoint(), client.layout().geometry());
	std::vector<Row> all;
	for (const std::uint32_t size : parameters.sizes(size_limit(client))) {
		std::vector<Row> rows = measure(client, contestants, reclaim, size);
		print_rows(parameters, rows);
		std::move(rows.begin(), rows.end(), std::back_inserter(all));
	}
	print_line(stdout);
	client.finish(to_json(all).dump());
	write_json(parameters, test_info(parameters, client.endpoint(), client.layout().geometry()), all);
}

void run_server(const Parameters &parameters)
{
	const Descriptor listener = listen_on(parameters.port);
	print_waiting(parameters);
	Server server(parameters, TcpConnection(accept_socket(listener)));
	server.start();
	print_header(parameters, server.endpoint(), server.client_hello().geometry);
	const auto rows = rows_from_json(server.serve());
	if (!rows)
		throw Error("the client's results make no sense; run the same version of the tool on both sides");
	print_rows(parameters, *rows);
	print_line(stdout);
	write_json(parameters, test_info(parameters, server.endpoint(), server.client_hello().geometry), *rows);
}

int run(const Parameters &parameters)
{
	const Tool &tool = parameters.tool;
	try {
		require_device(parameters.device);
		if (parameters.is_server())
			run_server(parameters);
		else
			run_client(parameters);
		return static_cast<int>(ExitCode::ok);
	} catch (const Error &error) {
		std::fprintf(stderr, "%s: %s\n", tool.name().c_str(), error.what());
		return static_cast<int>(error.exit_code());
	} catch (const std::exception &error) {
		std::fprintf(stderr, "%s: %s\n", tool.name().c_str(), error.what());
		return static_cast<int>(ExitCode::failed);
	}
}

} // namespace

int run_tool(const Tool &tool, int argc, const char *const *argv)
{
	const auto parsed = parse_parameters(tool, argc, argv);
	if (const auto *early = std::get_if<EarlyExit>(&parsed))
		return early->print();
	return cli::finish_output(run(std::get<Parameters>(parsed)));
}

} // namespace prism::perftest
