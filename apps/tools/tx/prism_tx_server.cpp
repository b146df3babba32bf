/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-tx-server: serves a shard of a transactional store until it is interrupted: PRISM-TX, or one that it is
 * measured against.
 * Exit codes: 0; 1 if the shard could not be made or the device failed; 2 for an error of usage.
 */
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "farm/farm_server.hpp"
#include "locking/locking_server.hpp"
#include "rpc/server/service.hpp"
#include "service/server_program.hpp"
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
	std::uint16_t shard = 0;
	std::uint16_t shards = 1;
	std::string secret;
	std::optional<std::uint64_t> keys;
	std::optional<std::uint64_t> cells;
	std::optional<std::uint32_t> key_size;
	std::uint32_t value_size = 512;
	std::vector<std::string> classes;
	bool numbered = false;
	std::uint32_t lanes = 32;
	unsigned threads = 1;

	/**
	 * Returns the number of keys of this shard. If only the cells are given, each has one key, numbered or
	 * not.
	 */
	[[nodiscard]] std::uint64_t number_of_keys() const { return keys.value_or(cells.value_or(100'000)); }
	[[nodiscard]] std::uint64_t number_of_cells() const
	{
		return cells.value_or(numbered ? number_of_keys() : 2 * number_of_keys());
	}
	[[nodiscard]] std::uint32_t longest_key() const { return key_size.value_or(numbered ? 8 : 64); }
};

using Made = Result<std::unique_ptr<apps::Service>>;

/* PRISM-TX --------------------------------------------------------------------------------------------------------- */

PrismShardOptions prism_options(const Options &options, const apps::ServerSettings &settings)
{
	PrismShardOptions shard;
	settings.apply(shard);
	shard.shard = options.shard;
	shard.shards = options.shards;
	shard.cells = options.number_of_cells();
	shard.numbered = options.numbered;
	shard.as_in_paper = options.commit == "paper";
	shard.lanes = options.lanes;
	shard.max_key_size = options.longest_key();
	shard.max_value_size = options.value_size;
	for (const std::string &text : options.classes)
		shard.classes.push_back(apps::parse_class(text).value()); /* check_class() has seen it */
	if (shard.classes.empty() && shard.cells)
		shard.classes = PrismShardOptions::classes_for(options.number_of_keys(), shard.cells, shard.numbered,
			shard.max_key_size, shard.max_value_size);
	return shard;
}

Made make_prism(const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	PrismShardOptions shard = prism_options(options, settings);
	if (!options.secret.empty()) {
		Result<StoreSecret> secret = StoreSecret::read(options.secret);
		if (!secret)
			return secret.error();
		shard.secret = *secret;
	}
	Result<std::unique_ptr<PrismShard>> made = PrismShard::create(context, shard);
	if (!made)
		return made.error();
	return std::unique_ptr<apps::Service>(*std::move(made));
}

/* The rivals ------------------------------------------------------------------------------------------------------- */

nlohmann::json connections(const rpc::ServerStats &stats)
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

CalledShardOptions by_calls(const Options &options, const apps::ServerSettings &settings)
{
	CalledShardOptions server;
	server.server.address = settings.address;
	server.server.port = settings.port;
	server.server.threads = options.threads;
	server.server.max_key_size = options.longest_key();
	server.server.max_connections = settings.connections;
	server.server.max_depth = options.lanes;
	const std::uint64_t most = std::uint64_t{settings.connections} * options.lanes;
	server.server.receive_buffers = static_cast<std::uint32_t>(std::min(most, most_receive_buffers));
	server.server.timed = settings.times_calls();
	server.server.log = settings.log;
	server.objects = options.number_of_keys();
	server.value_size = options.value_size;
	server.shard = options.shard;
	server.shards = options.shards;
	return server;
}

template <typename Server>
Made called(Result<std::unique_ptr<Server>> made)
{
	if (!made)
		return made.error();
	const auto tell = [](const Server &server) { return statistics(server); };
	return std::unique_ptr<apps::Service>(std::make_unique<rpc::CallService<Server>>(*std::move(made), tell));
}

Result<apps::ServerProgram::Stores> make(
	const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	Made made = options.store == "farm"      ? called(FarmServer::create(context, by_calls(options, settings)))
		    : options.store == "locking" ? called(LockingServer::create(context, by_calls(options, settings)))
						 : make_prism(context, options, settings);
	if (!made)
		return made.error();
	const std::string ready = fmt::format("{} store, shard {} of {}, for {} keys of up to {} + {} bytes, port {}",
		options.store, options.shard, options.shards, options.number_of_keys(), options.longest_key(),
		options.value_size, (*made)->port());
	apps::ServerProgram::Stores stores;
	stores.push_back(
		{*std::move(made), ready, {{"store", options.store}, {"shard", std::to_string(options.shard)}}});
	return stores;
}

void add_options(cli::CommandLine &app, Options &options)
{
	app.add_option("--store", options.store, "PRISM-TX, or what it is measured against")
		.check(cli::IsMember({"prism", "farm", "locking"}))
		.capture_default_str();
	app.add_option("--shard", options.shard, "Number of this shard, from 0").capture_default_str();
	app.add_option("--shards", options.shards, "How many the store has").capture_default_str();
	app.add_option("--secret", options.secret,
		   "prism: file of 16 to 4096 bytes, alike for all shards and known to nobody else; needed if there "
		   "are several")
		.check(cli::NotEmpty());
	app.add_option("--keys,--records,--objects", options.keys,
		   "How many keys of this shard to have room for (default: 100000, or one a cell)")
		.check(cli::Range(1.0, 1e10));
	app.add_option("--cells", options.cells, "prism: cells (default: twice the keys; numbered: as many)")
		.check(cli::Range(1.0, 3.5e10));
	app.add_option("--key-size,--max-key", options.key_size, "Bytes of the longest key (default: 64; numbered: 8)");
	app.add_option("-s,--value-size,--size", options.value_size, "Bytes of the longest value")
		.capture_default_str();
	app.add_option("--class", options.classes,
		   "prism: a size class of objects, BYTES:COUNT buffers; may be repeated (default: for the keys, by "
		   "how many share a cell)")
		.check(apps::check_class);
	app.add_flag("--numbered", options.numbered, "Keys are numbers, and have a cell of their own each");
	app.add_option("--commit", options.commit,
		   "prism: protected from the death of clients, or as in the paper, where it leaves keys blocked")
		.check(cli::IsMember({"protected", "paper"}))
		.capture_default_str();
	app.add_option("--lanes,--depth", options.lanes, "Transactions of one client under way at once")
		.capture_default_str();
	app.add_option("--threads", options.threads, "farm, locking: worker threads").capture_default_str();
}

Result<void> check(const Options &options, const apps::ServerSettings &settings)
{
	if (options.store == "farm")
		return FarmServer::check(by_calls(options, settings));
	if (options.store == "locking")
		return LockingServer::check(by_calls(options, settings));
	return PrismShard::check(prism_options(options, settings));
}

/** Returns what is wrong with the command line as a whole; empty if nothing is. */
std::string problem_of(const apps::ServerProgram &program, const Options &options, const apps::ServerSettings &settings)
{
	if (options.shard >= options.shards)
		return "--shard is a number from 0, and below that of --shards";
	if (options.store != "prism") {
		if (std::string other = program.has_no(options.store, {"--secret", "--cells", "--class", "--commit"});
			!other.empty())
			return other;
	} else if (options.shards > 1 && options.secret.empty()) {
		return "--shards: the shards of a store recognise each other by a secret; give --secret FILE";
	}
	const Result<void> checked = check(options, settings);
	return checked ? std::string() : checked.error().message;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	apps::ServerProgram program(
		"prism-tx-server", "Serves a shard of a transactional store until it is interrupted.");
	program.add_port(apps::default_store_port);
	program.add_client_options();
	add_options(program.command_line(), options);
	program.check([&](const apps::ServerSettings &settings) { return problem_of(program, options, settings); });
	return program.run(argc, argv, [&options](const Context &context, const apps::ServerSettings &settings) {
		return make(context, options, settings);
	});
}
