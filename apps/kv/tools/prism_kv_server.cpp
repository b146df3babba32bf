/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-kv-server: serves a key-value store until it is interrupted: PRISM-KV, or one that it is measured against.
 * Exit codes: 0; 1 if the store could not be made or the device failed; 2 for an error of usage.
 */
#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "command_line.hpp"
#include "pilaf/pilaf_server.hpp"
#include "store/prism_server.hpp"
#include "two_sided/rpc_store.hpp"

namespace
{

using namespace prism;
using namespace prism::kv;

struct Options {
	std::string store = "prism";
	std::string device;
	std::string address;
	std::uint16_t port = apps::default_store_port;
	std::uint64_t records = 100'000;
	std::uint32_t max_key = 48;
	std::uint32_t max_value = 512;
	std::uint64_t slots = 0;
	ShardName shard;
	std::vector<std::string> classes;
	std::uint32_t connections = 64;
	std::uint32_t depth = 256;
	std::uint32_t receive_buffers = 0;
	unsigned threads = 1;
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

void run(PrismServer &server, Result<void> &result)
{
	result = server.serve();
}

template <typename Server>
void run(Server &server, Result<void> &result)
{
	result = server.run();
}

int fail(const Error &error)
{
	fmt::print(stderr, "prism-kv-server: {}\n", error.message);
	return 1;
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
	const std::string shard = options.shard == ShardName{} ? "" : options.shard.text() + ", ";
	fmt::print("{} store, {}for {} records of up to {} + {} bytes, port {}\n", options.store, shard,
		options.records, options.max_key, options.max_value, server.port());
	std::fflush(stdout);
	Result<void> result;
	run(server, result);
	stop_server = nullptr;
	return result ? 0 : fail(result.error());
}

/** Reads "BYTES:COUNT". */
std::optional<ClassOptions> parse_class(const std::string &text)
{
	ClassOptions size_class;
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
	PrismServerOptions store;
	store.address = options.address;
	store.port = options.port;
	store.slots = options.slots ? options.slots : 2 * options.records;
	store.max_key_size = options.max_key;
	store.max_value_size = options.max_value;
	store.max_connections = options.connections;
	store.shard = options.shard;
	for (const std::string &text : options.classes)
		store.classes.push_back(parse_class(text).value()); /* check_class() has seen it */
	if (store.classes.empty())
		store.classes = {PrismServerOptions::class_for(options.records, options.max_key, options.max_value)};
	return serve(PrismServer::create(context, store), options);
}

RpcServerOptions calls(const Options &options)
{
	RpcServerOptions server;
	server.address = options.address;
	server.port = options.port;
	server.threads = options.threads;
	server.max_key_size = options.max_key;
	server.max_value_size = options.max_value;
	server.max_connections = options.connections;
	server.max_depth = options.depth;
	const std::uint64_t most = std::uint64_t{options.connections} * options.depth;
	server.receive_buffers = options.receive_buffers
					 ? options.receive_buffers
					 : static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 4096));
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

int serve_rpc(const Context &context, const Options &options)
{
	RpcStoreOptions store;
	store.server = calls(options);
	store.capacity = options.records + options.records / 4 + 1024;
	store.memory = arena(options);
	return serve(RpcStoreServer::create(context, store), options);
}

int serve_pilaf(const Context &context, const Options &options)
{
	PilafOptions store;
	store.server = calls(options);
	store.table.entries = options.slots ? options.slots : 2 * options.records;
	store.table.memory = arena(options);
	return serve(PilafServer::create(context, store), options);
}

int serve(const Options &options)
{
	Result<Context> context = Context::open(options.device, Progress::engine_thread);
	if (!context)
		return fail(context.error());
	if (options.store == "prism")
		return serve_prism(*context, options);
	return options.store == "rpc" ? serve_rpc(*context, options) : serve_pilaf(*context, options);
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Serves a key-value store until it is interrupted."};
	app.add_version("prism-kv-server");
	app.add_option("--store", options.store, "PRISM-KV, or what it is measured against")
		.check(cli::IsMember({"prism", "pilaf", "rpc"}))
		.capture_default_str();
	app.add_option("-d,--ib-dev", options.device, "RDMA device (default: the first userspace device)");
	app.add_option("-p,--port", options.port, "TCP port for connections; 0: any").capture_default_str();
	app.add_option("--bind", options.address, "Address to listen on (default: all)");
	app.add_option("--records", options.records, "How many records to have room for")
		.check(cli::Range(1.0, 1e10))
		.capture_default_str();
	app.add_option("--max-key", options.max_key, "Bytes of the longest key").capture_default_str();
	app.add_option("-s,--size", options.max_value, "Bytes of the longest value").capture_default_str();
	app.add_option("--slots", options.slots, "Slots of the table (default: twice the records)");
	app.add_option("--shard", options.shard.shard, "prism: the number of this server among the store's, from 0")
		.capture_default_str();
	app.add_option("--shards", options.shard.shards, "prism: how many servers the store has").capture_default_str();
	app.add_option("--name", options.shard.store,
		"prism: the store's name; clients refuse shards of stores of different names");
	app.add_option("--class", options.classes,
		   "prism: a size class, BYTES:COUNT buffers; may be repeated (default: one for the longest key and "
		   "value)")
		.check(check_class);
	app.add_option("--connections", options.connections, "At most so many clients").capture_default_str();
	app.add_option("--depth", options.depth, "pilaf, rpc: calls under way on a connection").capture_default_str();
	app.add_option("--receive-buffers", options.receive_buffers,
		"pilaf, rpc: calls under way on all connections together (default: connections times depth, at most "
		"4096)");
	app.add_option("--threads", options.threads, "pilaf, rpc: worker threads").capture_default_str();
	if (const auto early = app.parse(argc, argv))
		return early->print() ? 2 : 0;
	return serve(options);
}
