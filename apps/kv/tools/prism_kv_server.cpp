/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-kv-server: serves a key-value store until it is interrupted: PRISM-KV, or one that it is measured against.
 * Exit codes: 0; 1 if the store could not be made or the device failed; 2 for an error of usage.
 */
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kv/calls/rpc_store.hpp"
#include "kv/pilaf/pilaf_server.hpp"
#include "kv/store/prism_server.hpp"
#include "rpc/service.hpp"
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
};

using Made = Result<std::unique_ptr<apps::Service>>;

template <typename Server, typename Tell>
Made called(Result<std::unique_ptr<Server>> made, Tell tell)
{
	if (!made)
		return made.error();
	return std::unique_ptr<apps::Service>(std::make_unique<rpc::CallService<Server>>(*std::move(made), tell));
}

nlohmann::json connections(const rpc::ServerStats &stats)
{
	return {{"accepted", stats.connections}, {"open", stats.open}, {"refused", stats.refused},
		{"vanished", stats.vanished}, {"malformed", stats.malformed}};
}

Made make_prism(const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	PrismServerOptions store;
	settings.apply(store);
	store.slots = options.slots ? options.slots : 2 * options.records;
	store.max_key_size = options.max_key;
	store.max_value_size = options.max_value;
	store.shard = options.shard;
	for (const std::string &text : options.classes)
		store.classes.push_back(apps::parse_class(text).value()); /* check_class() has seen it */
	if (store.classes.empty())
		store.classes = {PrismServerOptions::class_for(options.records, options.max_key, options.max_value)};
	Result<std::unique_ptr<PrismServer>> made = PrismServer::create(context, store);
	if (!made)
		return made.error();
	return std::unique_ptr<apps::Service>(*std::move(made));
}

rpc::ServerOptions calls(const Options &options, const apps::ServerSettings &settings)
{
	rpc::ServerOptions server;
	server.address = settings.address;
	server.port = settings.port;
	server.threads = options.threads;
	server.max_key_size = options.max_key;
	server.max_value_size = options.max_value;
	server.max_connections = settings.connections;
	server.max_depth = options.depth;
	const std::uint64_t most = std::uint64_t{settings.connections} * options.depth;
	server.receive_buffers = options.receive_buffers
					 ? options.receive_buffers
					 : static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 4096));
	server.timed = settings.times_calls();
	server.log = settings.log;
	return server;
}

/** Room for the records, rounded up to pieces of the next power of two as arenas cut them, and some to spare. */
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

Result<apps::ServerProgram::Stores> make(
	const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	Made made = options.store == "prism" ? make_prism(context, options, settings)
		    : options.store == "rpc" ? make_rpc(context, options, settings)
					     : make_pilaf(context, options, settings);
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

} // namespace

int main(int argc, char **argv)
{
	Options options;
	apps::ServerProgram program("prism-kv-server", "Serves a key-value store until it is interrupted.");
	program.add_port(apps::default_store_port);
	cli::CommandLine &app = program.command_line();
	app.add_option("--store", options.store, "PRISM-KV, or what it is measured against")
		.check(cli::IsMember({"prism", "pilaf", "rpc"}))
		.capture_default_str();
	app.add_option("--records,--keys", options.records, "How many records to have room for")
		.check(cli::Range(1.0, 1e10))
		.capture_default_str();
	app.add_option("--key-size,--max-key", options.max_key, "Bytes of the longest key").capture_default_str();
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
	app.add_option("--depth,--lanes", options.depth, "pilaf, rpc: calls under way on a connection")
		.capture_default_str();
	app.add_option("--receive-buffers", options.receive_buffers,
		"pilaf, rpc: calls under way on all connections together (default: connections times depth, at most "
		"4096)");
	app.add_option("--threads", options.threads, "pilaf, rpc: worker threads").capture_default_str();
	return program.run(argc, argv, [&options](const Context &context, const apps::ServerSettings &settings) {
		return make(context, options, settings);
	});
}
