/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-rs-server: serves replicas of a replicated volume until it is interrupted: several of them, in threads of one
 * process with one device context, only for measurements and tests.
 * Exit codes: 0; 1 if a replica could not be made or the device failed; 2 for an error of usage.
 */
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "command_line.hpp"
#include "rs/abdlock/replica.hpp"
#include "rs/store/replica.hpp"

namespace
{

using namespace prism;
using namespace prism::rs;

struct Options {
	std::string configuration;
	std::string store = "rs";
	std::string device;
	std::vector<unsigned> replicas;
	bool is_new = false;
	std::string address;
	std::uint32_t connections = 64;
	std::uint32_t spare = 8192;
};

std::atomic<bool> interrupted{false};

void on_signal(int)
{
	interrupted = true;
}

int fail(const Error &error)
{
	fmt::print(stderr, "prism-rs-server: {}\n", error.message);
	return 1;
}

using Servers = std::vector<std::unique_ptr<apps::OneSidedServer>>;

/** Until a signal comes, or one of them fails. */
int serve(const Servers &servers)
{
	std::vector<std::thread> threads;
	std::atomic<bool> failed{false};
	for (const auto &server : servers) {
		threads.emplace_back([&failed, &server] {
			if (const Result<void> served = server->serve(); !served) {
				fail(served.error());
				failed = true;
			}
		});
	}
	while (!interrupted && !failed)
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
	for (const auto &server : servers)
		server->stop();
	for (std::thread &thread : threads)
		thread.join();
	return failed ? 1 : 0;
}

Result<std::unique_ptr<apps::OneSidedServer>> make_rs(
	const Context &context, const Options &options, const Configuration &volume, unsigned number)
{
	ReplicaOptions replica;
	replica.volume = volume;
	replica.replica = number;
	replica.is_new = options.is_new;
	replica.address = options.address;
	replica.max_connections = options.connections;
	replica.spare_buffers = options.spare;
	Result<std::unique_ptr<Replica>> made = Replica::create(context, replica);
	if (!made)
		return made.error();
	return std::unique_ptr<apps::OneSidedServer>(*std::move(made));
}

Result<std::unique_ptr<apps::OneSidedServer>> make_abdlock(
	const Context &context, const Options &options, const Configuration &volume, unsigned number)
{
	if (!options.is_new)
		return make_error(EINVAL, "replicas of abdlock that have lost their memory cannot be repaired",
			"begin with a new volume, and --new");
	LockReplicaOptions replica;
	replica.volume = volume;
	replica.replica = number;
	replica.address = options.address;
	replica.max_connections = options.connections;
	Result<std::unique_ptr<LockReplica>> made = LockReplica::create(context, replica);
	if (!made)
		return made.error();
	return std::unique_ptr<apps::OneSidedServer>(*std::move(made));
}

int run(const Options &options)
{
	Result<Configuration> volume = Configuration::load(options.configuration);
	if (!volume)
		return fail(volume.error());
	Result<Context> context = Context::open(options.device, Progress::engine_thread);
	if (!context)
		return fail(context.error());
	std::signal(SIGINT, on_signal);
	std::signal(SIGTERM, on_signal);
	Servers servers;
	const auto make = options.store == "rs" ? make_rs : make_abdlock;
	for (const unsigned number : options.replicas) {
		Result<std::unique_ptr<apps::OneSidedServer>> made = make(*context, options, *volume, number);
		if (!made)
			return fail(made.error());
		fmt::print("replica {} of volume {:016x}, port {}: {}\n", number, volume->volume, (*made)->port(),
			options.is_new ? "new" : "waits to be repaired");
		servers.push_back(*std::move(made));
	}
	std::fflush(stdout);
	return serve(servers);
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Serves replicas of a replicated volume until it is interrupted."};
	app.add_version("prism-rs-server");
	app.add_option("-c,--configuration", options.configuration, "The volume: a file, or etcd://HOST:PORT/KEY")
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
	app.add_option("-d,--ib-dev", options.device, "RDMA device (default: the first userspace device)");
	app.add_option("--bind", options.address, "Address to listen on (default: all)");
	app.add_option("--connections", options.connections, "At most so many clients").capture_default_str();
	app.add_option("--spare-buffers", options.spare, "Buffers beside one a block").capture_default_str();
	if (const auto early = app.parse(argc, argv))
		return early->print() ? 2 : 0;
	return run(options);
}
