/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-kv-server: serves a key-value store until it is interrupted: PRISM-KV, or one that it is measured against.
 * Exit codes: 0; 1 if the store could not be made or the device failed; 2 for an error of usage.
 */
#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jakiro/jakiro_server.hpp"
#include "kv/store/prism_server.hpp"
#include "kv_calls/rpc_store.hpp"
#include "pilaf/pilaf_server.hpp"
#include "rpc/server/service.hpp"
#include "service/server_program.hpp"

namespace
{

using namespace prism;
using namespace prism::kv;

struct Options {
	std::string store = "prism";
	std::uint64_t records = 100'000;
	std::uint32_t max_key = 48;
	std::uint32_t max_value = 512;
	std::uint64_t slots = 0;
	ShardName shard;
	std::vector<std::string> classes;
	std::uint32_t depth = 256;
	std::uint32_t receive_buffers = 0;
	unsigned threads = 1;
	std::string way{to_string(rpc::Way::two_sided)};
};

using Made = Result<std::unique_ptr<apps::Service>>;

template <typename Server, typename Tell, typename... Collect>
Made called(Result<std::unique_ptr<Server>> made, Tell tell, Collect... collect)
{
	if (!made)
		return made.error();
	return std::unique_ptr<apps::Service>(
		std::make_unique<rpc::CallService<Server>>(*std::move(made), tell, collect...));
}

nlohmann::json connections(const rpc::ServerStats &stats)
{
	return {{"accepted", stats.connections}, {"open", stats.open}, {"refused", stats.refused},
		{"vanished", stats.vanished}, {"malformed", stats.malformed}};
}

PrismServerOptions prism_options(const Options &options, const apps::ServerSettings &settings)
{
	PrismServerOptions store;
	settings.apply(store);
	store.slots = options.slots ? options.slots : 2 * options.records;
	store.max_key_size = options.max_key;
	store.max_value_size = options.max_value;
	store.shard = options.shard;
	for (const std::string &text : options.classes)
		store.classes.push_back(apps::parse_class(text).value()); /* check_class() has checked it */
	if (store.classes.empty())
		store.classes = {PrismServerOptions::class_for(options.records, options.max_key, options.max_value)};
	return store;
}

Result<void> check_prism(const Options &options, const apps::ServerSettings &settings)
{
	return PrismServer::check(prism_options(options, settings));
}

Made make_prism(const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	Result<std::unique_ptr<PrismServer>> made = PrismServer::create(context, prism_options(options, settings));
	if (!made)
		return made.error();
	return std::unique_ptr<apps::Service>(*std::move(made));
}

/** Returns the options of a server by calls. @p each: connections of one client. */
rpc::ServerOptions calls(const Options &options, const apps::ServerSettings &settings, std::uint32_t each = 1)
{
	rpc::ServerOptions server;
	server.way = rpc::way_of(options.way).value(); /* the command line has checked it */
	server.address = settings.address;
	server.port = settings.port;
	server.threads = options.threads;
	server.max_key_size = options.max_key;
	server.max_value_size = options.max_value;
	const std::uint64_t connections = std::uint64_t{settings.connections} * each;
	server.max_connections = static_cast<std::uint32_t>(std::min<std::uint64_t>(connections, ~std::uint32_t{0}));
	server.max_depth = options.depth;
	const std::uint64_t most = connections * options.depth;
	server.receive_buffers = options.receive_buffers
					 ? options.receive_buffers
					 : static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 4096));
	server.timed = settings.times_calls();
	server.log = settings.log;
	return server;
}

Result<void> check_calls(const Options &options, const apps::ServerSettings &settings)
{
	return rpc::Server::check({}, calls(options, settings, options.store == "jakiro" ? options.threads : 1));
}

/** Returns room for the records, rounded up to pieces of the next power of two as arenas cut them, with some spare. */
std::size_t arena(const Options &options)
{
	std::size_t piece = 64;
	while (piece < std::size_t{options.max_key} + options.max_value + 32)
		piece *= 2;
	return (options.records + options.records / 4 + 4096) * piece;
}

Made make_rpc(const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	RpcStoreOptions store;
	store.server = calls(options, settings);
	store.capacity = options.records + options.records / 4 + 1024;
	store.memory = arena(options);
	return called(RpcStoreServer::create(context, store), [](const RpcStoreServer &server) {
		const RpcStoreStats stats = server.stats();
		return nlohmann::json{{"objects", stats.objects}, {"connections", connections(stats.server)},
			{"calls", stats.server.requests}}
			.dump(2);
	});
}

void collect_cache(std::vector<apps::Metric> &metrics, const JakiroServer &server)
{
	const jakiro::PartitionStats stats = server.stats().partitions;
	const auto count = [&metrics](const char *name, const char *help, std::uint64_t value, apps::Labels labels) {
		metrics.push_back({apps::Metric::Kind::counter, name, help, static_cast<double>(value),
			std::move(labels), std::nullopt});
	};
	const char *const gets = "GETs, by whether they found their key";
	const char *const evictions = "Pairs that were evicted, by what was needed for others";
	count("prism_cache_gets_total", gets, stats.hits, {{"result", "hit"}});
	count("prism_cache_gets_total", gets, stats.misses, {{"result", "miss"}});
	count("prism_cache_evictions_total", evictions, stats.evicted_by_bucket, {{"needed", "slot"}});
	count("prism_cache_evictions_total", evictions, stats.evicted_by_memory, {{"needed", "memory"}});
	metrics.push_back({apps::Metric::Kind::gauge, "prism_cache_objects", "Pairs that are stored",
		static_cast<double>(stats.objects), {}, std::nullopt});
}

/**
 * Makes a Jakiro store. Clients have a connection to each thread. The shares of the partitions differ a little, hence
 * the spare pairs.
 */
Made make_jakiro(const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	JakiroOptions store;
	store.server = calls(options, settings, options.threads);
	store.slots = options.slots ? options.slots : 2 * options.records;
	store.memory = (options.records + options.records / 4 + std::uint64_t{256} * options.threads) *
		       jakiro::PairLog::size_of(options.max_key, options.max_value);
	return called(
		JakiroServer::create(context, store),
		[](const JakiroServer &server) {
			const JakiroStats stats = server.stats();
			const jakiro::PartitionStats &cache = stats.partitions;
			return nlohmann::json{{"objects", cache.objects}, {"hits", cache.hits},
				{"misses", cache.misses},
				{"evictions", {{"slot", cache.evicted_by_bucket}, {"memory", cache.evicted_by_memory}}},
				{"connections", connections(stats.server)}, {"calls", stats.server.requests}}
				.dump(2);
		},
		collect_cache);
}

Made make_pilaf(const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	PilafOptions store;
	store.server = calls(options, settings);
	store.table.entries = options.slots ? options.slots : 2 * options.records;
	store.table.memory = arena(options);
	return called(PilafServer::create(context, store), [](const PilafServer &server) {
		const PilafStats stats = server.stats();
		return nlohmann::json{{"connections", connections(stats.server)}, {"calls", stats.server.requests}}
			.dump(2);
	});
}

using Checker = Result<void> (*)(const Options &, const apps::ServerSettings &);
using Maker = Made (*)(const Context &, const Options &, const apps::ServerSettings &);

struct Kind {
	std::string_view name;
	Checker check = nullptr;
	Maker make = nullptr;
	bool has_ways = false; /* true if its calls have several ways */
};

constexpr std::array<Kind, 4> kinds{{
	{"prism", check_prism, make_prism, false},
	{"pilaf", check_calls, make_pilaf, false},
	{"rpc", check_calls, make_rpc, true},
	{"jakiro", check_calls, make_jakiro, true},
}};

template <typename Named>
std::vector<std::string> names_of(const Named &all)
{
	std::vector<std::string> names;
	for (const auto &one : all)
		names.emplace_back(one.name);
	return names;
}

Result<apps::ServerProgram::Stores> make(
	const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	const Kind &kind = *std::ranges::find(kinds, options.store, &Kind::name);
	Made made = kind.make(context, options, settings);
	if (!made)
		return made.error();
	const std::string shard = options.shard == ShardName{} ? "" : options.shard.text() + ", ";
	const std::string ready = fmt::format("{} store, {}for {} records of up to {} + {} bytes, port {}",
		options.store, shard, options.records, options.max_key, options.max_value, (*made)->port());
	apps::ServerProgram::Stores stores;
	stores.push_back(
		{*std::move(made), ready, {{"store", options.store}, {"shard", std::to_string(options.shard.shard)}}});
	return stores;
}

/** Returns the error of the whole command line, or an empty string. */
std::string problem_of(const apps::ServerProgram &program, const Options &options, const apps::ServerSettings &settings)
{
	if (options.shard.shard >= options.shard.shards)
		return "--shard is a number from 0, and below that of --shards";
	const Kind &kind = *std::ranges::find(kinds, options.store, &Kind::name);
	if (!kind.has_ways && options.way != to_string(rpc::Way::two_sided))
		return program.has_no(options.store, {"--way"});
	if (options.store != "prism") {
		if (std::string other = program.has_no(options.store, {"--shard", "--shards", "--name", "--class"});
			!other.empty())
			return other;
	}
	const Result<void> checked = kind.check(options, settings);
	return checked ? std::string() : checked.error().message;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	apps::ServerProgram program("prism-kv-server", "Serves a key-value store until it is interrupted.");
	program.add_port(apps::default_store_port);
	program.add_client_options();
	cli::CommandLine &app = program.command_line();
	app.add_option("--store", options.store, "PRISM-KV, or what it is measured against")
		.check(cli::IsMember(names_of(kinds)))
		.capture_default_str();
	app.add_option("--records,--keys", options.records, "How many records to have room for")
		.check(cli::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}))
		.capture_default_str();
	app.add_option("--key-size,--max-key", options.max_key, "Bytes of the longest key")
		.check(cli::PositiveNumber())
		.capture_default_str();
	app.add_option("-s,--value-size,--size", options.max_value, "Bytes of the longest value").capture_default_str();
	app.add_option("--slots", options.slots, "Slots of the table (default: twice the records)");
	app.add_option("--shard", options.shard.shard, "prism: the number of this server among the store's, from 0")
		.capture_default_str();
	app.add_option("--shards", options.shard.shards, "prism: how many servers the store has").capture_default_str();
	app.add_option("--name", options.shard.store,
		"prism: the store's name; clients refuse shards of stores of different names");
	app.add_option("--class", options.classes,
		   "prism: a size class, BYTES:COUNT buffers; may be repeated (default: one for the longest key and "
		   "value)")
		.check(apps::check_class);
	app.add_option("--depth,--lanes", options.depth, "all but prism: calls under way on a connection")
		.capture_default_str();
	app.add_option("--receive-buffers", options.receive_buffers,
		"all but prism: calls under way on all connections together (default: connections times depth, at most "
		"4096)");
	app.add_option("--threads", options.threads,
		   "all but prism: worker threads; of jakiro, each has a partition, and each client a connection to it")
		.capture_default_str();
	app.add_option("--way", options.way, "rpc, jakiro: how calls travel; clients ask for the same")
		.check(cli::IsMember(names_of(rpc::ways)))
		.capture_default_str();
	program.check([&](const apps::ServerSettings &settings) { return problem_of(program, options, settings); });
	return program.run(argc, argv, [&options](const Context &context, const apps::ServerSettings &settings) {
		return make(context, options, settings);
	});
}
