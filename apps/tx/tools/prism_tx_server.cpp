/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-tx-server: serves a shard of a transactional store until it is interrupted: PRISM-TX, or one that it is
 * measured against.
 * Exit codes: 0; 1 if the shard could not be made or the device failed; 2 for an error of usage.
 */
#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "service/hello.hpp"
#include "tx/farm/farm_server.hpp"
#include "tx/locking/locking_server.hpp"
#include "tx/store/prism_shard.hpp"

namespace
{

using namespace prism;
using namespace prism::tx;

/* Calls that may wait on all connections together, unless the command line says otherwise */
constexpr std::uint64_t most_receive_buffers = 4096;

struct Options {
	std::string store = "prism";
	std::string commit = "protected";
	std::string device;
	std::string address;
	std::uint16_t port = apps::default_store_port;
	std::uint16_t shard = 0;
	std::uint16_t shards = 1;
	std::optional<std::uint64_t> keys;
	std::optional<std::uint64_t> cells;
	std::optional<std::uint32_t> key_size;
	std::uint32_t value_size = 512;
	std::vector<std::string> classes;
	bool numbered = false;
	std::uint32_t clients = 64;
	std::uint32_t lanes = 32;
	unsigned threads = 1;
	bool json = false;

	/** Of this shard. Who tells the cells alone has as many keys for them: one each, be it by their numbers. */
	[[nodiscard]] std::uint64_t number_of_keys() const { return keys.value_or(cells.value_or(100'000)); }
	[[nodiscard]] std::uint64_t number_of_cells() const
	{
		return cells.value_or(numbered ? number_of_keys() : 2 * number_of_keys());
	}
	[[nodiscard]] std::uint32_t longest_key() const { return key_size.value_or(numbered ? 8 : 64); }
};

/* What a signal handler ends; at most one server runs. */
std::atomic<void (*)()> stop_server;

void on_signal(int)
{
	if (void (*const stop)() = stop_server)
		stop();
}

template <typename Server>
Server *&running()
{
	static Server *server = nullptr;
	return server;
}

int fail(const Error &error)
{
	fmt::print(stderr, "prism-tx-server: {}\n", error.message);
	return 1;
}

/* What the stores have in common ----------------------------------------------------------------------------------- */

Result<void> run(PrismShard &shard)
{
	return shard.serve();
}

template <typename Server>
Result<void> run(Server &server)
{
	return server.run();
}

std::string statistics(PrismShard &shard)
{
	(void)shard.buffers_in_use(); /* has the lists counted */
	return shard.stats_json();
}

nlohmann::json connections(const kv::RpcServerStats &stats)
{
	return {{"accepted", stats.connections}, {"open", stats.open}, {"refused", stats.refused},
		{"vanished", stats.vanished}, {"malformed", stats.malformed}};
}

std::string statistics(const FarmServer &server)
{
	const FarmStats stats = server.stats();
	const nlohmann::json json{{"objects", stats.objects}, {"connections", connections(stats.server)},
		{"calls", {{"lock", stats.locks}, {"validate", stats.validates}, {"update", stats.updates},
				  {"abort", stats.aborts}}},
		{"conflicts", stats.conflicts}, {"abandoned_locks", stats.abandoned}};
	return json.dump(2);
}

std::string statistics(const LockingServer &server)
{
	const LockingStats stats = server.stats();
	const nlohmann::json json{{"objects", stats.objects}, {"connections", connections(stats.server)},
		{"calls", {{"fetch", stats.fetches}, {"prepare", stats.prepares}, {"commit", stats.commits},
				  {"release", stats.releases}}},
		{"conflicts", stats.conflicts}, {"abandoned_locks", stats.abandoned}};
	return json.dump(2);
}

template <typename Server>
int serve(Result<std::unique_ptr<Server>> made, const Options &options)
{
	if (!made)
		return fail(made.error());
	Server &server = **made;
	running<Server>() = &server;
	stop_server = [] { running<Server>()->stop(); };
	std::signal(SIGINT, on_signal);
	std::signal(SIGTERM, on_signal);
	fmt::print("{} store, shard {} of {}, for {} keys of up to {} + {} bytes, port {}\n", options.store,
		options.shard, options.shards, options.number_of_keys(), options.longest_key(), options.value_size,
		server.port());
	std::fflush(stdout);
	const Result<void> served = run(server);
	stop_server = nullptr;
	if (!served)
		return fail(served.error());
	if (options.json)
		fmt::print("{}\n", statistics(server));
	if (std::fflush(stdout) || std::ferror(stdout))
		return fail(make_error(EIO, "cannot write to the standard output"));
	return 0;
}

/* PRISM-TX --------------------------------------------------------------------------------------------------------- */

/** Reads "BYTES:COUNT". */
std::optional<apps::BufferClass> parse_class(const std::string &text)
{
	apps::BufferClass size_class;
	const char *const end = text.data() + text.size();
	const auto [colon, error] = std::from_chars(text.data(), end, size_class.buffer_size);
	if (error != std::errc{} || colon == end || *colon != ':')
		return std::nullopt;
	const auto [rest, no_count] = std::from_chars(colon + 1, end, size_class.count);
	if (no_count != std::errc{} || rest != end)
		return std::nullopt;
	return size_class;
}

std::string check_class(const std::string &text)
{
	return parse_class(text) ? std::string() : "'" + text + "' is no size class: write BYTES:COUNT";
}

int serve_prism(const Context &context, const Options &options)
{
	PrismShardOptions shard;
	shard.address = options.address;
	shard.port = options.port;
	shard.max_connections = options.clients;
	shard.shard = options.shard;
	shard.shards = options.shards;
	shard.cells = options.number_of_cells();
	shard.numbered = options.numbered;
	shard.as_in_paper = options.commit == "paper";
	shard.lanes = options.lanes;
	shard.max_key_size = options.longest_key();
	shard.max_value_size = options.value_size;
	for (const std::string &text : options.classes)
		shard.classes.push_back(parse_class(text).value()); /* check_class() has seen it */
	if (shard.classes.empty() && shard.cells)
		shard.classes = PrismShardOptions::classes_for(options.number_of_keys(), shard.cells, shard.numbered,
			shard.max_key_size, shard.max_value_size);
	return serve(PrismShard::create(context, shard), options);
}

/* The rivals ------------------------------------------------------------------------------------------------------- */

CalledShardOptions by_calls(const Options &options)
{
	CalledShardOptions server;
	server.server.address = options.address;
	server.server.port = options.port;
	server.server.threads = options.threads;
	server.server.max_key_size = options.longest_key();
	server.server.max_connections = options.clients;
	server.server.max_depth = options.lanes;
	const std::uint64_t most = std::uint64_t{options.clients} * options.lanes;
	server.server.receive_buffers = static_cast<std::uint32_t>(std::min(most, most_receive_buffers));
	server.objects = options.number_of_keys();
	server.value_size = options.value_size;
	server.shard = options.shard;
	server.shards = options.shards;
	return server;
}

int serve(const Options &options)
{
	Result<Context> context = Context::open(options.device, Progress::engine_thread);
	if (!context)
		return fail(context.error());
	if (options.store == "farm")
		return serve(FarmServer::create(*context, by_calls(options)), options);
	if (options.store == "locking")
		return serve(LockingServer::create(*context, by_calls(options)), options);
	return serve_prism(*context, options);
}

void add_options(cli::CommandLine &app, Options &options)
{
	app.add_option("--store", options.store, "PRISM-TX, or what it is measured against")
		.check(cli::IsMember({"prism", "farm", "locking"}))
		.capture_default_str();
	app.add_option("--shard", options.shard, "Number of this shard, from 0").capture_default_str();
	app.add_option("--shards", options.shards, "How many the store has").capture_default_str();
	app.add_option("-d,--ib-dev", options.device, "RDMA device (default: the first userspace device)");
	app.add_option("-p,--port", options.port, "TCP port for connections; 0: any").capture_default_str();
	app.add_option("--bind", options.address, "Address to listen on (default: all)");
	app.add_option("--keys,--objects", options.keys,
		   "How many keys of this shard to have room for (default: 100000, or one a cell)")
		.check(cli::Range(1.0, 1e10));
	app.add_option("--cells", options.cells, "prism: cells (default: twice the keys; numbered: as many)")
		.check(cli::Range(1.0, 3.5e10));
	app.add_option("--key-size", options.key_size, "Bytes of the longest key (default: 64; numbered: 8)");
	app.add_option("-s,--value-size", options.value_size, "Bytes of the longest value").capture_default_str();
	app.add_option("--class", options.classes,
		   "prism: a size class of objects, BYTES:COUNT buffers; may be repeated (default: for the keys, by "
		   "how many share a cell)")
		.check(check_class);
	app.add_flag("--numbered", options.numbered, "Keys are numbers, and have a cell of their own each");
	app.add_option("--commit", options.commit,
		   "prism: protected from the death of clients, or as in the paper, where it leaves keys blocked")
		.check(cli::IsMember({"protected", "paper"}))
		.capture_default_str();
	app.add_option("--clients", options.clients, "At most so many clients").capture_default_str();
	app.add_option("--lanes", options.lanes, "Transactions of one client under way at once").capture_default_str();
	app.add_option("--threads", options.threads, "farm, locking: worker threads").capture_default_str();
	app.add_flag("--json", options.json, "Print statistics at the end, as JSON");
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Serves a shard of a transactional store until it is interrupted."};
	app.add_version("prism-tx-server");
	add_options(app, options);
	if (const auto early = app.parse(argc, argv))
		return early->print() ? 2 : 0;
	return serve(options);
}
