/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * rpc_model: computes the cost of calls on NICs that serve more than they issue. Prints one row of JSON for each point.
 * Exit codes: 0; 1 if nothing could be written; 2 for a usage error.
 */
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/command_line.hpp"
#include "bench/rpc/model/parameters.hpp"

namespace
{

using namespace prism;
using namespace prism::rpc::model;

constexpr const char *program = "rpc_model";

/* Values of the options; each combination of them is a point. */
struct Points {
	std::vector<std::string> ways = {"two_sided", "reply", "fetch", "slots", "window"};
	std::vector<double> process_times = {0.2};
	std::vector<unsigned> sizes = {32};
	std::vector<unsigned> mix; /* all of these sizes in one point, in place of sizes */
	std::vector<unsigned> under_way = {1};
	std::vector<unsigned> threads = {5};
	std::vector<unsigned> fetch_sizes = {256};
};

std::vector<std::string> names()
{
	std::vector<std::string> all;
	for (const WayName &way : way_names)
		all.emplace_back(way.name);
	return all;
}

Way way_of(const std::string &name)
{
	return std::find_if(way_names.begin(), way_names.end(), [&](const WayName &way) {
		return way.name == name;
	})->way;
}

void add_points(cli::CommandLine &app, Points &points)
{
	constexpr unsigned longest = 1 << 20;
	app.add_option("--ways", points.ways, "Which, with commas between them")
		.delimiter(',')
		.check(cli::IsMember(names()));
	app.add_option("--process-times", points.process_times, "P: microseconds of a server thread for a call")
		.delimiter(',')
		.check(cli::Range(0.0, 1000.0));
	app.add_option("--sizes", points.sizes, "S: bytes of an answer").delimiter(',').check(cli::Range(1U, longest));
	app.add_option("--mix", points.mix, "Bytes of an answer: any of these, as likely each, in one point")
		.delimiter(',')
		.check(cli::Range(1U, longest));
	app.add_option("--under-way", points.under_way, "W: calls of a client thread")
		.delimiter(',')
		.check(cli::Range(1U, 1024U));
	app.add_option("--threads", points.threads, "Client threads of a node")
		.delimiter(',')
		.check(cli::Range(1U, 64U));
	app.add_option("--fetch-sizes", points.fetch_sizes, "F: bytes of RFP's first READ")
		.delimiter(',')
		.check(cli::Range(16U, longest));
}

void add_parameters(cli::CommandLine &app, Parameters &parameters)
{
	app.add_option("--nodes", parameters.nodes, "Nodes of clients")
		.check(cli::Range(1U, 64U))
		.capture_default_str();
	app.add_option("--server-threads", parameters.server_threads, "k: threads of the server")
		.check(cli::Range(1U, 256U))
		.capture_default_str();
	app.add_option("--retries", parameters.retries, "R: failed fetches of a call that RFP puts up with")
		.check(cli::Range(1U, 1000U))
		.capture_default_str();
	app.add_option("--reads", parameters.reads, "READs of a GET (bypass)")
		.check(cli::Range(1.0, 64.0))
		.capture_default_str();
	app.add_option("--read-pairs", parameters.read_pairs, "Pairs that the last READ of a GET brings (bypass)")
		.check(cli::Range(1U, 64U))
		.capture_default_str();
	app.add_option("--slow-share", parameters.slow_share, "Share of calls that take 20 times as long")
		.check(cli::Range(0.0, 1.0))
		.capture_default_str();
	app.add_option("--duration", parameters.duration, "Microseconds that are measured, after 1000 of warm-up")
		.check(cli::Range(1.0, 1e6))
		.capture_default_str();
	app.add_option("--seed", parameters.seed, "The same seed, the same figures").capture_default_str();
}

struct Point {
	std::string way;
	Parameters parameters;
};

nlohmann::ordered_json row_of(const Point &point)
{
	const Parameters &parameters = point.parameters;
	const Results results = simulate(parameters);
	nlohmann::ordered_json row;
	row["way"] = point.way;
	row["process_time"] = parameters.process_time;
	row["sizes"] = parameters.sizes;
	row["under_way"] = parameters.under_way;
	row["nodes"] = parameters.nodes;
	row["threads"] = parameters.threads;
	row["server_threads"] = parameters.server_threads;
	row["fetch_size"] = parameters.fetch_size;
	row["retries"] = parameters.retries;
	row["rate"] = results.rate;
	row["median"] = results.median;
	row["percentile_99"] = results.percentile_99;
	row["reads"] = results.reads;
	row["failed_fetches"] = results.failed_fetches;
	row["in_bound"] = results.in_bound;
	row["out_bound"] = results.out_bound;
	row["bytes"] = results.bytes;
	row["reply_share"] = results.reply_share;
	return row;
}

/* Combines each of @p points with each of @p values. */
template <typename Values, typename Set>
void widen(std::vector<Point> &points, const Values &values, const Set &set)
{
	std::vector<Point> wider;
	for (const Point &point : points) {
		for (const auto &value : values) {
			wider.push_back(point);
			set(wider.back(), value);
		}
	}
	points = std::move(wider);
}

bool has_fetch_size(const Point &point)
{
	return point.parameters.way == Way::fetch || point.parameters.way == Way::fetch_only;
}

std::vector<Point> points_of(const Points &given, const Parameters &parameters)
{
	std::vector<std::vector<unsigned>> sizes;
	for (const unsigned size : given.sizes)
		sizes.push_back({size});
	if (!given.mix.empty())
		sizes = {given.mix};
	std::vector<Point> points = {{.way = {}, .parameters = parameters}};
	widen(points, given.ways, [](Point &point, const std::string &way) {
		point.way = way;
		point.parameters.way = way_of(way);
	});
	widen(points, given.process_times, [](Point &point, Time time) { point.parameters.process_time = time; });
	widen(points, sizes,
		[](Point &point, const std::vector<unsigned> &answers) { point.parameters.sizes = answers; });
	widen(points, given.under_way, [](Point &point, unsigned number) { point.parameters.under_way = number; });
	widen(points, given.threads, [](Point &point, unsigned number) { point.parameters.threads = number; });
	widen(points, given.fetch_sizes, [](Point &point, unsigned size) { point.parameters.fetch_size = size; });
	std::erase_if(points, [first = given.fetch_sizes.front()](const Point &point) {
		return !has_fetch_size(point) && point.parameters.fetch_size != first;
	});
	return points;
}

} // namespace

int main(int argc, char **argv)
{
	Points points;
	Parameters parameters;
	cli::CommandLine app(
		"Models calls between NICs that serve more operations than they issue. A model, no measurement:\n"
		"docs/rpc-model.md says what it has and what it leaves out. Prints JSON, a row for each combination.",
		program);
	app.add_version(program);
	add_points(app, points);
	add_parameters(app, parameters);
	if (const std::optional<cli::EarlyExit> exit = app.parse(program, argc, argv))
		return exit->print();
	nlohmann::ordered_json rows = nlohmann::ordered_json::array();
	for (const Point &point : points_of(points, parameters))
		rows.push_back(row_of(point));
	std::puts(rows.dump(1, '\t').c_str());
	return cli::finish_output();
}
