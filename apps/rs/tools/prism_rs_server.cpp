/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-rs-server: serves replicas of a replicated volume until it is interrupted: several of them, in threads of one
 * process with one device context, only for measurements and tests.
 * Exit codes: 0; 1 if a replica could not be made or the device failed; 2 for an error of usage.
 */
#include <cerrno>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "rs/abdlock/replica.hpp"
#include "rs/store/replica.hpp"
#include "service/server_program.hpp"

namespace
{

using namespace prism;
using namespace prism::rs;

struct Options {
	std::string configuration;
	std::string store = "rs";
	std::vector<unsigned> replicas;
	bool is_new = false;
	std::uint32_t spare = 8192;
};

using Made = Result<std::unique_ptr<apps::OneSidedServer>>;

Made make_rs(const Context &context, const Options &options, const apps::ServerSettings &settings,
	const Configuration &volume, unsigned number)
{
	ReplicaOptions replica;
	settings.apply(replica);
	replica.volume = volume;
	replica.replica = number;
	replica.is_new = options.is_new;
	replica.spare_buffers = options.spare;
	Result<std::unique_ptr<Replica>> made = Replica::create(context, replica);
	if (!made)
		return made.error();
	return std::unique_ptr<apps::OneSidedServer>(*std::move(made));
}

Made make_abdlock(const Context &context, const Options &options, const apps::ServerSettings &settings,
	const Configuration &volume, unsigned number)
{
	if (!options.is_new)
		return make_error(EINVAL, "replicas of abdlock that have lost their memory cannot be repaired",
			"begin with a new volume, and --new");
	LockReplicaOptions replica;
	settings.apply(replica);
	replica.volume = volume;
	replica.replica = number;
	Result<std::unique_ptr<LockReplica>> made = LockReplica::create(context, replica);
	if (!made)
		return made.error();
	return std::unique_ptr<apps::OneSidedServer>(*std::move(made));
}

Result<apps::ServerProgram::Stores> make(
	const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	Result<Configuration> volume = Configuration::load(options.configuration);
	if (!volume)
		return volume.error();
	apps::ServerProgram::Stores stores;
	for (const unsigned number : options.replicas) {
		Made made =
			(options.store == "rs" ? make_rs : make_abdlock)(context, options, settings, *volume, number);
		if (!made)
			return made.error();
		const std::string ready = fmt::format("replica {} of volume {:016x}, {}, port {}", number,
			volume->volume, options.is_new ? "new" : "waits to be repaired", (*made)->port());
		stores.push_back(
			{*std::move(made), ready, {{"store", options.store}, {"replica", std::to_string(number)}}});
	}
	return stores;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	apps::ServerProgram program(
		"prism-rs-server", "Serves replicas of a replicated volume until it is interrupted.");
	cli::CommandLine &app = program.command_line();
	app.add_option(
		   "-c,--configuration,--volume", options.configuration, "The volume: a file, or etcd://HOST:PORT/KEY")
		.required();
	app.add_option(
		   "--store", options.store, "What the volume is: rs (PRISM-RS), or abdlock (by locks, for comparison)")
		.check(cli::IsMember({"rs", "abdlock"}))
		.capture_default_str();
	app.add_option("-r,--replica", options.replicas,
		   "Which replica of the volume to serve, from 0; several, separated by commas, share one device "
		   "context")
		.delimiter(',')
		.required();
	app.add_flag("--new", options.is_new,
		"The volume is new. Never for a replica that has been part of it: that one waits to be repaired "
		"(prism-rs repair)");
	app.add_option("--spare-buffers", options.spare, "Buffers beside one a block").capture_default_str();
	return program.run(argc, argv, [&options](const Context &context, const apps::ServerSettings &settings) {
		return make(context, options, settings);
	});
}
